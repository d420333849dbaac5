"""The lock that keeps a second process out of a store.

It is a POSIX record lock on the first byte, the kind that Java's `FileChannel.lock` takes, so that
this store and Apache's broker exclude each other. Such a lock belongs to the process, with two
consequences. It does not keep out another disk of the same process: a table of what this process
holds does. And it is lost as soon as the process closes *any* descriptor of the file: so a file
is looked up in the table before it is opened for locking, and a descriptor of a locked file that
somebody read is closed only when the lock is given back.
"""

import errno
import fcntl
import os
import threading
from pathlib import Path
from typing import Final, TypeAlias

from refimpl.ports import DiskError, DiskReason
from refimpl.real.failure import derive_disk_error

Identity: TypeAlias = tuple[int, int]
"""Device and inode: what a file is, whatever its name."""

_LOCKED_BYTES: Final = 1
_GUARD: Final = threading.Lock()
_HELD: Final[dict[Identity, list[int]]] = {}
"""The locks of this process, each with the descriptors that must stay open."""


def derive_identity(status: os.stat_result) -> Identity:
    """Which file this is."""
    return status.st_dev, status.st_ino


def close_descriptor(descriptor: int, identity: Identity) -> None:
    """The descriptor is closed, or will be when the lock on its file is given back."""
    with _GUARD:
        if (kept := _HELD.get(identity)) is not None:
            kept.append(descriptor)
        else:
            os.close(descriptor)


class HeldLock:
    """A lock that this process holds until it is released."""

    def __init__(self, place: Path, path: str) -> None:
        """The file `place` exists and is locked; it is changed in no way."""
        with _GUARD:
            if _is_held(place):
                raise DiskError(DiskReason.BUSY, path, "this process holds it")
            self._descriptor = os.open(place, os.O_RDWR | os.O_CREAT, 0o644)
            try:
                fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB, _LOCKED_BYTES, 0)
            except OSError as error:
                os.close(self._descriptor)
                if error.errno in {errno.EAGAIN, errno.EACCES}:
                    raise DiskError(DiskReason.BUSY, path) from error
                raise derive_disk_error(error, path) from error
            self._identity = derive_identity(os.fstat(self._descriptor))
            _HELD[self._identity] = [self._descriptor]

    def write(self, content: bytes) -> None:
        """The file has exactly this content."""
        if os.pread(self._descriptor, len(content) + 1, 0) != content:
            os.pwrite(self._descriptor, content, 0)
            os.ftruncate(self._descriptor, len(content))

    def release(self) -> None:
        """The lock is free; the file stays."""
        with _GUARD:
            for descriptor in _HELD.pop(self._identity):
                os.close(descriptor)


def _is_held(place: Path) -> bool:
    try:
        return derive_identity(place.stat()) in _HELD
    except FileNotFoundError:
        return False
