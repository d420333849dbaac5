"""What is a path on a disk: names below the root, with `/` between them.

A path that leaves the root, like a write behind the end of a file, is a mistake of the caller and
not a failure of the disk. Both disks answer such a call with a `ValueError`, which nobody catches
in order to try again.
"""

from typing import Final

_NO_NAMES: Final = frozenset({"", ".", ".."})


def split_path(path: str) -> tuple[str, ...]:
    """The names on the way to a file; refuses a path that is absolute, climbs or names nothing."""
    names = tuple(path.split("/"))
    if "\0" in path or not _NO_NAMES.isdisjoint(names):
        raise ValueError(f"{path!r} is no path below the root")
    path.encode("utf-8")  # what has no UTF-8 form is a ValueError here and not on one disk only
    return names


def split_folder(folder: str) -> tuple[str, ...]:
    """The names on the way to a folder; the root has none."""
    return split_path(folder) if folder else ()


def check_size(path: str, size: int) -> None:
    """The size is one that a file can have."""
    if size < 0:
        raise ValueError(f"{path}: a file cannot have {size} bytes")


def check_range(path: str, size: int, at: int, length: int) -> None:
    """The bytes from `at` on lie inside a file of this size."""
    if at < 0 or at + length > size:
        raise ValueError(f"{path}: {length} bytes at {at} are not inside its {size} bytes")
