"""The consume queue: for each message of a queue, where it is in the log.

A queue is one endless array of units of 20 bytes, cut into files. Unit number i belongs to queue
offset i; that is the whole address arithmetic. A unit says where the record is, how long it is,
and enough about its tag to skip it without reading it:

    commit-log position   8
    record size           4
    tag code              8    the hash of the tag, or the due time in the schedule topic

A queue is never the truth: it follows from the log and can be built again from it. Files are
created at full size, so the end of a queue is found by its content: a written unit has a size
above zero. A queue that does not begin at offset 0 (its older messages are gone) is filled up
to its first unit with units that no message can have.
"""

import struct
from collections.abc import Iterator
from typing import Final, NamedTuple

from spec.layout.record import ReadableBytes
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition, QueueOffset, TagCode

UNIT_SIZE: Final = ByteCount(20)

UNITS_PER_FILE: Final = 300_000
"""Apache's default: files of 6 000 000 bytes."""

FILLER_SIZE: Final = 0x7FFF_FFFF
"""The size in a filler unit: larger than any record."""

EXTENSION_LIMIT: Final = -(2**31) - 1
"""Tag codes from here down are addresses in the queue's extension file, not tags."""

_UNIT: Final = struct.Struct(">qiq")
_LANES: Final = ">IIiII"
_LANE: Final = 2**32
_SIGN: Final = 2**63


class Unit(NamedTuple):
    """Where one message of a queue is."""

    position: CommitLogPosition
    size: ByteCount
    tag_code: TagCode

    @property
    def end(self) -> CommitLogPosition:
        """The position behind the record."""
        return CommitLogPosition(self.position + self.size)


FILLER: Final = Unit(CommitLogPosition(0), ByteCount(FILLER_SIZE), TagCode(0))
"""Stands where a queue's file begins before the queue's first message.

Clause: store.queue.filler
"""

BLANK: Final = Unit(CommitLogPosition(0), ByteCount(0), TagCode(0))
"""What 20 bytes that were never written read as."""


def encode_unit(unit: Unit) -> bytes:
    """The 20 bytes of a unit; refuses numbers that do not fit their fields.

    Clause: store.queue.unit-layout
    """
    try:
        return _UNIT.pack(*unit)
    except struct.error as error:
        raise Rejection("store.queue.unit-layout", 0, f"{unit} does not fit a unit: {error}") from None


def decode_unit(data: ReadableBytes, at: int = 0) -> Unit:
    """The unit at byte `at`, valid or not.

    Clause: store.queue.unit-layout
    """
    if at < 0 or len(data) - at < UNIT_SIZE:
        raise Rejection(
            "store.queue.unit-layout", at, f"{max(0, len(data) - at)} bytes are too few for a unit"
        )
    position, size, tag_code = _UNIT.unpack_from(data, at)
    return Unit(position, size, tag_code)


def encode_unit_lanes(high: int, low: int, size: int, tag_high: int, tag_low: int) -> bytes:
    """The same 20 bytes from 32-bit halves: the form that a solver can follow.

    Clause: store.queue.unit-layout
    """
    return struct.pack(_LANES, high, low, size, tag_high, tag_low)


def decode_unit_lanes(data: bytes) -> tuple[int, int, int, int, int]:
    """The five 32-bit halves of a unit of exactly 20 bytes.

    Clause: store.queue.unit-layout
    """
    if len(data) != UNIT_SIZE:
        raise Rejection("store.queue.unit-layout", 0, f"a unit has 20 bytes, found {len(data)}")
    high, low, size, tag_high, tag_low = struct.unpack(_LANES, data)
    return high, low, size, tag_high, tag_low


def join_lanes(high: int, low: int) -> int:
    """The signed 64-bit integer of an upper and a lower unsigned half."""
    value = high * _LANE + low
    return value - _LANE * _LANE if value >= _SIGN else value


def split_lanes(value: int) -> tuple[int, int]:
    """The unsigned halves of a signed 64-bit integer."""
    return divmod(value % (_LANE * _LANE), _LANE)


def is_written(position: int, size: int) -> bool:
    """Whether 20 bytes are a unit that somebody wrote, by what recovery goes by.

    Clause: store.queue.written-unit
    """
    return position >= 0 and size > 0


def is_extension_address(tag_code: int) -> bool:
    """Whether a tag code points into the queue's extension file instead of being a hash.

    Clause: store.queue.tag-code
    """
    return tag_code <= EXTENSION_LIMIT


def iter_units(data: ReadableBytes) -> Iterator[Unit]:
    """The written units from the start of a file up to the first that is not.

    Clause: store.queue.written-unit
    """
    whole = len(data) - len(data) % UNIT_SIZE
    for position, size, tag_code in _UNIT.iter_unpack(data[:whole]):
        if not is_written(position, size):
            return
        yield Unit(position, size, tag_code)


def derive_unit_place(queue_offset: int, units_per_file: int = UNITS_PER_FILE) -> tuple[int, int]:
    """The start of the file (its name) and the byte in it where a queue offset's unit stands.

    Clause: store.queue.unit-place
    """
    at = queue_offset * UNIT_SIZE
    inside = at % (units_per_file * UNIT_SIZE)
    return at - inside, inside


def derive_queue_offset(file_start: int, at: int) -> QueueOffset:
    """The queue offset whose unit stands at byte `at` of the file that begins at `file_start`.

    Clause: store.queue.unit-place
    """
    return QueueOffset((file_start + at) // UNIT_SIZE)


def derive_readable_units(queue_offset: int, end: int, units_per_file: int = UNITS_PER_FILE) -> int:
    """How many units one read from `queue_offset` returns: it stops with its file, or at the queue's `end`.

    Clause: store.queue.read-ends-with-file
    """
    file_end = (queue_offset // units_per_file + 1) * units_per_file
    return max(0, min(file_end, end) - queue_offset)
