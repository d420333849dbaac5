"""Replacing a small file: the order of the steps."""

from spec.layout.safe_write import (
    Delete,
    LoadedFrom,
    Rename,
    Role,
    Sync,
    SyncDirectory,
    Write,
    WriteOrder,
    choose_loaded,
    plan_write,
)
from spec.rejection import Rejection


def _parse(content: bytes) -> int:
    """The first byte; content whose first byte is 0 counts as damaged."""
    if content[0] == 0:
        raise Rejection("store.config.load-falls-back", 0, "damaged")
    return content[0]


def names_point_only_at_synced_content(has_old: bool, is_empty: bool) -> bool:  # noqa: FBT001 - a solver passes by position
    """In the reference's order every written file is synced before the rename, and nothing is removed.

    clause: store.config.durable-write
    post: __return__
    """
    old = (b"" if is_empty else b"old") if has_old else None
    steps = plan_write(old, b"new")
    rename = steps.index(Rename(Role.TEMPORARY, Role.MAIN))
    before = steps[:rename]
    written = [step.role for step in before if isinstance(step, Write)]
    synced = [step.role for step in before if isinstance(step, Sync)]
    never_removed = not any(isinstance(step, Delete) for step in steps)
    return written == synced and never_removed and before[-1] == steps[-1] == SyncDirectory()


def old_content_is_saved_before_the_file_goes(has_old: bool) -> bool:  # noqa: FBT001 - a solver passes by position
    """In both orders the copy holds the old content before the file's name changes hands.

    clause: store.config.safe-write
    post: __return__
    """
    for order in WriteOrder:
        steps = plan_write(b"old" if has_old else None, b"new", order=order)
        gone = min(n for n, step in enumerate(steps) if isinstance(step, Delete | Rename))
        if (Write(Role.BACKUP, b"old") in steps[:gone]) != has_old:
            return False
    return True


def readable_content_is_never_passed_over(main: int, backup: int) -> bool:
    """The file counts if it can be read, else the copy; -1 is no file, 0 a damaged one.

    clause: store.config.load-falls-back
    pre: -1 <= main <= 3
    pre: -1 <= backup <= 3
    post: __return__
    """
    loaded = choose_loaded(
        None if main < 0 else bytes((main,)), None if backup < 0 else bytes((backup,)), _parse
    )
    if main > 0:
        return (loaded.value, loaded.source) == (main, LoadedFrom.MAIN)
    if backup > 0:
        return (loaded.value, loaded.source) == (backup, LoadedFrom.BACKUP)
    nothing = LoadedFrom.NOTHING_THERE if main < 0 and backup < 0 else LoadedFrom.NOTHING_READABLE
    return (loaded.value, loaded.source) == (None, nothing)
