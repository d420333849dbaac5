"""What a pull finds: exactly one status, and the offset at which the client goes on.

The promise: the next offset never passes a message that the client should have seen. It moves
past what was returned, what does not match, and what is gone; nothing else.

Why it can fail: an offset outside the queue has to be answered too, and any correction of it is
a decision about messages. Apache 4.9.3 sends a client that is beyond the end back to 0 when the
queue still begins at 0 (everything is consumed again); later versions send it to the end. A
slave may simply be behind: unless it is told to check, it leaves the offset alone.

What is allowed: an index file that cannot be read is skipped as a whole. That passes messages,
but only such as are not readable (hole K5 of the guarantees).
"""

from enum import Enum
from typing import Final, NamedTuple

from spec.layout.consume_queue import UNITS_PER_FILE
from spec.values.units import QueueOffset
from spec.wire.code import ResponseCode


class PullStatus(Enum):
    """What the store says about a read; the name travels as the remark of the answer."""

    FOUND = "FOUND"
    NO_MATCHED_MESSAGE = "NO_MATCHED_MESSAGE"
    MESSAGE_WAS_REMOVING = "MESSAGE_WAS_REMOVING"
    OFFSET_FOUND_NULL = "OFFSET_FOUND_NULL"
    OFFSET_OVERFLOW_BADLY = "OFFSET_OVERFLOW_BADLY"
    OFFSET_OVERFLOW_ONE = "OFFSET_OVERFLOW_ONE"
    OFFSET_TOO_SMALL = "OFFSET_TOO_SMALL"
    NO_MATCHED_LOGIC_QUEUE = "NO_MATCHED_LOGIC_QUEUE"
    NO_MESSAGE_IN_QUEUE = "NO_MESSAGE_IN_QUEUE"


class Bounds(NamedTuple):
    """A queue's offsets: the first one present, and one past the last."""

    minimum: int
    maximum: int


class Outcome(NamedTuple):
    """A status, and where to go on."""

    status: PullStatus
    next_offset: QueueOffset


class OffsetCheck(Enum):
    """Whether an offset outside the queue is corrected."""

    CORRECTED = "on a master, and on a slave with offsetCheckInSlave"
    LEFT_ALONE = "on a slave without it"


class Overflow(Enum):
    """Where a client beyond the end is sent."""

    TO_MAXIMUM = "4.9.4 and later"
    TO_ZERO = "4.9.3: to 0 when the queue begins at 0"


def derive_next_file_offset(offset: int, units_per_file: int = UNITS_PER_FILE) -> int:
    """The first offset of the index file after the one that holds `offset`.

    Clause: broker.pull.unreadable-file-skipped
    """
    return offset + units_per_file - offset % units_per_file


def _decide(
    offset: int, bounds: Bounds | None, overflow: Overflow, units_per_file: int
) -> tuple[PullStatus, int]:
    if bounds is None:
        return PullStatus.NO_MATCHED_LOGIC_QUEUE, 0
    if bounds.maximum == 0:
        return PullStatus.NO_MESSAGE_IN_QUEUE, 0
    if offset < bounds.minimum:
        return PullStatus.OFFSET_TOO_SMALL, bounds.minimum
    if offset == bounds.maximum:
        return PullStatus.OFFSET_OVERFLOW_ONE, offset
    if offset > bounds.maximum:
        is_sent_to_zero = overflow is Overflow.TO_ZERO and bounds.minimum == 0
        return PullStatus.OFFSET_OVERFLOW_BADLY, 0 if is_sent_to_zero else bounds.maximum
    return PullStatus.OFFSET_FOUND_NULL, derive_next_file_offset(offset, units_per_file)


def decide_without_scan(
    offset: int,
    bounds: Bounds | None,
    *,
    has_units: bool,
    check: OffsetCheck = OffsetCheck.CORRECTED,
    overflow: Overflow = Overflow.TO_MAXIMUM,
    units_per_file: int = UNITS_PER_FILE,
) -> Outcome | None:
    """The outcome that is known before any unit is read, or None when the units decide.

    `bounds` is None for a queue that does not exist; `has_units` says whether the index file
    at `offset` could be read. `overflow=TO_ZERO` is Apache 4.9.3.

    Clauses: broker.pull.one-status, broker.pull.overflow-to-maximum, broker.pull.slave-keeps-offset
    """
    status, next_offset = _decide(offset, bounds, overflow, units_per_file)
    if status is PullStatus.OFFSET_FOUND_NULL and has_units:
        return None
    return Outcome(status, QueueOffset(next_offset if check is OffsetCheck.CORRECTED else offset))


_CODES: Final = {
    PullStatus.FOUND: ResponseCode.SUCCESS,
    PullStatus.NO_MATCHED_MESSAGE: ResponseCode.PULL_RETRY_IMMEDIATELY,
    PullStatus.MESSAGE_WAS_REMOVING: ResponseCode.PULL_RETRY_IMMEDIATELY,
    PullStatus.OFFSET_FOUND_NULL: ResponseCode.PULL_NOT_FOUND,
    PullStatus.OFFSET_OVERFLOW_ONE: ResponseCode.PULL_NOT_FOUND,
    PullStatus.NO_MESSAGE_IN_QUEUE: ResponseCode.PULL_NOT_FOUND,
    PullStatus.NO_MATCHED_LOGIC_QUEUE: ResponseCode.PULL_NOT_FOUND,
    PullStatus.OFFSET_OVERFLOW_BADLY: ResponseCode.PULL_OFFSET_MOVED,
    PullStatus.OFFSET_TOO_SMALL: ResponseCode.PULL_OFFSET_MOVED,
}

_EMPTY: Final = (PullStatus.NO_MESSAGE_IN_QUEUE, PullStatus.NO_MATCHED_LOGIC_QUEUE)


def derive_code(
    status: PullStatus, offset: int, *, check: OffsetCheck = OffsetCheck.CORRECTED
) -> ResponseCode:
    """The response code of a status; an empty queue is "nothing new" only to who asks for 0.

    Clauses: broker.pull.status-code, broker.pull.empty-queue-code, broker.pull.slave-keeps-offset
    """
    is_moved = status in _EMPTY and offset != 0
    code = ResponseCode.PULL_OFFSET_MOVED if is_moved else _CODES[status]
    if code is ResponseCode.PULL_OFFSET_MOVED and check is OffsetCheck.LEFT_ALONE:
        return ResponseCode.PULL_RETRY_IMMEDIATELY
    return code


def derive_suggested_broker_id(
    *, is_slave_read_enabled: bool, is_slow: bool, normal_broker_id: int = 0, slow_broker_id: int = 1
) -> int:
    """The broker id that the client should pull from next: a slave only for who is far behind.

    Clause: broker.pull.suggested-broker
    """
    if not is_slave_read_enabled:
        return 0
    return slow_broker_id if is_slow else normal_broker_id
