"""How a small file is replaced so that a crash leaves the old content or the new, never neither.

Broker and client keep topics, offsets and groups in JSON files, each written whole. Apache
writes the new content beside the file (`.tmp`), saves the old content (`.bak`), removes the file
and renames the new one into its place; a reader takes the file, or the saved copy if the file is
missing, empty or unreadable. Apache forces nothing to disk: after a power cut both may be empty,
and it then starts with no offsets at all. The reference uses the same three names, but forces
each content to disk before a name points at it, and renames over the file instead of removing it
first. Steps are values: the store carries them out, a test may stop after any of them.
"""

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias, TypeVar

from spec.rejection import Rejection

T = TypeVar("T")


class Role(Enum):
    """One of the three names; the value is what is appended to the file's own name."""

    MAIN = ""
    TEMPORARY = ".tmp"
    BACKUP = ".bak"


@dataclass(frozen=True, slots=True)
class Write:
    """The file has this content, in memory at least."""

    role: Role
    content: bytes


@dataclass(frozen=True, slots=True)
class Sync:
    """The content of the file is on disk."""

    role: Role


@dataclass(frozen=True, slots=True)
class Delete:
    """The name is gone."""

    role: Role


@dataclass(frozen=True, slots=True)
class Rename:
    """The file has another name; a file that had it before is gone."""

    source: Role
    target: Role


@dataclass(frozen=True, slots=True)
class SyncDirectory:
    """The names are on disk."""


Step: TypeAlias = Write | Sync | Delete | Rename | SyncDirectory


class WriteOrder(Enum):
    """Whose order of steps."""

    REFERENCE = "every content on disk before a name points at it"
    APACHE = "nothing is forced to disk"


def plan_write(
    old: bytes | None, new: bytes, *, order: WriteOrder = WriteOrder.REFERENCE
) -> tuple[Step, ...]:
    """The steps that replace the content `old` of a file (None: there is none that can be read) by `new`.

    Clauses: store.config.safe-write, store.config.durable-write
    """
    match order:
        case WriteOrder.APACHE:
            saved: tuple[Step, ...] = (Write(Role.BACKUP, old),) if old else ()
            removed: tuple[Step, ...] = (Delete(Role.MAIN),) if old is not None else ()
            return (
                Write(Role.TEMPORARY, new),
                *saved,
                *removed,
                Rename(Role.TEMPORARY, Role.MAIN),
            )
        case WriteOrder.REFERENCE:
            saved = (Write(Role.BACKUP, old), Sync(Role.BACKUP)) if old else ()
            return (
                Write(Role.TEMPORARY, new),
                Sync(Role.TEMPORARY),
                *saved,
                SyncDirectory(),
                Rename(Role.TEMPORARY, Role.MAIN),
                SyncDirectory(),
            )


class LoadedFrom(Enum):
    """Which content counts."""

    MAIN = "the file"
    BACKUP = "the saved copy"
    NOTHING_THERE = "neither exists: a first start"
    NOTHING_READABLE = "there is something, and none of it can be read"


@dataclass(frozen=True, slots=True)
class Loaded(Generic[T]):
    """What was loaded, from where, and what was wrong with the rest."""

    value: T | None
    source: LoadedFrom
    refusals: tuple[Rejection, ...]


def choose_loaded(main: bytes | None, backup: bytes | None, parse: Callable[[bytes], T]) -> Loaded[T]:
    """The file's content if it can be read, otherwise that of the saved copy, otherwise nothing.

    Apache starts empty in both cases of nothing; the answer keeps them apart, so that a store may
    refuse to start over data that it cannot read.

    Clauses: store.config.load-falls-back, store.config.unreadable-is-not-absent
    """
    refusals: list[Rejection] = []
    for source, content in ((LoadedFrom.MAIN, main), (LoadedFrom.BACKUP, backup)):
        if content is None:
            continue
        if not content:
            refusals.append(Rejection("store.config.load-falls-back", 0, f"{source.value} is empty"))
            continue
        try:
            return Loaded(parse(content), source, tuple(refusals))
        except Rejection as refusal:
            refusals.append(refusal)
    source = LoadedFrom.NOTHING_READABLE if refusals else LoadedFrom.NOTHING_THERE
    return Loaded(None, source, tuple(refusals))
