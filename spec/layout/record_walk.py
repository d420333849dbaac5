"""From record to record: how a run of records is read, and why it ends.

A pull answer and a commit-log file are both records back to back. A pull answer ends with its
last record. A file ends in one of three ways: a blank record (the writer found too little room
and went on in the next file), zeros (nothing was written here yet), or bytes that are neither.
The three mean different things to recovery, so the walk always says which it met.
"""

import struct
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Final, NamedTuple, TypeVar

from spec.layout.record import ReadableBytes, decode_record
from spec.layout.record_head import RecordHead, decode_record_head
from spec.layout.stored_message import BLANK_SIZE, Magic, StoredMessage
from spec.rejection import Rejection
from spec.values.java_literal import INT32_HIGHEST
from spec.values.units import ByteCount

T = TypeVar("T")

_HEAD: Final = struct.Struct(">iI")
_BLANK_MAGIC: Final = struct.pack(">I", Magic.BLANK)


class StopKind(Enum):
    """Why a walk ended."""

    END = "the bytes end with a record"
    BLANK = "a blank record: the log goes on in the next file"
    ZERO = "zeros: nothing was written here"
    DAMAGED = "neither a record, nor blank, nor zeros"


class Stop(NamedTuple):
    """Where a walk ended and why; `refusal` says what is wrong with damaged bytes."""

    at: int
    kind: StopKind
    refusal: Rejection | None = None


def encode_blank(remaining: int) -> bytes:
    """The blank record for a file that has `remaining` bytes left, these eight included.

    Clause: store.blank.layout
    """
    if not BLANK_SIZE <= remaining <= INT32_HIGHEST:
        raise Rejection("store.blank.layout", 0, f"no blank record covers {remaining} bytes")
    return _HEAD.pack(remaining, Magic.BLANK)


def decode_blank(data: ReadableBytes, at: int, remaining: int | None) -> ByteCount:
    """The bytes that a blank record at `at` covers.

    `remaining` is what the file has left from there; None when the reader does not care, as Apache.

    Clauses: store.blank.layout, store.blank.covers-the-rest
    """
    if at < 0 or len(data) - at < BLANK_SIZE:
        raise Rejection("store.blank.layout", at, "too few bytes for a blank record")
    size: int
    magic: int
    size, magic = _HEAD.unpack_from(data, at)
    if magic != Magic.BLANK:
        raise Rejection("store.blank.layout", at + 4, f"magic {magic:#010x} is not that of a blank record")
    if size < BLANK_SIZE:
        raise Rejection("store.blank.layout", at, f"a blank record of {size} bytes has no room for itself")
    if remaining is not None and size != remaining:
        raise Rejection(
            "store.blank.covers-the-rest", at, f"a blank record of {size} bytes where {remaining} are left"
        )
    return ByteCount(size)


def _read(data: ReadableBytes, at: int, remaining: int | None, decode: Callable[[], T]) -> T | Stop:
    """What `decode` makes of the record at `at`, or why there is none."""
    head = bytes(data[at : at + BLANK_SIZE])
    if not head:
        return Stop(at, StopKind.END)
    if not any(head):
        return Stop(at, StopKind.ZERO)
    try:
        if head[4:] == _BLANK_MAGIC:
            decode_blank(data, at, remaining)
            return Stop(at, StopKind.BLANK)
        return decode()
    except Rejection as refusal:
        return Stop(at, StopKind.DAMAGED, refusal)


def read_next(
    data: ReadableBytes,
    at: int,
    *,
    remaining: int | None = None,
    check_crc: bool = True,
    accept_v2: bool = False,
) -> StoredMessage | Stop:
    """The record at `at`, or why there is none.

    Clauses: store.walk.stop-reasons, store.blank.covers-the-rest
    """
    return _read(
        data, at, remaining, lambda: decode_record(data, at, check_crc=check_crc, accept_v2=accept_v2)
    )


def read_next_head(
    data: memoryview, at: int, *, remaining: int | None, check_crc: bool = True, accept_v2: bool = False
) -> RecordHead | Stop:
    """The record at `at` without its body, or why there is none.

    Clauses: store.walk.stop-reasons, store.blank.covers-the-rest
    """
    return _read(
        data, at, remaining, lambda: decode_record_head(data, at, check_crc=check_crc, accept_v2=accept_v2)
    )


def iter_records(
    data: ReadableBytes, at: int = 0, *, check_crc: bool = True, accept_v2: bool = False
) -> Iterator[StoredMessage | Stop]:
    """The records from `at` on, then exactly one Stop.

    Clause: store.walk.stop-reasons
    """
    while True:
        item = read_next(data, at, check_crc=check_crc, accept_v2=accept_v2)
        yield item
        if isinstance(item, Stop):
            return
        at += item.size


def decode_records(
    data: ReadableBytes, *, check_crc: bool = True, accept_v2: bool = False
) -> tuple[StoredMessage, ...]:
    """All messages of a pull answer; bytes that are not records to the last one are refused.

    Clause: store.walk.pull-body-is-records
    """
    *records, stop = iter_records(data, check_crc=check_crc, accept_v2=accept_v2)
    if isinstance(stop, Stop) and stop.kind is not StopKind.END:
        reason = stop.refusal.reason if stop.refusal else stop.kind.value
        raise Rejection("store.walk.pull-body-is-records", stop.at, reason)
    return tuple(record for record in records if isinstance(record, StoredMessage))
