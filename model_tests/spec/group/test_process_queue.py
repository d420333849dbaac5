"""The process queue against a naive model and against the frozen algebra."""

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from spec.group.custody import (
    Custody,
    Entry,
    clear,
    commit,
    commit_position,
    is_sound,
    put,
    put_back,
    remove,
    roll_back,
    take,
)
from spec.group.process_queue import ProcessQueue
from spec.values.units import QueueOffset

OFFSETS = st.lists(st.integers(0, 12).map(QueueOffset), max_size=4)


class ProcessQueueMachine(RuleBasedStateMachine):
    """Three forms side by side: the real structure, the frozen value, and a bare dictionary."""

    def __init__(self) -> None:
        super().__init__()
        self.real: ProcessQueue[str] = ProcessQueue()
        self.value = Custody()
        self.state: dict[int, str] = {}
        self.highest = -1
        self.finished: set[int] = set()

    def offsets(self, state: str) -> list[int]:
        return sorted(offset for offset, found in self.state.items() if found == state)

    def naive_position(self) -> int:
        return min(self.state) if self.state else self.highest + 1

    @rule(offsets=OFFSETS)
    def put(self, offsets: list[QueueOffset]) -> None:
        was_consuming = self.value.is_consuming
        for offset in offsets:
            self.state.setdefault(offset, "pending")
            self.highest = max(self.highest, offset)
        self.finished -= set(offsets)
        wakes = self.real.put((offset, offset + 1, f"m{offset}") for offset in offsets)
        self.value, also = put(self.value, tuple(Entry(offset, offset + 1) for offset in offsets))
        assert wakes == also == (bool(self.offsets("pending")) and not was_consuming)

    @rule(offsets=OFFSETS)
    def remove(self, offsets: list[QueueOffset]) -> None:
        was_pending = bool(self.offsets("pending"))
        for offset in set(offsets) & set(self.offsets("pending")):
            del self.state[offset]
            self.finished.add(offset)
        position = self.real.remove(offsets)
        self.value, also = remove(self.value, tuple(offsets))
        assert position == also == (self.naive_position() if was_pending else -1)

    @rule(limit=st.integers(-1, 5))
    def take(self, limit: int) -> None:
        expected = self.offsets("pending")[: max(0, limit)]
        for offset in expected:
            self.state[offset] = "in process"
        taken = self.real.take(limit)
        self.value, also = take(self.value, limit)
        assert taken == [(offset, f"m{offset}") for offset in expected]
        assert [entry.offset for entry in also] == expected

    @rule()
    def commit(self) -> None:
        taken, pending = self.offsets("in process"), self.offsets("pending")
        expected = min([taken[-1] + 1, *pending]) if taken else -1
        for offset in taken:
            del self.state[offset]
            self.finished.add(offset)
        self.value, also = commit(self.value)
        assert self.real.commit() == also == expected

    @rule(offsets=OFFSETS)
    def put_back(self, offsets: list[QueueOffset]) -> None:
        for offset in set(offsets) & set(self.offsets("in process")):
            self.state[offset] = "pending"
        self.real.put_back(offsets)
        self.value = put_back(self.value, tuple(offsets))

    @rule()
    def roll_back(self) -> None:
        self.state = dict.fromkeys(self.state, "pending")
        self.real.roll_back()
        self.value = roll_back(self.value)

    @precondition(lambda self: len(self.state) > 3)
    @rule()
    def clear(self) -> None:
        self.state, self.highest, self.finished = {}, -1, set()
        self.real.clear()
        self.value = clear(self.value)

    @invariant()
    def all_forms_agree(self) -> None:
        pending, taken = self.offsets("pending"), self.offsets("in process")
        assert (self.real.pending.offsets, self.real.in_process.offsets) == (pending, taken)
        assert [entry.offset for entry in self.value.pending] == pending
        assert [entry.offset for entry in self.value.in_process] == taken
        expected = (len(self.state), sum(offset + 1 for offset in self.state), self.highest)
        assert (self.real.count, self.real.size, self.real.highest_seen) == expected
        assert (self.value.count, self.value.size, self.value.highest_seen) == expected
        assert self.real.is_consuming == self.value.is_consuming
        assert self.real.span() == self.value.span() == (pending[-1] - pending[0] if pending else 0)

    @invariant()
    def position_is_the_lowest_in_custody(self) -> None:
        expected = self.naive_position()
        assert self.real.position() == self.value.position() == expected
        assert (
            commit_position(tuple(self.offsets("pending")), tuple(self.offsets("in process")), self.highest)
            == expected
        )

    @invariant()
    def value_is_sound(self) -> None:
        assert is_sound(self.value)


TestProcessQueue = pytest.mark.clause(
    "group.process-queue.position",
    "group.process-queue.counters-equal-content",
    "group.process-queue.put-once",
    "group.process-queue.dispatch-once",
    "group.process-queue.span",
    "group.process-queue.clear-forgets",
)(ProcessQueueMachine.TestCase)


