"""How the end of a file becomes zeros without its length ever being another one.

Cutting a file and making it long again does it too, but a process that is killed in between leaves
a file of a wrong length, and a store with such a file does not start. Linux can punch a hole that
keeps the length. Python has no call for it, so the C library is asked; where it cannot (another
system, or a file system without holes), the file is cut and grown.
"""

import ctypes
import errno
import os
import sys
from collections.abc import Callable
from functools import cache
from typing import Final

_KEEP_SIZE: Final = 0x01
"""FALLOC_FL_KEEP_SIZE of linux/falloc.h."""
_PUNCH_HOLE: Final = 0x02
"""FALLOC_FL_PUNCH_HOLE of linux/falloc.h."""
_CANNOT: Final = frozenset({errno.EOPNOTSUPP, errno.ENOSYS})

Punch = Callable[[int, int, int, int], int]


@cache
def _find_punch() -> Punch | None:
    """The C library's fallocate with 64-bit positions: glibc has it by that name, musl by the plain one."""
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    for name in ("fallocate64", "fallocate"):
        if punch := getattr(library, name, None):
            punch.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
            punch.restype = ctypes.c_int
            return punch  # type: ignore[no-any-return]  # ctypes does not know the functions of a library
    return None


def _punch_hole(descriptor: int, at: int, length: int) -> bool:
    """Whether the hole is there; False where no hole can be made."""
    punch = _find_punch()
    if punch is None:
        return False
    while punch(descriptor, _KEEP_SIZE | _PUNCH_HOLE, at, length) != 0:
        number = ctypes.get_errno()
        if number in _CANNOT:
            return False
        if number != errno.EINTR:
            raise OSError(number, os.strerror(number))
    return True


def zero_to_end(descriptor: int, at: int, size: int) -> None:
    """Everything from `at` to `size` is zero and takes no space."""
    if at == size or _punch_hole(descriptor, at, size - at):
        return
    os.ftruncate(descriptor, at)
    os.ftruncate(descriptor, size)
