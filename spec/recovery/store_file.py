"""A file of the store as recovery sees it, and which files are refused before anything is read.

A log file of a wrong length, with a foreign name, or behind a hole means that the directory is
not what this store wrote: another file size was configured, files were copied in part, or
somebody put something there. Guessing would cut off good data, so loading stops and says why.
One case is harmless: an empty last file, which a crash leaves between creating a file and
giving it its size. 5.x removes it, 4.9.x refuses to start.
"""

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import NamedTuple

from spec.layout.commit_log_file import decode_file_name
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition


class FoundFile(NamedTuple):
    """A file as a directory lists it: `read(at, length)` gives its bytes, fewer at its end."""

    name: str
    size: ByteCount
    read: Callable[[int, int], bytes]


class LoadedFile(NamedTuple):
    """A file that is accepted: where it begins in its sequence."""

    start: CommitLogPosition
    size: ByteCount
    read: Callable[[int, int], bytes]

    @property
    def end(self) -> CommitLogPosition:
        """The position behind its last byte."""
        return CommitLogPosition(self.start + self.size)


def found_bytes(name: str, content: bytes) -> FoundFile:
    """A file whose content is in memory."""
    return FoundFile(name, ByteCount(len(content)), lambda at, length: content[at : at + length])


def check_file(file: FoundFile, file_size: int) -> LoadedFile:
    """The file with its place in the sequence; refuses a foreign name or another size.

    Clauses: recovery.load.file-size, store.file.name
    """
    start = decode_file_name(file.name, file_size)
    if file.size != file_size:
        raise Rejection(
            "recovery.load.file-size",
            file.size,
            f"{file.name} has {file.size} bytes, {file_size} are expected",
        )
    return LoadedFile(start, file.size, file.read)


def arrange_files(
    files: Iterable[FoundFile], file_size: int, *, drops_empty_last: bool = True
) -> tuple[LoadedFile, ...]:
    """The files of one sequence in order, without a hole between them.

    Clauses: recovery.load.file-size, recovery.load.empty-last-file, recovery.load.no-hole
    """
    found = sorted(files, key=lambda file: file.name)
    if drops_empty_last and found and found[-1].size == 0:
        decode_file_name(found[-1].name, file_size)
        found.pop()
    loaded = tuple(check_file(file, file_size) for file in found)
    for before, after in pairwise(loaded):
        if before.end != after.start:
            raise Rejection(
                "recovery.load.no-hole",
                after.start,
                f"no file begins at {before.end}, the next is {after.start}",
            )
    return loaded
