"""Queue locks: leases by group and queue, and a history that keeps LCK-1."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.broker.lock_table import LockTable
from refimpl.broker.recorder import Recorder
from refimpl.broker.settings import BrokerSettings
from refimpl.history_log import HistoryLog
from spec.broker.lock_lease import Lease, grant, release
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Verdict
from spec.history.declaration import Declaration
from spec.history.event import Event, Outcome
from spec.history.kind import Kind
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId

SEEN = frozenset({Kind.LOCK, Kind.UNLOCK, Kind.UP})


def queues(*ids: int, broker: str = "b", topic: str = "T") -> frozenset[MessageQueue]:
    return frozenset(MessageQueue(topic, broker, QueueId(number)) for number in ids)


class Office:
    """A lock table and its history."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.log = HistoryLog("run", Declaration(SEEN), self.events.append, 0)
        self.locks = LockTable(BrokerSettings(), Recorder(self.log, "b", "b"))

    def history(self) -> list[tuple[Kind, str, str, str, int, str, Outcome]]:
        return [
            (one.kind, one.group, one.topic, one.broker, one.queue, one.client, one.outcome)
            for one in self.events[1:]
        ]


@pytest.mark.clause("broker.lock.one-holder", "broker.lock.unlock-by-holder")
def test_free_queues_are_granted_and_those_of_others_are_not() -> None:
    office = Office()
    locks = office.locks
    assert locks.lock("g", "a", queues(0, 1), 0) == queues(0, 1)
    assert locks.lock("g", "b", queues(1, 2), 10) == queues(2)
    assert locks.lock("h", "b", queues(1), 10) == queues(1)  # another group, another lock
    locks.unlock("g", "b", queues(0), 20)
    locks.unlock("g", "a", queues(1, 7), 30)
    assert locks.lock("g", "b", queues(0, 1), 40) == queues(1)
    place = ("g", "T", "b")
    assert office.history() == [
        (Kind.LOCK, *place, 0, "a", Outcome.OK),
        (Kind.LOCK, *place, 1, "a", Outcome.OK),
        (Kind.LOCK, *place, 1, "b", Outcome.FAIL),
        (Kind.LOCK, *place, 2, "b", Outcome.OK),
        (Kind.LOCK, "h", "T", "b", 1, "b", Outcome.OK),
        (Kind.UNLOCK, *place, 0, "b", Outcome.FAIL),
        (Kind.UNLOCK, *place, 1, "a", Outcome.OK),
        (Kind.UNLOCK, *place, 7, "a", Outcome.FAIL),
        (Kind.LOCK, *place, 0, "b", Outcome.FAIL),
        (Kind.LOCK, *place, 1, "b", Outcome.OK),
    ]


@pytest.mark.clause(
    "broker.lock.renewal", "broker.lock.expired-is-taken-over", "broker.lock.expiry-is-strict"
)
def test_a_lease_that_was_not_renewed_passes_on_after_its_end() -> None:
    locks = Office().locks
    locks.lock("g", "a", queues(0, 1), 0)
    locks.lock("g", "a", queues(0), 20_000)
    assert locks.lock("g", "b", queues(0, 1), 60_000) == frozenset()
    assert locks.lock("g", "b", queues(0, 1), 60_001) == queues(1)
    assert locks.holders("g", 80_000) == {**dict.fromkeys(queues(0), "a"), **dict.fromkeys(queues(1), "b")}
    assert locks.holders("g", 80_001) == dict.fromkeys(queues(1), "b")
    assert locks.lock("g", "b", queues(0), 80_001) == queues(0)


def test_the_same_queue_number_of_another_broker_name_is_another_lock() -> None:
    locks = Office().locks
    assert locks.lock("g", "a", queues(0), 0) == queues(0)
    assert locks.lock("g", "b", queues(0, broker="c"), 0) == queues(0, broker="c")


def test_decisions_are_recorded_in_the_order_of_the_queues_whatever_order_a_set_has() -> None:
    office = Office()
    office.locks.lock("g", "a", queues(*range(20)), 0)
    office.locks.unlock("g", "a", queues(*range(20)), 1)
    assert [event.queue for event in office.events[1:]] == [*range(20), *range(20)]


ASKS = st.lists(
    st.tuples(
        st.booleans(),
        st.sampled_from(["a", "b", "c"]),
        st.sets(st.integers(0, 2), max_size=3),
        st.sampled_from([0, 1, 20_000, 60_000, 60_001]),
    ),
    max_size=30,
)


@pytest.mark.clause("guarantee.lck.lease-respected", "broker.lock.one-holder")
@given(ASKS)
def test_every_history_of_a_lock_table_keeps_lck_1_and_the_table_is_the_rule_queue_by_queue(
    asks: list[tuple[bool, str, set[int], int]],
) -> None:
    office = Office()
    office.log.add(Event("", 0, 0, "b", Kind.UP, broker="b", status="broker"))
    leases: dict[int, Lease | None] = {}
    now_ms = 0
    for is_lock, client, numbers, pause_ms in asks:
        now_ms += pause_ms
        if not is_lock:
            office.locks.unlock("g", client, queues(*numbers), now_ms)
            leases |= {number: release(leases.get(number), client) for number in numbers}
            continue
        granted = office.locks.lock("g", client, queues(*numbers), now_ms)
        after = {number: grant(leases.get(number), client, now_ms) for number in numbers}
        leases |= after
        assert granted == queues(*(number for number, entry in after.items() if entry.client == client))
    office.log.end(now_ms)
    judged = {judgement.rule: judgement.verdict for judgement in judge_history(office.events)}
    grants = any(is_lock and numbers for is_lock, _, numbers, _ in asks)
    assert judged["LCK-1"] is (Verdict.HELD if grants else Verdict.NOT_EXERCISED)
