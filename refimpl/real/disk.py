"""A folder of the operating system as a disk.

Opened for reading only, it refuses every change, also those that the system would allow: so a
verifier may look at the store of a broker that is running.
"""

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from refimpl.disk_path import check_size, split_folder, split_path
from refimpl.ports import DiskError, DiskReason, Entry, Usage
from refimpl.real.failure import derive_disk_error, derive_read_only_error, disk_errors
from refimpl.real.file import RealFile
from refimpl.real.lock import HeldLock
from spec.values.units import ByteCount, Milliseconds

_NANOSECONDS_A_MILLISECOND = 1_000_000


class RealDisk:
    """The files below `root`, which is made if it is not there."""

    def __init__(self, root: Path, *, is_read_only: bool = False) -> None:
        self._root = root.absolute()
        self._is_read_only = is_read_only
        self._locks: dict[str, HeldLock] = {}
        if not is_read_only:
            with disk_errors(""):
                _make_root(self._root)

    def list_folder(self, folder: str) -> tuple[Entry, ...]:
        """What is in a folder, sorted by name; nothing if there is no such folder."""
        try:
            with os.scandir(self._place(split_folder(folder))) as found:
                return tuple(sorted(_list_entries(found)))
        except (FileNotFoundError, NotADirectoryError):
            return ()
        except OSError as error:
            raise derive_disk_error(error, folder) from error

    def has(self, path: str) -> bool:
        """Whether there is a file of this name; a disk that cannot tell does not say no."""
        try:
            return stat.S_ISREG(self._place(split_path(path)).stat().st_mode)
        except (FileNotFoundError, NotADirectoryError):
            return False
        except OSError as error:
            raise derive_disk_error(error, path) from error

    def open(self, path: str) -> RealFile:
        """The file, for reading and writing; on a disk that cannot be written, for reading."""
        place = self._place(split_path(path))
        with disk_errors(path):
            if not self._is_read_only:
                try:
                    return _open_file(path, os.open(place, os.O_RDWR | os.O_NONBLOCK), is_read_only=False)
                except OSError as error:
                    if error.errno != errno.EROFS:
                        raise
            return _open_file(path, os.open(place, os.O_RDONLY | os.O_NONBLOCK), is_read_only=True)

    def create(self, path: str, size: int) -> RealFile:
        """A new file of zeros, of full length at once; folders above it are made."""
        names = split_path(path)
        check_size(path, size)
        self._check_writable(path)
        place = self._place(names)
        with disk_errors(path):
            self._make_folders_above(names)
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o644)
            try:
                os.ftruncate(descriptor, size)
                return RealFile(path, descriptor, is_read_only=False)
            except OSError:
                # A file of another length would keep a store from starting.
                os.close(descriptor)
                place.unlink()
                raise

    def remove(self, path: str) -> None:
        """The name is gone (a folder only if it is empty)."""
        place = self._place(split_path(path))
        self._check_writable(path)
        with disk_errors(path):
            if stat.S_ISDIR(place.lstat().st_mode):
                place.rmdir()
            else:
                place.unlink()

    def rename(self, source: str, target: str) -> None:
        """The file has the other name; a file that had it before is gone."""
        source_place, target_place = self._place(split_path(source)), self._place(split_path(target))
        self._check_writable(source)
        with disk_errors(source):
            # The system would move a folder, and has several errors for a folder in the way.
            if stat.S_ISDIR(source_place.lstat().st_mode) or target_place.is_dir():
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            source_place.rename(target_place)

    def sync_folder(self, folder: str) -> None:
        """The names in the folder are durable, and so are those of the folders that lead to it."""
        names = split_folder(folder)
        self._check_writable(folder)
        with disk_errors(folder):
            for depth in range(len(names), -1, -1):
                _sync_folder(self._place(names[:depth]))

    def usage(self) -> Usage:
        """How full the disk is, as `df` and Apache's broker count: what only root may use is no space."""
        with disk_errors(""):
            status = os.statvfs(self._root)
        used = (status.f_blocks - status.f_bfree) * status.f_frsize
        return Usage(ByteCount(used), ByteCount(used + status.f_bavail * status.f_frsize))

    def lock(self, path: str, content: bytes) -> None:
        """The file exists with this content, and this disk alone holds the lock on it."""
        names = split_path(path)
        self._check_writable(path)
        if path in self._locks:
            raise DiskError(DiskReason.BUSY, path, "this disk holds it")
        with disk_errors(path):
            self._make_folders_above(names)
            held = HeldLock(self._place(names), path)
            try:
                held.write(content)
            except OSError:
                held.release()
                raise
        self._locks[path] = held

    def unlock(self, path: str) -> None:
        """The lock is free again; one that this disk does not hold is left alone."""
        if held := self._locks.pop(path, None):
            held.release()

    def _place(self, names: tuple[str, ...]) -> Path:
        return self._root.joinpath(*names)

    def _check_writable(self, path: str) -> None:
        if self._is_read_only:
            raise derive_read_only_error(path)

    def _make_folders_above(self, names: tuple[str, ...]) -> None:
        """The folders exist; a file in the way is left for the next call to stumble over."""
        if len(names) == 1 or self._place(names[:-1]).is_dir():
            return
        for depth in range(1, len(names)):
            try:
                self._place(names[:depth]).mkdir()
            except FileExistsError:
                continue


def _make_root(root: Path) -> None:
    """The root exists, and every folder made for it is durable."""
    missing = [folder for folder in (root, *root.parents) if not folder.exists()]
    for folder in reversed(missing):
        folder.mkdir(exist_ok=True)
        _sync_folder(folder.parent)
    if not root.is_dir():
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR))


def _open_file(path: str, descriptor: int, *, is_read_only: bool) -> RealFile:
    """The open file; refuses what the system opens as well: a folder, a pipe (which would be waited for)."""
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
        raise OSError(errno.EINVAL, "Not a regular file")
    return RealFile(path, descriptor, is_read_only=is_read_only)


def _sync_folder(place: Path) -> None:
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _list_entries(found: Iterator[os.DirEntry[str]]) -> Iterator[Entry]:
    """Every name that is still there when it is looked at."""
    for name in found:
        try:
            status = name.stat()
        except FileNotFoundError:
            continue
        is_folder = stat.S_ISDIR(status.st_mode)
        yield Entry(
            name.name,
            ByteCount(0 if is_folder else status.st_size),
            Milliseconds(status.st_mtime_ns // _NANOSECONDS_A_MILLISECOND),
            is_folder,
        )
