"""The same calls on the real disk and on the simulated one: the same answers, the same refusals."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, TypeAlias

from hypothesis import example, given
from hypothesis import strategies as st

from refimpl.ports import Disk, DiskError, DiskFile, Sync
from refimpl.real.disk import RealDisk
from refimpl.simulated.disk import SimulatedDisk


class Call(NamedTuple):
    method: str
    path: str
    other_path: str
    at: int
    length: int
    which: int


Answer: TypeAlias = object

GOOD_PATHS = ("a", "b", "d", "d/a", "d/b", "d/e/a", "lock")
BAD_PATHS = (
    *("a/x", "", ".", "../a", "d/../a", "/a", "d//a", "d/", "a\0", "\ud800", "n" * 256, "d/" + "n" * 256),
)
LOCK_PATHS = ("lock", "d/lock", "d", "a/x", "../lock")
METHODS = (
    *("list", "has", "open", "create", "create", "remove", "rename", "sync_folder", "lock", "unlock"),
    *("read", "read", "write", "write", "zero", "start_sync", "finish", "close", "size"),
)


paths = st.sampled_from(GOOD_PATHS * 5 + BAD_PATHS)
calls = st.builds(
    Call,
    st.sampled_from(METHODS),
    paths,
    paths.filter(lambda path: path != "lock"),
    st.integers(-1, 90),
    st.integers(-1, 90),
    st.integers(0, 7),
)

FIRST_CALLS = (
    *(Call("create", path, "", 0, 64, 0) for path in ("a", "d/a", "d/e/a")),
    Call("open", "a", "", 0, 0, 0),
)
"""So that most of what follows finds something to work on."""


class Player:
    """Carries calls out on one disk and writes down what it answers."""

    def __init__(self, disk: Disk) -> None:
        self.disk = disk
        self.files: list[DiskFile] = []
        self.syncs: list[Sync] = []

    def play(self, call: Call) -> Answer:
        try:
            return self._names(call) if call.method in METHODS[:10] else self._file(call)
        except DiskError as error:
            return error.reason, error.path
        except ValueError:
            return "ValueError"

    def _names(self, call: Call) -> Answer:
        disk, lock_path = self.disk, LOCK_PATHS[call.which % len(LOCK_PATHS)]
        acts: dict[str, Callable[[], Answer]] = {
            "list": lambda: [
                (entry.name, entry.size, entry.is_folder) for entry in disk.list_folder(call.path)
            ],
            "has": lambda: disk.has(call.path),
            "open": lambda: self._opened(disk.open(call.path)),
            "create": lambda: self._opened(disk.create(call.path, call.length)),
            "remove": lambda: disk.remove(call.path),
            "rename": lambda: disk.rename(call.path.replace("lock", "b"), call.other_path),
            "sync_folder": lambda: disk.sync_folder(call.path),
            "lock": lambda: disk.lock(lock_path, b"lock"),
            "unlock": lambda: disk.unlock(lock_path),
        }
        return acts[call.method]()

    def _file(self, call: Call) -> Answer:
        if not self.files:
            return "no file is open"
        file = self.files[call.which % len(self.files)]
        acts: dict[str, Callable[[], Answer]] = {
            "read": lambda: file.read(call.at, call.length),
            "write": lambda: file.write(call.at, memoryview(bytes([call.at % 256]) * call.length)),
            "zero": lambda: file.zero_from(call.at),
            "start_sync": lambda: self.syncs.append(file.start_sync()),
            "finish": lambda: self.syncs[call.which % len(self.syncs)].finish() if self.syncs else None,
            "close": file.close,
            "size": lambda: (file.path, file.size),
        }
        return acts[call.method]()

    def _opened(self, file: DiskFile) -> Answer:
        self.files.append(file)
        return file.path, file.size

    def end(self) -> Answer:
        """What all open files read, and every name that is left."""
        contents = [self.play(Call("read", "", "", 0, 100, which)) for which in range(len(self.files))]
        names = [self.play(Call("list", folder, "", 0, 0, 0)) for folder in ("", "d", "d/e")]
        for file in self.files:
            file.close()
        for path in LOCK_PATHS:
            self.disk.unlock(path)
        return contents, names


def new_simulated_disk() -> SimulatedDisk:
    return SimulatedDisk(1, sector_size=8, clock=lambda: 0)


def play_all(disk: Disk, steps: list[Call]) -> list[Answer]:
    player = Player(disk)
    return [*((step.method, player.play(step)) for step in (*FIRST_CALLS, *steps)), player.end()]


@example([Call("rename", "d/a", "d", 0, 0, 0)])  # Linux: not empty, and no word of a folder
@given(st.lists(calls, max_size=40))
def test_both_disks_give_the_same_answers(steps: list[Call]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        real = play_all(RealDisk(Path(folder)), steps)
    assert play_all(new_simulated_disk(), steps) == real


@given(st.lists(calls, max_size=12), st.lists(calls, max_size=20))
def test_both_disks_refuse_the_same_when_read_only(before: list[Call], steps: list[Call]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        play_all(RealDisk(Path(folder)), before)
        real = play_all(RealDisk(Path(folder), is_read_only=True), steps)
    simulated = new_simulated_disk()
    play_all(simulated, before)
    simulated.is_read_only = True
    assert play_all(simulated, steps) == real
