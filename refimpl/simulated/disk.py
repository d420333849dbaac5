"""A disk in memory that can crash, fill up, fail and rot, all from one seed.

What may be lost in a crash is listed by `pending`, in the order in which it was done: every sector
of every write, the length of every new file, every name that was added, removed or moved. `crash`
keeps those that are named and loses the rest; `image` gives the disk as it would then be and leaves
this one alone. Of several kept writes to one sector the last counts. A kept name that needs one
that is not kept (see `names`) is lost too; so is a file whose folder is.

A written sector is durable after a sync of its file, a name after a sync of its folder, and neither
sync does the work of the other: real file systems are kinder, but promise nothing.
"""

from collections.abc import Collection
from copy import copy
from random import Random
from typing import Final

from refimpl.disk_path import check_range, check_size, split_folder, split_path
from refimpl.ports import DiskError, DiskReason, Entry, Usage
from refimpl.simulated.crash import Pending, choose_randomly, collect_pending, derive_survivor
from refimpl.simulated.disk_file import SimulatedFile
from refimpl.simulated.medium import Clock, Medium
from refimpl.simulated.names import select_possible
from refimpl.simulated.node import FileNode, Folder, SizeChange
from refimpl.simulated.tree import Tree
from spec.values.units import ByteCount

UNLIMITED_BYTES: Final = 1 << 50
"""How large a disk without a capacity says it is."""


class SimulatedDisk(Medium):
    """Files in memory; the switches and failures are those of its `Medium`."""

    def __init__(
        self,
        seed: int | Random,
        *,
        clock: Clock,
        sector_size: int = 512,
        capacity: int | None = None,
        keeps_name_order: bool = False,
    ) -> None:
        random = seed if isinstance(seed, Random) else Random(seed)  # noqa: S311 - chance, not a secret
        super().__init__(random, sector_size, capacity, clock)
        self._tree = Tree(self, keeps_order=keeps_name_order)
        self._locks: dict[str, FileNode] = {}

    def list_folder(self, folder: str) -> tuple[Entry, ...]:
        """What is in a folder, sorted by name; nothing if there is no such folder."""
        node = self._tree.look_up(split_folder(folder), folder)
        names = sorted(node.visible.items()) if isinstance(node, Folder) else []
        return tuple(
            Entry(name, ByteCount(0), inner.modified_ms, is_folder=True)
            if isinstance(inner, Folder)
            else Entry(name, ByteCount(inner.size), inner.modified_ms)
            for name, inner in names
        )

    def has(self, path: str) -> bool:
        """Whether there is a file of this name."""
        return isinstance(self._tree.look_up(split_path(path), path), FileNode)

    def open(self, path: str) -> SimulatedFile:
        """The file, for reading and writing; on a disk that cannot be written, for reading."""
        return SimulatedFile(self, self._tree.find_file(split_path(path), path), path)

    def create(self, path: str, size: int) -> SimulatedFile:
        """A new file of zeros, of full length at once; folders above it are made."""
        names = split_path(path)
        check_size(path, size)
        self._check_change(path)
        place = self._tree.make_place(names, path)
        if place.name in place.folder.visible:
            raise DiskError(DiskReason.EXISTS, path)
        node = self._tree.make_file(place)
        if size:
            serial = self.next_serial()
            node.change(SizeChange(serial, serial, path, size, self.now_ms()))
        return SimulatedFile(self, node, path)

    def remove(self, path: str) -> None:
        """The name is gone (a folder only if it is empty)."""
        names = split_path(path)
        self._check_change(path)
        node = self._tree.find(names, path)
        if isinstance(node, Folder) and node.visible:
            raise DiskError(DiskReason.EXISTS, path, "the folder is not empty")
        self._tree.change(node, removed=self._tree.find_place(names, path))

    def rename(self, source: str, target: str) -> None:
        """The file has the other name; a file that had it before is gone."""
        source_names, target_names = split_path(source), split_path(target)
        self._check_change(source)
        node = self._tree.find_file(source_names, source)
        place = self._tree.find_place(target_names, source)
        replaced = self._tree.look_up(target_names, source)
        if isinstance(replaced, Folder):
            raise DiskError(DiskReason.BROKEN, source, f"{target} is a folder")
        if replaced is not node:
            self._tree.change(node, removed=self._tree.find_place(source_names, source), added=place)

    def sync_folder(self, folder: str) -> None:
        """The names in the folder are durable, and so are those of the folders that lead to it."""
        names = split_folder(folder)
        self.check_writable(folder)
        self._tree.sync(names, folder)

    def usage(self) -> Usage:
        """How full the disk is."""
        capacity = UNLIMITED_BYTES if self.capacity is None else self.capacity
        return Usage(ByteCount(self.used_bytes()), ByteCount(capacity))

    def lock(self, path: str, content: bytes) -> None:
        """The file exists with this content, and whoever called holds the lock on it until a crash."""
        names = split_path(path)
        self._check_change(path)
        place = self._tree.make_place(names, path)
        node = place.folder.visible.get(place.name)
        if isinstance(node, Folder):
            raise DiskError(DiskReason.BROKEN, path, "it is a folder")
        if path in self._locks or node in self._locks.values():
            raise DiskError(DiskReason.BUSY, path)
        node = node or self._tree.make_file(place)
        SimulatedFile(self, node, path).replace_content(content)
        self._locks[path] = node

    def unlock(self, path: str) -> None:
        """The lock is free again; one that nobody holds is left alone."""
        self._locks.pop(path, None)

    def flip_bit(self, path: str, byte: int, bit: int) -> None:
        """The bit has rotted: readers see it, and a crash or a sync does not bring the old one back."""
        node = self._tree.find_file(split_path(path), path)
        check_range(path, node.size, byte, 1)
        node.flip_bit(byte, bit, self.sector_size)

    def pending(self) -> tuple[Pending, ...]:
        """Everything that a crash may keep or lose, in the order in which it was done."""
        return collect_pending(self.root, self._tree.changes)

    def crash(self, kept: Collection[int] = ()) -> None:
        """Of what is pending, these indices are durable and the rest is lost; all handles are dead."""
        self.root = self._derive_survivor(kept)
        self.crashes_count += 1
        self._tree = Tree(self, keeps_order=self._tree.keeps_order)
        self._locks = {}

    def crash_randomly(self) -> tuple[int, ...]:
        """The disk has crashed, and chance chose what was kept: these indices."""
        kept = choose_randomly(self.random, self.pending())
        self.crash(kept)
        return kept

    def image(self, kept: Collection[int] = ()) -> "SimulatedDisk":
        """A new disk, as this one would be after `crash(kept)`; this one is left alone."""
        other = SimulatedDisk(
            copy(self.random),
            clock=self._clock,
            sector_size=self.sector_size,
            capacity=self.capacity,
            keeps_name_order=self._tree.keeps_order,
        )
        self.copy_settings_to(other)
        other.root = self._derive_survivor(kept)
        other.crashes_count += 1
        return other

    def _derive_survivor(self, kept: Collection[int]) -> Folder:
        pending = self.pending()
        if outside := sorted(index for index in kept if not 0 <= index < len(pending)):
            raise ValueError(f"{outside} are not among the {len(pending)} pending changes")
        serials = frozenset(pending[index].serial for index in kept)
        names = select_possible(self._tree.changes, serials, keeps_order=self._tree.keeps_order)
        return derive_survivor(self.root, names, serials, self.sector_size)

    def _check_change(self, path: str) -> None:
        self.check_writable(path)
        self.check_failure("write", path)
