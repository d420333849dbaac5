from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product

import pytest

from spec.layout.safe_write import (
    Delete,
    LoadedFrom,
    Rename,
    Role,
    Step,
    Sync,
    SyncDirectory,
    Write,
    WriteOrder,
    choose_loaded,
    plan_write,
)
from spec.rejection import Rejection

OLD, NEW = b"{old}", b"{new}"


def _parse(content: bytes) -> bytes:
    if not (content.startswith(b"{") and content.endswith(b"}")):
        raise Rejection("wire.json.dialect", 0, "not whole")
    return content


@dataclass
class Disk:
    """Files whose content, and names whose meaning, may or may not have reached the disk."""

    contents: list[set[bytes]] = field(default_factory=list)
    names: list[dict[Role, int]] = field(default_factory=lambda: [{}])
    latest: bytes = b""

    def _change_names(self, change: dict[Role, int | None]) -> None:
        merged = {**self.names[-1], **change}
        self.names.append({role: number for role, number in merged.items() if number is not None})

    def run(self, step: Step) -> None:
        match step:
            case Write(role, content):
                if role not in self.names[-1]:
                    self.contents.append({b""})
                    self._change_names({role: len(self.contents) - 1})
                self.contents[self.names[-1][role]] |= {b"", content[:2], content}
                self.latest = content
            case Sync(role):
                self.contents[self.names[-1][role]] = {self.latest}
            case Delete(role):
                self._change_names({role: None})
            case Rename(source, target):
                self._change_names({target: self.names[-1][source], source: None})
            case SyncDirectory():
                self.names = [self.names[-1]]

    def crashes(self) -> Iterator[dict[Role, bytes]]:
        """Every state that a power cut may leave."""
        for names in self.names:
            for contents in product(*map(sorted, self.contents)):
                yield {role: contents[number] for role, number in names.items()}


def _disk_with(old: bytes | None, backup: bytes | None) -> Disk:
    disk = Disk()
    for role, content in ((Role.MAIN, old), (Role.BACKUP, backup)):
        if content is not None:
            for step in (Write(role, content), Sync(role), SyncDirectory()):
                disk.run(step)
    return disk


def _outcomes(steps: Sequence[Step], old: bytes | None, backup: bytes | None) -> set[bytes | None]:
    """What is loaded after a power cut behind any step."""
    outcomes: set[bytes | None] = set()
    for count in range(len(steps) + 1):
        disk = _disk_with(old, backup)
        for step in steps[:count]:
            disk.run(step)
        for state in disk.crashes():
            outcomes.add(choose_loaded(state.get(Role.MAIN), state.get(Role.BACKUP), _parse).value)
    return outcomes


@pytest.mark.clause("store.config.durable-write")
@pytest.mark.parametrize("backup", [None, b"{older}"])
def test_reference_leaves_the_old_or_the_new_content_after_any_power_cut(backup: bytes | None) -> None:
    assert _outcomes(plan_write(OLD, NEW), OLD, backup) == {OLD, NEW}


@pytest.mark.clause("store.config.durable-write")
def test_first_write_leaves_nothing_or_the_new_content() -> None:
    assert _outcomes(plan_write(None, NEW), None, None) == {None, NEW}


@pytest.mark.clause("store.config.durable-write")
def test_unreadable_file_does_not_replace_its_good_copy() -> None:
    assert _outcomes(plan_write(None, NEW), b"{damaged", OLD) == {OLD, NEW}


@pytest.mark.clause("store.config.durable-write")
def test_apaches_order_may_leave_nothing_after_a_power_cut() -> None:
    assert None in _outcomes(plan_write(OLD, NEW, order=WriteOrder.APACHE), OLD, b"{older}")


@pytest.mark.clause("store.config.safe-write")
@pytest.mark.parametrize("order", list(WriteOrder))
def test_killed_process_leaves_the_old_or_the_new_content_in_both_orders(order: WriteOrder) -> None:
    steps = plan_write(OLD, NEW, order=order)
    for count in range(len(steps) + 1):
        files = {Role.MAIN: OLD}
        for step in steps[:count]:
            match step:
                case Write(role, content):
                    files[role] = content
                case Delete(role):
                    del files[role]
                case Rename(source, target):
                    files[target] = files.pop(source)
                case Sync() | SyncDirectory():
                    pass
        loaded = choose_loaded(files.get(Role.MAIN), files.get(Role.BACKUP), _parse)
        assert loaded.value == (NEW if count >= steps.index(Rename(Role.TEMPORARY, Role.MAIN)) + 1 else OLD)


@pytest.mark.clause("store.config.safe-write")
def test_apaches_steps_are_write_save_remove_rename() -> None:
    assert plan_write(OLD, NEW, order=WriteOrder.APACHE) == (
        Write(Role.TEMPORARY, NEW),
        Write(Role.BACKUP, OLD),
        Delete(Role.MAIN),
        Rename(Role.TEMPORARY, Role.MAIN),
    )
    assert plan_write(None, NEW, order=WriteOrder.APACHE) == (
        Write(Role.TEMPORARY, NEW),
        Rename(Role.TEMPORARY, Role.MAIN),
    )


@pytest.mark.clause("store.config.load-falls-back", "store.config.unreadable-is-not-absent")
@pytest.mark.parametrize(
    ("main", "backup", "value", "source", "refusals"),
    [
        (NEW, OLD, NEW, LoadedFrom.MAIN, 0),
        (b"", OLD, OLD, LoadedFrom.BACKUP, 1),
        (b"{ne", OLD, OLD, LoadedFrom.BACKUP, 1),
        (None, OLD, OLD, LoadedFrom.BACKUP, 0),
        (None, None, None, LoadedFrom.NOTHING_THERE, 0),
        (b"", None, None, LoadedFrom.NOTHING_READABLE, 1),
        (b"{ne", b"", None, LoadedFrom.NOTHING_READABLE, 2),
    ],
)
def test_loaded_content_is_the_file_or_its_copy_and_says_so(
    main: bytes | None, backup: bytes | None, value: bytes | None, source: LoadedFrom, refusals: int
) -> None:
    loaded = choose_loaded(main, backup, _parse)
    assert (loaded.value, loaded.source, len(loaded.refusals)) == (value, source, refusals)
