"""Flow control: a queue is not pulled while too much of it waits in memory.

Three limits a queue: how many messages, how many whole mebibytes, and, for concurrent listeners,
how far the pending offsets are spread (a slow message in front holds the position back, and a
crash would repeat the whole spread). Each limit is passed only by exceeding it. A paused queue is
looked at again soon; since the counters equal the buffer, an empty buffer is never paused, so a
pause always ends when listeners do.

Limits may also be given for a whole topic; they are then divided among the queues that are held,
at each change of the assignment.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.group.consumption import ListenerKind
from spec.values.units import Milliseconds

MEBIBYTE: Final = 1024 * 1024
UNLIMITED: Final = -1
"""Apache's value for a topic limit that is not set."""

PAUSE_MS: Final = Milliseconds(50)
"""When a paused queue is looked at again."""


class Pause(Enum):
    """Which limit is exceeded."""

    COUNT = "too many messages"
    SIZE = "too many bytes"
    SPAN = "offsets too far apart"


@dataclass(frozen=True, slots=True)
class PullLimits:
    """The limits of one queue; defaults are Apache's."""

    count: int = 1000
    size_mib: int = 100
    span: int = 2000


DEFAULT_PULL_LIMITS: Final = PullLimits()


def judge_flow(
    count: int, size: int, span: int, kind: ListenerKind, limits: PullLimits = DEFAULT_PULL_LIMITS
) -> Pause | None:
    """The first limit that is exceeded, None if the queue may be pulled; `size` is in bytes.

    Clauses: group.flow-control.limits, group.flow-control.span-concurrent-only,
    group.flow-control.empty-never-paused
    """
    if count > limits.count:
        return Pause.COUNT
    if size // MEBIBYTE > limits.size_mib:
        return Pause.SIZE
    if kind is ListenerKind.CONCURRENT and span > limits.span:
        return Pause.SPAN
    return None


def derive_queue_limit(current: int, topic_limit: int, held_queue_count: int) -> int:
    """The limit of one queue after the assignment changed: its part of the topic's, at least 1.

    Apache divides by all queues the consumer holds, whatever their topic.

    Clause: group.flow-control.topic-limit-divided
    """
    if topic_limit == UNLIMITED or held_queue_count == 0:
        return current
    return max(1, topic_limit // held_queue_count)


def derive_queue_limits(
    current: PullLimits, topic_count: int, topic_size_mib: int, held_queue_count: int
) -> PullLimits:
    """All limits of one queue after the assignment changed; the span is never divided.

    Clause: group.flow-control.topic-limit-divided
    """
    return PullLimits(
        count=derive_queue_limit(current.count, topic_count, held_queue_count),
        size_mib=derive_queue_limit(current.size_mib, topic_size_mib, held_queue_count),
        span=current.span,
    )
