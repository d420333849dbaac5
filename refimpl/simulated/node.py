"""What a simulated disk consists of: files and folders, each as it reads and as it would be after a crash.

A file has what readers see, what is durable, and in between the changes that no sync has reached,
in the order in which they were made. A crash may keep any of them: sectors of one write need not
arrive together, nor in their order. The length of a new file is such a change too, because a crash
between making a file and giving it its length leaves an empty one.
"""

from dataclasses import dataclass, replace
from typing import TypeAlias

from refimpl.simulated.sectors import Sectors
from spec.override import override
from spec.values.units import Milliseconds


@dataclass(frozen=True, slots=True, repr=False)
class SectorWrite:
    """One sector of one write; its content is that of the whole sector after the write."""

    serial: int
    """The place in the order of all changes of the disk."""
    call: int
    """Which call made it: the changes of one call may be torn apart."""
    path: str
    sector: int
    content: bytes | None
    """None where the sector became a hole."""
    written_ms: Milliseconds

    @override
    def __repr__(self) -> str:
        return f"<{'zero' if self.content is None else 'write'} {self.path} sector {self.sector}>"


@dataclass(frozen=True, slots=True, repr=False)
class SizeChange:
    """The file got its length."""

    serial: int
    call: int
    path: str
    size: int
    written_ms: Milliseconds

    @override
    def __repr__(self) -> str:
        return f"<size {self.path} {self.size}>"


FileChange: TypeAlias = SectorWrite | SizeChange


class FileNode:
    """A file, whatever its name is."""

    def __init__(
        self, number: int, path: str, sectors: Sectors, size: int, modified_ms: Milliseconds
    ) -> None:
        """A file that is durable as it is."""
        self.number = number
        self.path = path
        self.visible, self.durable = sectors.snapshot(), sectors
        self.size = self.durable_size = size
        self.modified_ms = self.durable_modified_ms = modified_ms
        self.pending: list[FileChange] = []
        self._forgotten: set[int] = set()

    def change(self, change: FileChange) -> None:
        """The change is seen by readers and is durable for nobody."""
        if isinstance(change, SectorWrite):
            self.visible.put(change.sector, change.content)
        else:
            self.size = change.size
        self.modified_ms = change.written_ms
        self.pending.append(change)

    def make_durable(self, before: int) -> None:
        """What was changed before this serial is durable, except what a failed sync made forgotten."""
        reached = [c for c in self.pending if c.serial < before and c.serial not in self._forgotten]
        for change in reached:
            self._apply(change)
        newest = {change.sector: change.serial for change in reached if isinstance(change, SectorWrite)}
        done = {change.serial for change in reached}
        done |= {
            change.serial
            for change in self.pending
            if isinstance(change, SectorWrite) and change.serial < newest.get(change.sector, 0)
        }
        self.pending = [change for change in self.pending if change.serial not in done]
        self._forgotten -= done

    def forget(self, before: int) -> None:
        """No later sync reaches what was written before this serial, though a crash may still keep it."""
        self._forgotten |= {
            c.serial for c in self.pending if c.serial < before and isinstance(c, SectorWrite)
        }

    def survive(self, path: str, kept: frozenset[int], sector_size: int) -> "FileNode":
        """The file after a crash that kept the changes with these serials."""
        copy = FileNode(
            self.number, path, self.durable.snapshot(), self.durable_size, self.durable_modified_ms
        )
        for change in self.pending:
            if change.serial in kept:
                copy._apply(change)
        if any(isinstance(change, SizeChange) for change in self.pending):
            copy.durable.cut(copy.durable_size, sector_size)
        return FileNode(self.number, path, copy.durable, copy.durable_size, copy.durable_modified_ms)

    def flip_bit(self, byte: int, bit: int, sector_size: int) -> None:
        """The bit is another one wherever the byte is kept."""
        sector, inside = divmod(byte, sector_size)

        def flip(content: bytes | None) -> bytes:
            changed = bytearray(content or bytes(sector_size))
            changed[inside] ^= 1 << bit
            return bytes(changed)

        for sectors in (self.visible, self.durable):
            sectors.put(sector, flip(sectors.get(sector)))
        self.pending = [
            replace(change, content=flip(change.content))
            if isinstance(change, SectorWrite) and change.sector == sector
            else change
            for change in self.pending
        ]

    def _apply(self, change: FileChange) -> None:
        if isinstance(change, SectorWrite):
            self.durable.put(change.sector, change.content)
        else:
            self.durable_size = change.size
        self.durable_modified_ms = change.written_ms


class Folder:
    """A folder: the names that are seen, and those that a crash leaves for certain."""

    def __init__(self, number: int, path: str, modified_ms: Milliseconds) -> None:
        self.number = number
        self.path = path
        self.modified_ms = modified_ms
        self.visible: dict[str, Node] = {}
        self.durable: dict[str, Node] = {}

    def path_of(self, name: str) -> str:
        """The path of a name in this folder."""
        return f"{self.path}/{name}" if self.path else name


Node: TypeAlias = FileNode | Folder
