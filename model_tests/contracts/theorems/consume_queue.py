"""Units of the consume queue: bytes, places, and how a queue grows."""

from spec.layout.consume_queue import (
    Unit,
    decode_unit_lanes,
    derive_queue_offset,
    derive_readable_units,
    derive_unit_place,
    encode_unit_lanes,
    join_lanes,
    split_lanes,
)
from spec.layout.queue_append import GapRule, Put, QueueTail, derive_put, put_unit
from spec.values.units import ByteCount, CommitLogPosition, QueueOffset, TagCode


def unit_lanes_read_back(high: int, low: int, size: int, tag_high: int, tag_low: int) -> bool:
    """A unit's five 32-bit lanes read back as they were written.

    clause: store.queue.unit-layout
    pre: 0 <= high < 2**32
    pre: 0 <= low < 2**32
    pre: -(2**31) <= size < 2**31
    pre: 0 <= tag_high < 2**32
    pre: 0 <= tag_low < 2**32
    post: __return__
    """
    lanes = (high, low, size, tag_high, tag_low)
    return decode_unit_lanes(encode_unit_lanes(*lanes)) == lanes


def lanes_join_to_the_number_they_were_split_from(value: int) -> bool:
    """Splitting and joining a signed 64-bit number changes nothing.

    clause: store.queue.unit-layout
    pre: -(2**63) <= value < 2**63
    post: __return__
    """
    high, low = split_lanes(value)
    return 0 <= high < 2**32 and 0 <= low < 2**32 and join_lanes(high, low) == value


def unit_place_leads_back(queue_offset: int, units_per_file: int) -> bool:
    """The place of an offset lies in a whole file, on a whole unit, and leads back to the offset.

    clause: store.queue.unit-place
    pre: 0 <= queue_offset < 2**40
    pre: 1 <= units_per_file <= 4
    post: __return__
    """
    start, at = derive_unit_place(queue_offset, units_per_file)
    size = units_per_file * 20
    inside = start % size == 0 and 0 <= at <= size - 20 and at % 20 == 0
    return inside and derive_queue_offset(start, at) == queue_offset


def one_read_stays_in_one_file(queue_offset: int, end: int, units_per_file: int) -> bool:
    """A read from an offset inside a queue returns at least one unit, all of one file.

    clause: store.queue.read-ends-with-file
    pre: 0 <= queue_offset < end < 2**40
    pre: 1 <= units_per_file <= 4
    post: __return__
    """
    last = queue_offset + derive_readable_units(queue_offset, end, units_per_file) - 1
    start = derive_unit_place(queue_offset, units_per_file)[0]
    return queue_offset <= last < end and derive_unit_place(last, units_per_file)[0] == start


def dispatching_again_changes_nothing(
    next_offset: int, covered: int, position: int, size: int, queue_offset: int
) -> bool:
    """A message that was dispatched once writes nothing the second time.

    clause: store.queue.dispatch-is-idempotent
    pre: 0 <= next_offset < 2**40
    pre: 0 <= covered < 2**40
    pre: 0 <= position < 2**40
    pre: 91 <= size < 2**31
    pre: 0 <= queue_offset < 2**40
    post: __return__
    """
    tail = QueueTail(is_empty=False, next_offset=QueueOffset(next_offset), covered=CommitLogPosition(covered))
    unit = Unit(CommitLogPosition(position), ByteCount(size), TagCode(0))
    after = put_unit(tail, unit, queue_offset, 4).tail
    return put_unit(after, unit, queue_offset, 4).tail == after


def written_unit_stands_at_its_offset(next_offset: int, covered: int, end: int, queue_offset: int) -> bool:
    """If a unit is written at all, the fillers before it bring it to its own offset.

    clause: store.queue.offset-is-place
    pre: 0 <= next_offset < 2**40
    pre: 0 <= covered < 2**40
    pre: 91 <= end < 2**40
    pre: 0 <= queue_offset < 2**40
    post: __return__
    """
    tail = QueueTail(is_empty=False, next_offset=QueueOffset(next_offset), covered=CommitLogPosition(covered))
    unit = Unit(CommitLogPosition(end - 91), ByteCount(91), TagCode(0))
    step = put_unit(tail, unit, queue_offset, 4)
    if not step.writes:
        return step.tail == tail
    return step.fillers >= 0 and next_offset + step.fillers == queue_offset == step.tail.next_offset - 1


def late_queue_is_filled_from_the_start_of_its_file(queue_offset: int, units_per_file: int) -> bool:
    """The fillers before a queue's first unit begin where a file begins, and stay in that file.

    clause: store.queue.filler
    pre: 0 <= queue_offset < 2**40
    pre: 1 <= units_per_file <= 4
    post: __return__
    """
    tail = QueueTail(is_empty=True, next_offset=QueueOffset(0), covered=CommitLogPosition(0))
    unit = Unit(CommitLogPosition(0), ByteCount(91), TagCode(0))
    step = put_unit(tail, unit, queue_offset, units_per_file)
    first = queue_offset - step.fillers
    return first % units_per_file == 0 and 0 <= step.fillers < units_per_file


def gap_is_never_closed(next_offset: int, covered: int, end: int, gap: int) -> bool:
    """An offset that is too high is filled up to by the reference, and misplaced by Apache.

    clause: store.queue.offset-is-place
    pre: 0 <= next_offset < 2**40
    pre: 0 <= covered < end < 2**40
    pre: 1 <= gap < 2**20
    post: __return__
    """
    tail = QueueTail(is_empty=False, next_offset=QueueOffset(next_offset), covered=CommitLogPosition(covered))
    reference = derive_put(tail, end, next_offset + gap)
    apache = derive_put(tail, end, next_offset + gap, gap=GapRule.APPEND_ANYWAY)
    return reference is Put.FILL and apache is Put.MISPLACE
