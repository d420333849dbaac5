"""The files that are open: a bounded number of handles, the least used given back first.

A store with a thousand queues has thousands of files, and a process few handles. Whoever needs a
file asks here each time; a handle is never kept.
"""

from typing import Final

from refimpl.ports import Disk, DiskFile

HANDLE_LIMIT: Final = 256
"""A decision: far below the usual limit of 1024 a process, which sockets share."""


class OpenFiles:
    """Handles by path."""

    def __init__(self, disk: Disk, limit: int = HANDLE_LIMIT) -> None:
        self.disk = disk
        self._limit = limit
        self._handles: dict[str, DiskFile] = {}
        """The one used last stands last."""

    def get(self, path: str) -> DiskFile:
        """The handle of an existing file."""
        handle = self._handles.pop(path, None)
        if handle is None:
            handle = self.disk.open(path)
            self._make_room()
        self._handles[path] = handle
        return handle

    def create(self, path: str, size: int) -> DiskFile:
        """The handle of a new file of zeros."""
        handle = self.disk.create(path, size)
        self._make_room()
        self._handles[path] = handle
        return handle

    def remove(self, path: str) -> None:
        """The file is gone."""
        self.forget(path)
        self.disk.remove(path)

    def forget(self, path: str) -> None:
        """No handle of the file is open."""
        handle = self._handles.pop(path, None)
        if handle is not None:
            handle.close()

    def close(self) -> None:
        """No handle is open."""
        for path in tuple(self._handles):
            self.forget(path)

    def _make_room(self) -> None:
        while len(self._handles) >= self._limit:
            self.forget(next(iter(self._handles)))
