"""Flow control: more in the buffer never helps, an empty buffer always does."""

from spec.group.consumption import ListenerKind
from spec.group.flow_control import PullLimits, derive_queue_limit, judge_flow


def flow_control_is_monotone(kind: ListenerKind, count: int, size: int, span: int, more: int) -> bool:
    """A queue that is paused stays paused when anything grows.

    clause: group.flow-control.limits
    pre: 0 <= count and 0 <= size and 0 <= span and 0 <= more
    post: __return__
    """
    if judge_flow(count, size, span, kind) is None:
        return True
    return all(
        judge_flow(count + a, size + b, span + c, kind) is not None
        for a, b, c in ((more, 0, 0), (0, more, 0), (0, 0, more))
    )


def empty_buffer_is_never_paused(
    kind: ListenerKind, count_limit: int, size_limit: int, span_limit: int
) -> bool:
    """With any sensible limits an empty buffer may be filled.

    clause: group.flow-control.empty-never-paused
    pre: 0 <= count_limit and 0 <= size_limit and 0 <= span_limit
    post: __return__
    """
    return judge_flow(0, 0, 0, kind, PullLimits(count_limit, size_limit, span_limit)) is None


def limits_themselves_are_allowed(kind: ListenerKind) -> bool:
    """A buffer exactly at its limits is not paused.

    clause: group.flow-control.limits
    post: __return__
    """
    return judge_flow(1000, 101 * 1024 * 1024 - 1, 2000, kind) is None


def span_pauses_concurrent_listeners_only(span: int) -> bool:
    """A wide spread pauses a concurrent listener and not an orderly one.

    clause: group.flow-control.span-concurrent-only
    pre: 2000 < span
    post: __return__
    """
    paused = judge_flow(2, 2, span, ListenerKind.CONCURRENT) is not None
    return paused and judge_flow(2, 2, span, ListenerKind.ORDERLY) is None


def divided_limit_is_at_least_one(current: int, topic_limit: int, queue_count: int) -> bool:
    """A topic limit gives each queue at least one message, and together no more than the topic's.

    clause: group.flow-control.topic-limit-divided
    pre: 1 <= current
    pre: 1 <= topic_limit <= 65535
    pre: 1 <= queue_count <= 64
    post: __return__
    """
    limit = derive_queue_limit(current, topic_limit, queue_count)
    return limit >= 1 and (limit == 1 or limit * queue_count <= topic_limit)
