"""What the operating system's errors mean to a core."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from refimpl.ports import DiskError, DiskReason

_REASONS: Final = {
    errno.ENOSPC: DiskReason.FULL,
    errno.EDQUOT: DiskReason.FULL,
    errno.EROFS: DiskReason.READ_ONLY,
    errno.EACCES: DiskReason.DENIED,
    errno.EPERM: DiskReason.DENIED,
    errno.ENOENT: DiskReason.MISSING,
    errno.EEXIST: DiskReason.EXISTS,
    # A folder that is not empty: POSIX lets rmdir say either.
    errno.ENOTEMPTY: DiskReason.EXISTS,
}


def derive_disk_error(error: OSError, path: str) -> DiskError:
    """The same refusal in the port's words; what has no word of its own is a broken disk."""
    reason = _REASONS.get(error.errno or 0, DiskReason.BROKEN)
    return DiskError(reason, path, error.strerror or str(error))


def derive_read_only_error(path: str) -> DiskError:
    """A change was asked of what was opened for reading."""
    return DiskError(DiskReason.READ_ONLY, path, "it was opened for reading only")


@contextmanager
def disk_errors(path: str) -> Iterator[None]:
    """Whatever the operating system refuses inside is a `DiskError` about this path."""
    try:
        yield
    except OSError as error:
        raise derive_disk_error(error, path) from error
