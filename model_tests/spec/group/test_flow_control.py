"""Flow control: three limits, each allowed itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.group.consumption import ListenerKind
from spec.group.flow_control import (
    MEBIBYTE,
    PAUSE_MS,
    Pause,
    PullLimits,
    derive_queue_limit,
    derive_queue_limits,
    judge_flow,
)
from spec.group.process_queue import ProcessQueue
from spec.values.units import QueueOffset

CONCURRENT, ORDERLY = ListenerKind.CONCURRENT, ListenerKind.ORDERLY


@pytest.mark.clause("group.flow-control.limits", "group.flow-control.span-concurrent-only")
@pytest.mark.parametrize(
    ("count", "size", "span", "kind", "pause"),
    [
        (1000, 0, 0, CONCURRENT, None),
        (1001, 0, 0, CONCURRENT, Pause.COUNT),
        (0, 101 * MEBIBYTE - 1, 0, CONCURRENT, None),
        (0, 101 * MEBIBYTE, 0, CONCURRENT, Pause.SIZE),
        (2, 0, 2000, CONCURRENT, None),
        (2, 0, 2001, CONCURRENT, Pause.SPAN),
        (2, 0, 2001, ORDERLY, None),
        (1001, 101 * MEBIBYTE, 2001, CONCURRENT, Pause.COUNT),
    ],
)
def test_limit_is_passed_only_by_exceeding_it(
    count: int, size: int, span: int, kind: ListenerKind, pause: Pause | None
) -> None:
    assert judge_flow(count, size, span, kind) is pause
    assert PAUSE_MS == 50


@pytest.mark.clause("group.flow-control.empty-never-paused")
@given(st.sets(st.integers(0, 50).map(QueueOffset), max_size=20), st.sampled_from(ListenerKind))
def test_queue_is_not_paused_once_everything_is_finished(
    offsets: set[QueueOffset], kind: ListenerKind
) -> None:
    queue: ProcessQueue[None] = ProcessQueue()
    queue.put((offset, MEBIBYTE, None) for offset in sorted(offsets))
    queue.take(2)
    queue.commit()
    queue.remove(sorted(offsets))
    assert judge_flow(queue.count, queue.size, queue.span(), kind, PullLimits(0, 0, 0)) is None


@pytest.mark.clause("group.flow-control.topic-limit-divided")
@pytest.mark.parametrize(
    ("topic_limit", "held", "limit"), [(-1, 8, 1000), (100, 8, 12), (3, 8, 1), (100, 1, 100), (100, 0, 1000)]
)
def test_topic_limit_is_divided_among_the_held_queues(topic_limit: int, held: int, limit: int) -> None:
    assert derive_queue_limit(1000, topic_limit, held) == limit


@pytest.mark.clause("group.flow-control.topic-limit-divided")
def test_span_is_never_divided() -> None:
    assert derive_queue_limits(PullLimits(), 500, 10, 4) == PullLimits(count=125, size_mib=2, span=2000)


@pytest.mark.clause("group.flow-control.topic-limit-divided")
@pytest.mark.parametrize(
    ("topic_count", "topic_size_mib", "held", "limits"),
    [
        (-1, -1, 4, PullLimits(70, 9, 7)),
        (500, -1, 4, PullLimits(125, 9, 7)),
        (-1, 10, 4, PullLimits(70, 2, 7)),
        (500, 10, 0, PullLimits(70, 9, 7)),
        (500, 10, 4, PullLimits(125, 2, 7)),
    ],
)
def test_limit_that_is_not_given_for_the_topic_stays_as_it_was(
    topic_count: int, topic_size_mib: int, held: int, limits: PullLimits
) -> None:
    assert derive_queue_limits(PullLimits(70, 9, 7), topic_count, topic_size_mib, held) == limits
