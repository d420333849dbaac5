"""A store in memory that nobody can write, and that may change under its reader."""

from collections.abc import Callable, Mapping
from typing import NoReturn

from refimpl.ports import DiskError, DiskReason, Entry, Sync, Usage
from spec.layout.record import ReadableBytes
from spec.values.units import ByteCount, Milliseconds


def _refuse(path: str) -> NoReturn:
    raise DiskError(DiskReason.READ_ONLY, path)


class MemoryFile:
    """The bytes of one file, as they were when it was opened."""

    def __init__(self, path: str, content: bytes) -> None:
        self._path = path
        self._content = content

    @property
    def path(self) -> str:
        return self._path

    @property
    def size(self) -> ByteCount:
        return ByteCount(len(self._content))

    def read(self, at: int, length: int) -> bytes:
        return self._content[at : at + length]

    def write(self, at: int, data: ReadableBytes) -> None:
        _refuse(f"{self._path} at {at}: {len(data)} bytes")

    def zero_from(self, at: int) -> None:
        _refuse(f"{self._path} at {at}")

    def start_sync(self) -> Sync:
        _refuse(self._path)

    def close(self) -> None:
        """Nothing was held."""


class MemoryDisk:
    """Files by their paths; `before_open` may change them, as a live broker does."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self.files = dict(files)
        self.before_open: Callable[[str], None] = lambda _path: None

    def list_folder(self, folder: str) -> tuple[Entry, ...]:
        prefix = f"{folder}/" if folder else ""
        found: dict[str, Entry] = {}
        for path, content in self.files.items():
            if path.startswith(prefix):
                name, _, rest = path.removeprefix(prefix).partition("/")
                size = 0 if rest else len(content)
                found[name] = Entry(name, ByteCount(size), Milliseconds(0), is_folder=bool(rest))
        return tuple(found[name] for name in sorted(found))

    def has(self, path: str) -> bool:
        return path in self.files

    def open(self, path: str) -> MemoryFile:
        self.before_open(path)
        if path not in self.files:
            raise DiskError(DiskReason.MISSING, path)
        return MemoryFile(path, self.files[path])

    def create(self, path: str, size: int) -> MemoryFile:
        _refuse(f"{path} of {size} bytes")

    def remove(self, path: str) -> None:
        _refuse(path)

    def rename(self, source: str, target: str) -> None:
        _refuse(f"{source} to {target}")

    def sync_folder(self, folder: str) -> None:
        _refuse(folder)

    def usage(self) -> Usage:
        return Usage(ByteCount(sum(map(len, self.files.values()))), ByteCount(2**40))

    def lock(self, path: str, content: bytes) -> None:
        _refuse(f"{path}: {len(content)} bytes")

    def unlock(self, path: str) -> None:
        _refuse(path)
