"""What happens when a message of the log is dispatched to its queue.

Dispatch repeats itself: after a crash it begins again before the point it had reached. So a
message whose unit is already there must change nothing, and a queue offset must never get a
unit that belongs to another message. Apache looks at two things: whether the log position lies
before what the queue already covers, and whether the queue offset is the next one. Where the
offset is too high Apache writes a line in its log and appends all the same, which gives every
later message of the queue the wrong offset; the reference fills the gap instead.
"""

from enum import Enum
from typing import NamedTuple

from spec.layout.consume_queue import Unit
from spec.values.units import CommitLogPosition, Count, QueueOffset


class QueueTail(NamedTuple):
    """The end of a queue: what a dispatch looks at."""

    is_empty: bool
    """No file yet: the first unit decides where the queue begins."""
    next_offset: QueueOffset
    covered: CommitLogPosition
    """The position behind the last message that has a unit here; 0 if none has."""


def derive_emptied_tail(next_offset: int, log_end: int) -> QueueTail:
    """The end of a queue whose messages were all removed: it has none, and its numbers go on.

    What the log has of it before `log_end` is covered, so no later dispatch brings it back.

    Clause: store.queue.emptied-goes-on
    """
    return QueueTail(is_empty=True, next_offset=QueueOffset(next_offset), covered=CommitLogPosition(log_end))


class Put(Enum):
    """What becomes of a dispatched message."""

    KNOWN = "its log position is already covered: nothing changes"
    DUPLICATE = "its queue offset already has a unit: nothing changes"
    APPEND = "its unit is the next one"
    BEGIN = "its unit is the queue's first: the file before it is filled"
    FILL = "its queue offset is too high: the gap is filled, then its unit follows"
    MISPLACE = "its queue offset is too high: its unit is appended at a lower one"


class GapRule(Enum):
    """What is done about a queue offset that is too high."""

    FILL = "reference"
    APPEND_ANYWAY = "Apache"


class PutStep(NamedTuple):
    """What to write: so many filler units, then the unit if `writes`; and the queue's new end."""

    put: Put
    fillers: Count
    tail: QueueTail

    @property
    def writes(self) -> bool:
        """Whether a unit is written at all."""
        return self.put not in (Put.KNOWN, Put.DUPLICATE)


def derive_put(tail: QueueTail, end: int, queue_offset: int, *, gap: GapRule = GapRule.FILL) -> Put:
    """What becomes of a message that ends at log position `end` and claims `queue_offset`.

    Clauses: store.queue.dispatch-is-idempotent, store.queue.offset-is-place, store.queue.filler
    """
    if end <= tail.covered:
        return Put.KNOWN
    if tail.is_empty:
        return Put.BEGIN if queue_offset > 0 else Put.APPEND
    if queue_offset < tail.next_offset:
        return Put.DUPLICATE
    if queue_offset == tail.next_offset:
        return Put.APPEND
    return Put.FILL if gap is GapRule.FILL else Put.MISPLACE


def put_unit(
    tail: QueueTail, unit: Unit, queue_offset: int, units_per_file: int, *, gap: GapRule = GapRule.FILL
) -> PutStep:
    """The step by which a message enters its queue, or stays out of it.

    Clauses: store.queue.dispatch-is-idempotent, store.queue.offset-is-place, store.queue.filler
    """
    put = derive_put(tail, unit.end, queue_offset, gap=gap)
    fillers = 0
    offset = tail.next_offset
    match put:
        case Put.KNOWN | Put.DUPLICATE:
            return PutStep(put, Count(0), tail)
        case Put.APPEND | Put.MISPLACE:
            offset = tail.next_offset
        case Put.BEGIN:
            fillers = queue_offset % units_per_file
            offset = QueueOffset(queue_offset)
        case Put.FILL:
            fillers = queue_offset - tail.next_offset
            offset = QueueOffset(queue_offset)
    after = QueueTail(is_empty=False, next_offset=QueueOffset(offset + 1), covered=unit.end)
    return PutStep(put, Count(fillers), after)
