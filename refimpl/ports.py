"""The doors to the outside: what a core may use, and nothing else.

A core is handed a disk; time comes as an argument of each call. The real disk keeps files in a
folder, the simulated one keeps them in memory and may lose whatever was not synced. Both obey the
same few sentences:

- A write is readable at once by everyone who reads the same disk, and durable only after a sync of
  its file that was *started* after the write and finished without an error.
- A name (created, removed or renamed) is durable only after its folder was synced; the length of a new
  file only after a sync of the file.
- A failed call changes nothing that was durable. A failed write may have written any part of its bytes.

Paths are relative to the root, with `/` between their parts. A path that leads out of the root, a
range outside the file and a sync that is finished twice are mistakes of the caller: a ValueError.
"""

from enum import Enum
from typing import NamedTuple, Protocol

from spec.layout.record import ReadableBytes
from spec.override import override
from spec.values.units import ByteCount, Milliseconds


class DiskReason(Enum):
    """Why a disk refuses."""

    FULL = "no space is left"
    READ_ONLY = "the disk cannot be written"
    DENIED = "access is denied"
    MISSING = "there is no such file"
    EXISTS = "there is such a file already"
    BUSY = "another process holds the lock"
    BROKEN = "the disk failed"


class DiskError(Exception):
    """A disk could not do what was asked; `reason` says whether trying again makes sense."""

    def __init__(self, reason: DiskReason, path: str, detail: str = "") -> None:
        super().__init__(reason, path, detail)
        self.reason = reason
        self.path = path
        self.detail = detail

    @override
    def __str__(self) -> str:
        """One line: which file, what is wrong."""
        return f"{self.path}: {self.reason.value}{f' ({self.detail})' if self.detail else ''}"


class Entry(NamedTuple):
    """A name in a folder."""

    name: str
    size: ByteCount
    """0 for a folder."""
    modified_ms: Milliseconds
    """When the content was last written."""
    is_folder: bool = False


class Usage(NamedTuple):
    """How full the disk is."""

    used_bytes: ByteCount
    total_bytes: ByteCount

    @property
    def ratio(self) -> float:
        """The used share, 0 to 1."""
        return self.used_bytes / self.total_bytes if self.total_bytes else 0.0


class Sync(Protocol):
    """A sync that was started: it concerns all that was written before."""

    def finish(self) -> None:
        """What was written before the start is durable. May take long, and may run in another thread."""


class DiskFile(Protocol):
    """An open file of a fixed size; what was never written reads as zeros."""

    @property
    def path(self) -> str:
        """Where the file is."""

    @property
    def size(self) -> ByteCount:
        """Its length in bytes; writes never change it."""

    def read(self, at: int, length: int) -> bytes:
        """The bytes from `at` on, fewer where the file ends."""

    def write(self, at: int, data: ReadableBytes) -> None:
        """The bytes stand at `at`; refuses what would reach behind the end."""

    def zero_from(self, at: int) -> None:
        """Everything from `at` to the end is zero, without space being used for it."""

    def start_sync(self) -> Sync:
        """A sync of all that has been written up to now."""

    def close(self) -> None:
        """The handle is given back; nothing is synced by that."""


class Disk(Protocol):
    """Files below one root."""

    def list_folder(self, folder: str) -> tuple[Entry, ...]:
        """What is in a folder, sorted by name; nothing if there is no such folder. `""` is the root."""

    def has(self, path: str) -> bool:
        """Whether there is a file of this name."""

    def open(self, path: str) -> DiskFile:
        """The file, for reading and writing."""

    def create(self, path: str, size: int) -> DiskFile:
        """A new file of zeros, of full length at once; folders above it are made. Refuses a name in use."""

    def remove(self, path: str) -> None:
        """The name is gone (a folder only if it is empty); handles that are open still read."""

    def rename(self, source: str, target: str) -> None:
        """The file has the other name; a file that had it before is gone."""

    def sync_folder(self, folder: str) -> None:
        """The names in the folder are durable, and so are those of the folders that lead to it."""

    def usage(self) -> Usage:
        """How full the disk is."""

    def lock(self, path: str, content: bytes) -> None:
        """The file exists with this content, and this process alone holds the lock on it until it ends."""

    def unlock(self, path: str) -> None:
        """The lock is free again; the file stays."""


def sync_file(file: DiskFile) -> None:
    """Everything written to the file is durable."""
    file.start_sync().finish()
