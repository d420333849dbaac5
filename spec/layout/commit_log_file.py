"""The files of the commit log: one endless sequence of bytes, cut into equal pieces.

A file is named after the position of its first byte, in 20 digits, so that names sort as
positions do and the file of a position needs no lookup. No record crosses the end of a file:
when the next one does not fit, a blank record covers the rest and the next file begins. The
blank record itself needs 8 bytes, so a record is taken only if at least 8 stay free behind it.
"""

from typing import Final, NamedTuple

from spec.layout.stored_message import BLANK_SIZE
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition

FILE_SIZE: Final = ByteCount(1024 * 1024 * 1024)
"""Apache's default of mappedFileSizeCommitLog."""

NAME_LENGTH: Final = 20
"""Digits of a file name: enough for every 64-bit position."""

FILES_AHEAD: Final = 2
"""Apache allocates the next file and the one after it before they are needed."""

POSITION_LIMIT: Final = 2**63
"""The first position that a signed 64-bit field cannot hold."""


class AppendPlan(NamedTuple):
    """Where a record goes, and which blank record is written before it."""

    blank_at: CommitLogPosition | None
    blank_size: ByteCount
    record_at: CommitLogPosition


def encode_file_name(start: int) -> str:
    """The name of the file that begins at a position (of the log, or of a consume queue in bytes).

    Clause: store.file.name
    """
    if not 0 <= start < POSITION_LIMIT:
        raise Rejection("store.file.name", 0, f"no file begins at {start}")
    return f"{start:0{NAME_LENGTH}d}"


def decode_file_name(name: str, file_size: int = FILE_SIZE) -> CommitLogPosition:
    """The position at which the file with this name begins; it must be a multiple of the file size.

    Clauses: store.file.name, store.file.starts-are-multiples
    """
    if len(name) != NAME_LENGTH or not (name.isascii() and name.isdigit()):
        raise Rejection("store.file.name", 0, f"{name[:40]!r} is not a name of 20 digits")
    start = int(name)
    if start >= POSITION_LIMIT:
        raise Rejection("store.file.name", 0, f"{name} is beyond the last position")
    if start % file_size:
        raise Rejection("store.file.starts-are-multiples", 0, f"{name} is not a multiple of {file_size}")
    return CommitLogPosition(start)


def derive_file_start(position: int, file_size: int = FILE_SIZE) -> CommitLogPosition:
    """The start of the file that holds a position.

    Clause: store.file.starts-are-multiples
    """
    return CommitLogPosition(position - position % file_size)


def derive_next_file_start(position: int, file_size: int = FILE_SIZE) -> CommitLogPosition:
    """The start of the file behind the one that holds a position.

    Clause: store.file.starts-are-multiples
    """
    return CommitLogPosition(position - position % file_size + file_size)


def derive_remaining(position: int, file_size: int = FILE_SIZE) -> ByteCount:
    """The bytes from a position to the end of its file.

    Clause: store.file.starts-are-multiples
    """
    return ByteCount(file_size - position % file_size)


def is_fitting(size: int, remaining: int) -> bool:
    """Whether a record, or all records of one batch, may go into a file with `remaining` bytes left.

    Clause: store.file.keeps-room-for-blank
    """
    return size + BLANK_SIZE <= remaining


def plan_append(position: CommitLogPosition, size: int, file_size: int = FILE_SIZE) -> AppendPlan:
    """Where `size` bytes go when the log ends at `position`; refuses what fits into no file.

    A batch is planned as one: all its records go into one file.

    Clauses: store.file.keeps-room-for-blank, store.blank.covers-the-rest, store.batch.one-file
    """
    if not is_fitting(size, file_size):
        raise Rejection("store.file.keeps-room-for-blank", 0, f"{size} bytes fit into no file of {file_size}")
    remaining = derive_remaining(position, file_size)
    if is_fitting(size, remaining):
        return AppendPlan(None, ByteCount(0), position)
    if remaining < BLANK_SIZE:
        raise Rejection(
            "store.file.keeps-room-for-blank", 0, f"only {remaining} bytes are left at {position}"
        )
    return AppendPlan(position, remaining, derive_next_file_start(position, file_size))


def derive_files_ahead(position: int, file_size: int = FILE_SIZE) -> tuple[CommitLogPosition, ...]:
    """The files that may stand, all zero, behind the one that is being written.

    Clause: store.file.allocated-ahead
    """
    start = derive_file_start(position, file_size)
    return tuple(CommitLogPosition(start + number * file_size) for number in range(1, FILES_AHEAD + 1))
