"""One rebalance pass: assignment, fate of what is held, acquisitions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.group.allocation.averagely import Averagely
from spec.group.consumption import ConsumeType, ListenerKind, MessageModel, is_lock_needed
from spec.group.rebalance import (
    AcquireStep,
    Assignment,
    Change,
    Drop,
    Fate,
    Held,
    NoAnswer,
    derive_acquirable,
    derive_acquire_steps,
    derive_assignment,
    derive_change,
    derive_unsubscribed,
)
from spec.group.tenure import TenureNumber
from spec.values.message_queue import MessageQueue
from spec.values.units import Milliseconds, QueueId

NOW = Milliseconds(500_000)


def queue(number: int, topic: str = "T") -> MessageQueue:
    return MessageQueue(topic, "b", QueueId(number))


def held(number: int, idle_ms: int = 0, topic: str = "T") -> Held:
    return Held(queue(number, topic), TenureNumber(number + 1), Milliseconds(NOW - idle_ms))


@pytest.mark.clause("group.rebalance.fixed-order", "group.rebalance.drops-unassigned")
def test_pass_keeps_drops_and_acquires_in_queue_order() -> None:
    change = derive_change(
        "T",
        [held(4), held(1), held(3), held(0), held(9, topic="U")],
        Assignment((queue(1), queue(2), queue(4), queue(5))),
        NOW,
    )
    assert change == Change(
        keep=(held(1), held(4)),
        drop=(Drop(held(0), Fate.NOT_ASSIGNED), Drop(held(3), Fate.NOT_ASSIGNED)),
        acquire=(queue(2), queue(5)),
    )


@pytest.mark.clause("group.rebalance.replaces-dead-pull")
def test_dead_pull_is_dropped_and_acquired_again_only_beyond_the_limit() -> None:
    wanted = Assignment((queue(0), queue(1)))
    change = derive_change("T", [held(0, 120_000), held(1, 120_001)], wanted, NOW)
    assert change == Change((held(0, 120_000),), (Drop(held(1, 120_001), Fate.PULL_EXPIRED),), (queue(1),))


@pytest.mark.clause("group.rebalance.replaces-dead-pull", "group.tenure.one-live")
def test_queue_whose_listener_still_runs_is_not_acquired_in_the_same_pass() -> None:
    wanted = Assignment((queue(0), queue(1), queue(2)))
    change = derive_change("T", [held(0, 120_001), held(1, 120_001)], wanted, NOW)
    assert derive_acquirable(change, {queue(1)}) == (queue(0), queue(2))


@pytest.mark.clause("group.rebalance.replaces-dead-pull")
def test_pull_consumer_keeps_what_its_user_does_not_pull() -> None:
    change = derive_change(
        "T", [held(0, 999_999)], Assignment((queue(0),)), NOW, consume_type=ConsumeType.PULL
    )
    assert change == Change((held(0, 999_999),), (), ())


@pytest.mark.clause("group.rebalance.no-answer-no-change")
@pytest.mark.parametrize(
    ("change", "is_nothing"),
    [
        (Change((held(0),), (), ()), True),
        (Change((), (Drop(held(0), Fate.NOT_ASSIGNED),), ()), False),
        (Change((), (), (queue(0),)), False),
        (Change((), (Drop(held(0), Fate.PULL_EXPIRED),), (queue(0),)), False),
    ],
)
def test_pass_is_nothing_only_without_drops_and_acquisitions(change: Change, *, is_nothing: bool) -> None:
    assert change.is_nothing() is is_nothing


@pytest.mark.clause("group.rebalance.replaces-dead-pull")
def test_pull_is_dead_beyond_the_limit_that_is_given() -> None:
    wanted = Assignment((queue(0), queue(1)))
    change = derive_change("T", [held(0, 10), held(1, 11)], wanted, NOW, idle_limit_ms=Milliseconds(10))
    assert change == Change((held(0, 10),), (Drop(held(1, 11), Fate.PULL_EXPIRED),), (queue(1),))


@pytest.mark.clause("group.rebalance.no-answer-no-change")
@pytest.mark.parametrize(
    ("queues", "members", "reason"),
    [
        (None, ["c1"], "the route is not known"),
        ([queue(0)], None, "the member list is not known"),
        ([], ["c1"], "the view has no queues"),
        ([queue(0)], [], "the view has no members"),
    ],
)
def test_missing_answer_changes_nothing(
    queues: list[MessageQueue] | None, members: list[str] | None, reason: str
) -> None:
    answer = derive_assignment(MessageModel.CLUSTERING, queues, members, "c1", Averagely())
    assert answer == NoAnswer(reason)
    assert derive_change("T", [held(0, 999_999)], answer, NOW) == Change((held(0, 999_999),), (), ())


@pytest.mark.clause("group.allocation.unlisted-owns-nothing", "group.rebalance.drops-unassigned")
def test_member_missing_from_the_list_drops_everything() -> None:
    answer = derive_assignment(MessageModel.CLUSTERING, [queue(0)], ["c2"], "c1", Averagely())
    assert answer == Assignment(())
    assert derive_change("T", [held(0)], answer, NOW).drop == (Drop(held(0), Fate.NOT_ASSIGNED),)


@pytest.mark.clause("group.rebalance.broadcasting-takes-all")
def test_broadcasting_takes_all_queues_and_drops_those_that_are_gone() -> None:
    answer = derive_assignment(
        MessageModel.BROADCASTING, [queue(1), queue(0), queue(1)], None, "c1", Averagely()
    )
    assert answer == Assignment((queue(0), queue(1)))
    gone = derive_assignment(MessageModel.BROADCASTING, [], None, "c1", Averagely())
    assert derive_change("T", [held(0)], gone, NOW).drop == (Drop(held(0), Fate.NOT_ASSIGNED),)


@pytest.mark.clause("group.rebalance.same-view-one-owner")
@given(st.sets(st.integers(0, 12)), st.sets(st.text("abc", min_size=1, max_size=2), min_size=2, max_size=5))
def test_equal_views_never_give_one_queue_to_two_members(numbers: set[int], members: set[str]) -> None:
    queues = [queue(number) for number in sorted(numbers)]
    taken: list[MessageQueue] = []
    for member in members:
        answer = derive_assignment(MessageModel.CLUSTERING, queues, sorted(members), member, Averagely())
        if isinstance(answer, Assignment):
            taken.extend(answer.queues)
    assert sorted(taken) == queues


@given(st.sets(st.integers(0, 6)), st.sets(st.integers(0, 6)), st.sets(st.integers(0, 6)))
def test_pass_ends_with_exactly_the_assignment(have: set[int], want: set[int], dead: set[int]) -> None:
    current = [held(number, 200_000 if number in dead else 0) for number in have]
    change = derive_change("T", current, Assignment(tuple(queue(number) for number in sorted(want))), NOW)
    after = {one.queue for one in change.keep} | set(change.acquire)
    assert after == {queue(number) for number in want}
    assert {one.queue for one in change.keep}.isdisjoint(change.acquire)
    assert {*change.keep, *(drop.held for drop in change.drop)} == set(current)


@pytest.mark.clause("group.rebalance.drops-unsubscribed")
def test_queues_of_unsubscribed_topics_are_dropped_after_all_passes() -> None:
    drops = derive_unsubscribed([held(1, topic="V"), held(0), held(0, topic="U")], {"T"})
    assert drops == (
        Drop(held(0, topic="U"), Fate.NOT_SUBSCRIBED),
        Drop(held(1, topic="V"), Fate.NOT_SUBSCRIBED),
    )


@pytest.mark.clause("group.rebalance.acquire-order", "group.orderly.broadcasting-takes-no-lock")
def test_acquisition_locks_only_ordered_clustered_queues_and_pulls_only_when_pushing() -> None:
    middle = (AcquireStep.FORGET_OFFSET, AcquireStep.QUERY_START, AcquireStep.BEGIN_TENURE)
    orderly = derive_acquire_steps(ListenerKind.ORDERLY, MessageModel.CLUSTERING)
    assert orderly == (AcquireStep.LOCK, *middle, AcquireStep.PULL)
    broadcasting = derive_acquire_steps(ListenerKind.ORDERLY, MessageModel.BROADCASTING)
    assert broadcasting == (*middle, AcquireStep.PULL)
    pulling = derive_acquire_steps(ListenerKind.CONCURRENT, MessageModel.CLUSTERING, ConsumeType.PULL)
    assert pulling == middle


@pytest.mark.clause("group.orderly.broadcasting-takes-no-lock")
@pytest.mark.parametrize(
    ("kind", "model", "strict", "apache"),
    [
        (ListenerKind.ORDERLY, MessageModel.CLUSTERING, True, True),
        (ListenerKind.ORDERLY, MessageModel.BROADCASTING, False, True),
        (ListenerKind.CONCURRENT, MessageModel.CLUSTERING, False, False),
        (ListenerKind.CONCURRENT, MessageModel.BROADCASTING, False, False),
    ],
)
def test_lock_is_for_ordered_clustered_queues_and_apache_4_9_locks_broadcasting_too(
    kind: ListenerKind, model: MessageModel, *, strict: bool, apache: bool
) -> None:
    assert is_lock_needed(kind, model) is strict
    assert is_lock_needed(kind, model, broadcasting_locks=True) is apache
    assert (AcquireStep.LOCK in derive_acquire_steps(kind, model)) is strict
    assert (AcquireStep.LOCK in derive_acquire_steps(kind, model, broadcasting_locks=True)) is apache
