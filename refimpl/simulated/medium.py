"""What files and names of one simulated disk share: its order of changes, its clock and its faults.

All switches may be set while the disk is in use. A failed write has written some first part of its
bytes. After a failed sync, as on Linux, the pages count as clean: no later sync makes durable what
the failed one was to make durable, unless it is written again; and nobody is told a second time.
"""

from collections.abc import Callable, Iterator
from itertools import count
from random import Random

from refimpl.ports import DiskError, DiskReason
from refimpl.simulated.node import FileNode, Folder
from spec.values.units import Milliseconds

Clock = Callable[[], int]


class Medium:
    """The state that a disk and its open files have in common."""

    capacity: int | None
    """How many bytes of written sectors fit; nothing limits them if it is none."""
    is_read_only: bool = False
    is_sync_ignored: bool = False
    """Syncs end well and make nothing durable: what a harness must notice."""
    forgets_after_failed_sync: bool = True
    syncs_count: int = 0
    """How many syncs ended well, of files and of folders."""

    def __init__(self, random: Random, sector_size: int, capacity: int | None, clock: Clock) -> None:
        self.random = random
        self.sector_size = sector_size
        self.capacity = capacity
        self.root = Folder(0, "", Milliseconds(clock()))
        self.crashes_count = 0
        self._clock = clock
        self._serials = count(1)
        self._failures = {"write": 0, "sync": 0, "read": 0}

    def fail_writes(self, count: int) -> None:
        """The next calls that change a file or a name fail, as many as said."""
        self._failures["write"] = count

    def fail_syncs(self, count: int) -> None:
        """The next syncs fail, of files when they finish and of folders."""
        self._failures["sync"] = count

    def fail_reads(self, count: int) -> None:
        """The next reads of files fail."""
        self._failures["read"] = count

    def takes_failure(self, kind: str) -> bool:
        """Whether this call is one of those that were to fail."""
        is_failing = self._failures[kind] > 0
        self._failures[kind] -= is_failing
        return is_failing

    def check_failure(self, kind: str, path: str) -> None:
        """This call is none of those that were to fail."""
        if self.takes_failure(kind):
            raise DiskError(DiskReason.BROKEN, path, f"this {kind} was to fail")

    def check_writable(self, path: str) -> None:
        """The disk takes changes."""
        if self.is_read_only:
            raise DiskError(DiskReason.READ_ONLY, path)

    def check_space(self, file: FileNode, sector: int) -> None:
        """The sector has its space already, or there is some for it."""
        if self.capacity is not None and sector not in file.visible:
            free = self.capacity - self.used_bytes()
            if free < self.sector_size:
                raise DiskError(DiskReason.FULL, file.path, f"{free} of {self.capacity} bytes are free")

    def used_bytes(self) -> int:
        """What the written sectors of all files that have a name take."""
        return self.sector_size * sum(len(file.visible) for file in _list_files(self.root))

    def now_ms(self) -> Milliseconds:
        """The time by the disk's clock."""
        return Milliseconds(self._clock())

    def next_serial(self) -> int:
        """The next place in the order of all changes; also names calls and nodes."""
        return next(self._serials)

    def copy_settings_to(self, other: "Medium") -> None:
        """The other disk has the same switches and goes on counting from here."""
        other.is_read_only = self.is_read_only
        other.is_sync_ignored = self.is_sync_ignored
        other.forgets_after_failed_sync = self.forgets_after_failed_sync
        other.syncs_count = self.syncs_count
        other.crashes_count = self.crashes_count
        other._failures = dict(self._failures)  # noqa: SLF001 - of the same class
        start = self.next_serial()
        self._serials, other._serials = count(start), count(start)  # noqa: SLF001 - of the same class


def _list_files(folder: Folder) -> Iterator[FileNode]:
    for node in folder.visible.values():
        if isinstance(node, FileNode):
            yield node
        else:
            yield from _list_files(node)
