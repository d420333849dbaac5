"""An open file of the operating system, read and written by position.

`read` and `write` run once or more for each message, so they are one call of the system and one
comparison; everything that is rare stands in a method of its own.
"""

import os

from refimpl.disk_path import check_range
from refimpl.ports import DiskError, DiskReason
from refimpl.real.failure import derive_disk_error, derive_read_only_error, disk_errors
from refimpl.real.hole import zero_to_end
from refimpl.real.lock import close_descriptor, derive_identity
from spec.layout.record import ReadableBytes
from spec.values.units import ByteCount

_CLOSED = -1
"""No descriptor: the system answers that it is bad, and never that it is another file's."""


class RealSync:
    """A sync with its own descriptor, so that it may end in another thread and after the file was closed."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = os.dup(descriptor)

    def finish(self) -> None:
        """What was written before the start is durable."""
        descriptor, self._descriptor = self._descriptor, _CLOSED
        if descriptor == _CLOSED:
            raise ValueError(f"{self._path}: this sync was finished before")
        try:
            os.fsync(descriptor)
        except OSError as error:
            raise derive_disk_error(error, self._path) from error
        finally:
            os.close(descriptor)

    def __del__(self) -> None:
        if getattr(self, "_descriptor", _CLOSED) != _CLOSED:
            os.close(self._descriptor)


class RealFile:
    """A file of a fixed size; the descriptor is its own until `close`."""

    __slots__ = ("_descriptor", "_identity", "_is_read_only", "path", "size")

    def __init__(self, path: str, descriptor: int, *, is_read_only: bool) -> None:
        status = os.fstat(descriptor)
        self.path = path
        self.size = ByteCount(status.st_size)
        self._descriptor = descriptor
        self._identity = derive_identity(status)
        self._is_read_only = is_read_only

    def read(self, at: int, length: int) -> bytes:
        """The bytes from `at` on, fewer where the file ends."""
        wanted = min(length, self.size - at)
        if at < 0 or length < 0:
            raise ValueError(f"{self.path}: {length} bytes at {at} cannot be read")
        try:
            # Behind the end nothing is wanted, but a closed file must still say that it is closed.
            data = os.pread(self._descriptor, max(wanted, 0), at)
        except OSError as error:
            raise derive_disk_error(error, self.path) from error
        return data if len(data) >= wanted else self._read_rest(at, wanted, data)

    def _read_rest(self, at: int, wanted: int, data: bytes) -> bytes:
        """A short read is asked for again: the system gives at most 2 GiB at once."""
        parts, got = [data], len(data)
        while parts[-1] and got < wanted:
            with disk_errors(self.path):
                parts.append(os.pread(self._descriptor, wanted - got, at + got))
            got += len(parts[-1])
        return b"".join(parts)

    def write(self, at: int, data: ReadableBytes) -> None:
        """The bytes stand at `at`; refuses what would reach behind the end."""
        length = len(data)
        if at < 0 or at + length > self.size:
            check_range(self.path, self.size, at, length)
        try:
            written = os.pwrite(self._descriptor, data, at)
        except OSError as error:
            raise self._refusal(error) from error
        if written != length:
            self._write_rest(at, memoryview(data), written)

    def _write_rest(self, at: int, data: memoryview, written: int) -> None:
        """A short write goes on; it usually ends with the error that made it short."""
        while written < len(data):
            with disk_errors(self.path):
                step = os.pwrite(self._descriptor, data[written:], at + written)
            if step == 0:
                raise DiskError(DiskReason.BROKEN, self.path, "a write wrote nothing")
            written += step

    def zero_from(self, at: int) -> None:
        """Everything from `at` to the end is zero, without space being used for it."""
        check_range(self.path, self.size, at, 0)
        self._check_writable()
        with disk_errors(self.path):
            zero_to_end(self._descriptor, at, self.size)

    def start_sync(self) -> RealSync:
        """A sync of all that has been written up to now."""
        self._check_writable()
        with disk_errors(self.path):
            return RealSync(self.path, self._descriptor)

    def close(self) -> None:
        """The handle is given back; closing again changes nothing."""
        descriptor, self._descriptor = self._descriptor, _CLOSED
        if descriptor != _CLOSED:
            close_descriptor(descriptor, self._identity)

    def _check_writable(self) -> None:
        if self._is_read_only and self._descriptor != _CLOSED:
            raise derive_read_only_error(self.path)

    def _refusal(self, error: OSError) -> DiskError:
        """Writing where only reading was allowed is a bad descriptor to the system."""
        if self._is_read_only and self._descriptor != _CLOSED:
            return derive_read_only_error(self.path)
        return derive_disk_error(error, self.path)