def filled(*offsets: int) -> ProcessQueue[str]:
    queue: ProcessQueue[str] = ProcessQueue()
    queue.put((QueueOffset(offset), 10, f"m{offset}") for offset in offsets)
    return queue


@pytest.mark.clause("group.process-queue.position", "group.process-queue.position-never-falls")
def test_process_queue_returns_lowest_pending_offset_after_out_of_order_completion() -> None:
    queue = filled(5, 6, 7)
    assert [queue.remove([QueueOffset(offset)]) for offset in (7, 5, 6)] == [5, 6, 8]


@pytest.mark.clause("group.process-queue.position", "group.process-queue.position-never-falls")
def test_position_of_a_queue_that_saw_nothing_does_not_pass_message_zero() -> None:
    queue: ProcessQueue[str] = ProcessQueue()
    positions = [queue.position()]
    queue.put([(QueueOffset(0), 10, "m0")])
    positions.append(queue.position())
    queue.clear()
    positions.append(queue.position())
    assert positions == [0, 0, 0]


@pytest.mark.clause("group.process-queue.position")
def test_gaps_in_the_offsets_do_not_matter() -> None:
    queue = filled(5, 100)
    assert queue.remove([QueueOffset(5)]) == 100
    assert queue.remove([QueueOffset(100)]) == 101


@pytest.mark.clause("group.process-queue.nothing-pending-no-position")
def test_result_that_comes_after_a_clear_commits_nothing() -> None:
    queue = filled(5)
    queue.clear()
    assert queue.remove([QueueOffset(5)]) == -1


@pytest.mark.clause("group.process-queue.put-once")
def test_message_in_process_is_not_put_again() -> None:
    queue = filled(5)
    queue.take(1)
    assert not queue.put([(QueueOffset(5), 10, "again")])
    assert (queue.count, queue.pending.offsets) == (1, [])


@pytest.mark.clause("group.process-queue.orderly-commit", "group.process-queue.take-lowest")
def test_orderly_commit_is_one_past_the_last_taken_message() -> None:
    queue = filled(5, 6, 7)
    assert queue.take(2) == [(5, "m5"), (6, "m6")]
    assert queue.commit() == 7
    assert (queue.count, queue.size) == (1, 10)


@pytest.mark.clause("group.process-queue.orderly-commit")
def test_orderly_commit_stops_at_an_earlier_message_that_came_late() -> None:
    queue = filled(5, 6)
    queue.take(2)
    queue.put([(QueueOffset(3), 10, "late")])
    assert queue.commit() == 3


@pytest.mark.clause("group.process-queue.orderly-commit")
@pytest.mark.parametrize(("late", "position"), [(3, 3), (7, 7), (8, 7)])
def test_commit_of_the_frozen_value_passes_no_pending_message(late: int, position: int) -> None:
    taken, _ = take(put(Custody(), (Entry(5, 10), Entry(6, 20)))[0], 2)
    held, _ = put(taken, (Entry(late, 1),))
    after = Custody((Entry(late, 1),), (), max(6, late), count=1, size=1, is_consuming=True)
    assert commit(held) == (after, position)


@pytest.mark.clause("group.process-queue.put-back-conserves")
def test_failed_batch_comes_again_at_its_place() -> None:
    queue = filled(5, 6, 7)
    queue.put_back(offset for offset, _ in queue.take(2))
    assert queue.take(3) == [(5, "m5"), (6, "m6"), (7, "m7")]


@pytest.mark.clause("group.process-queue.put-back-conserves")
def test_message_that_was_never_taken_is_not_put_back() -> None:
    queue = filled(5)
    queue.put_back([QueueOffset(4)])
    assert (queue.count, queue.pending.offsets) == (1, [5])


@pytest.mark.clause("group.process-queue.counters-equal-content")
@pytest.mark.parametrize(
    "value",
    [
        Custody(pending=(Entry(1, 5),), highest_seen=1, count=2, size=5),
        Custody(pending=(Entry(1, 5),), highest_seen=1, count=1, size=4),
        Custody(pending=(Entry(1, 5),), highest_seen=0, count=1, size=5),
        Custody(pending=(Entry(1, 5),), in_process=(Entry(1, 5),), highest_seen=1, count=2, size=10),
        Custody(pending=(Entry(2, 5), Entry(1, 5)), highest_seen=2, count=2, size=10),
        Custody(in_process=(Entry(2, 5), Entry(1, 5)), highest_seen=2, count=2, size=10),
        Custody(in_process=(Entry(1, 5),), highest_seen=1, count=1, size=4),
        Custody(pending=(Entry(-1, 5),), highest_seen=1, count=1, size=5),
    ],
)
def test_values_that_no_operation_can_reach_are_not_sound(value: Custody) -> None:
    assert not is_sound(value)
