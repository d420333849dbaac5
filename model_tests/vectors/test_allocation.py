"""Allocations that a running 4.9.3 made: queues 0 to 7 of TopicTest on broker-a, members c1, c2, c3."""

import pytest

from spec.group.allocation.averagely import Averagely
from spec.group.allocation.circle import Circle
from spec.group.allocation.consistent_hash import ConsistentHash, derive_md5_point
from spec.group.allocation.strategy import Strategy, derive_view
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId

VIEW = derive_view([MessageQueue("TopicTest", "broker-a", QueueId(n)) for n in range(8)], ["c1", "c2", "c3"])


@pytest.mark.clause(
    "group.allocation.average-slices",
    "group.allocation.circle-deals",
    "group.allocation.consistent-hash-ring",
    "group.allocation.partition",
)
@pytest.mark.parametrize(
    ("strategy", "shares"),
    [
        (Averagely(), [[0, 1, 2], [3, 4, 5], [6, 7]]),
        (Circle(), [[0, 3, 6], [1, 4, 7], [2, 5]]),
        (ConsistentHash(), [[0, 4, 5, 7], [1, 6], [2, 3]]),
    ],
    ids=lambda value: value.name if hasattr(value, "name") else "",
)
def test_shares_are_those_seen_on_4_9_3(strategy: Strategy, shares: list[list[int]]) -> None:
    found = [[queue.queue_id for queue in strategy.allocate(VIEW, member)] for member in VIEW.members]
    assert found == shares


@pytest.mark.clause("group.allocation.consistent-hash-ring")
def test_ring_point_is_the_first_four_bytes_of_md5() -> None:
    assert derive_md5_point("") == 0xD41D8CD9
    assert derive_md5_point("abc") == 0x90015098
