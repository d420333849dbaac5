"""Decisions of producers: what they make the broker store, and what happens when that fails."""

from dataclasses import replace

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE, SYNC_STORE
from model_tests.refimpl.broker.timed_world import COMMIT, PERIOD_MS, ROLLBACK, UNKNOWN, Producer, TimedWorld
from refimpl.broker.intake import Stored
from refimpl.broker.settings import BrokerSettings
from refimpl.simulated.caller import CallerError
from refimpl.store.message_store import Appended
from refimpl.store.new_message import NewMessage
from spec.broker.send import PutStatus
from spec.guarantees.verdict import Verdict
from spec.history.kind import Kind
from spec.values.name import HALF_TOPIC, OPERATION_TOPIC
from spec.wire.code import ResponseCode


def make_world(*, is_sync: bool = False, **changes: int) -> TimedWorld:
    return TimedWorld(BrokerSettings(store=SYNC_STORE if is_sync else SMALL_STORE, **changes))  # type: ignore[arg-type] # numbers only


def check_transactions(world: TimedWorld) -> None:
    judgements = world.judge()
    assert judgements["TXN-1"].verdict is Verdict.HELD
    assert judgements["TXN-2"].verdict in (Verdict.HELD, Verdict.NOT_EXERCISED)


@pytest.mark.clause("broker.transaction.half-is-hidden")
@pytest.mark.parametrize("is_sync", [False, True])
def test_a_half_message_is_hidden_with_its_target_in_its_properties(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    sent = Producer(world).prepare("k", DELAY="3")
    assert (sent.queue_id, sent.queue_offset) == (0, 0)
    assert world.bodies("T") == []
    (half,) = world.stored(HALF_TOPIC)
    assert half.system_flag == 0
    assert half.properties() == {
        "TRAN_MSG": "true",
        "PGROUP": "interop-producer",
        "UNIQ_KEY": "k",
        "CLUSTER": "DefaultCluster",
        "REAL_TOPIC": "T",
        "REAL_QID": "0",
    }
    assert [(event.offset, event.message) for event in world.kinds(Kind.HALF)] == [(0, "k")]


@pytest.mark.clause(
    "broker.transaction.final-message",
    "broker.transaction.operation-record",
    "broker.transaction.commit-stores-first",
)
@pytest.mark.parametrize("is_sync", [False, True])
def test_a_commit_stores_the_final_message_and_then_the_operation_record(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    producer = Producer(world)
    producer.prepare("first")
    sent = producer.prepare("k")
    answer = producer.decide(sent, COMMIT)
    assert (answer.code, answer.remark) == (ResponseCode.SUCCESS, None)
    half = world.stored(HALF_TOPIC)[1]
    (final,) = world.stored("T")
    (record,) = world.stored(OPERATION_TOPIC)
    assert (final.body, final.properties()) == (half.body, half.properties())
    assert (final.system_flag, final.prepared_position, final.born_at_ms) == (
        8,
        half.position,
        half.born_at_ms,
    )
    assert (record.body, record.properties()) == (b"1", {"TAGS": "d"})
    assert final.position < record.position
    assert [(event.offset, event.message, event.status) for event in world.kinds(Kind.RESOLVE)] == [
        (1, "k", "commit")
    ]
    check_transactions(world)


@pytest.mark.clause("broker.transaction.commit-stores-first")
def test_a_rollback_stores_the_operation_record_alone() -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k")
    assert producer.decide(sent, ROLLBACK).code == ResponseCode.SUCCESS
    assert world.bodies("T") == []
    assert world.bodies(OPERATION_TOPIC) == [b"0"]
    assert [event.status for event in world.kinds(Kind.RESOLVE)] == ["rollback"]
    check_transactions(world)


@pytest.mark.clause("broker.transaction.unknown-is-ignored")
def test_an_unknown_decision_changes_nothing_and_gets_no_answer() -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k")
    with pytest.raises(CallerError):
        producer.decide(sent, UNKNOWN)
    assert world.bodies("T") == world.bodies(OPERATION_TOPIC) == []


@pytest.mark.clause("broker.transaction.decision-matches-half")
@pytest.mark.parametrize("kind", [COMMIT, ROLLBACK])
@pytest.mark.parametrize(
    "changes",
    [
        {"producer_group": "other"},
        {"tran_state_table_offset": 1},
        {"commit_log_offset": 3},
        {"commit_log_offset": -1},
        {"commit_log_offset": 2**62},
    ],
)
def test_a_decision_about_another_place_is_refused(kind: int, changes: dict[str, object]) -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k")
    answer = producer.decide(sent, kind, **changes)
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert (answer.remark or "").startswith("no half message of group")
    assert world.bodies("T") == world.bodies(OPERATION_TOPIC) == []


@pytest.mark.clause("broker.transaction.decision-matches-half")
def test_a_decision_that_names_an_ordinary_message_is_refused() -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k")
    producer.decide(sent, COMMIT)
    (final,) = world.stored("T")
    answer = producer.decide(sent, COMMIT, commit_log_offset=final.position)
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert len(world.bodies("T")) == 1


def test_a_number_that_is_no_decision_is_refused() -> None:
    world = make_world()
    producer = Producer(world)
    answer = producer.decide(producer.prepare("k"), 7)
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, "7 is no decision: 0, 8 and 12 are")


@pytest.mark.clause("broker.transaction.slave-refuses")
def test_a_replica_refuses_a_decision() -> None:
    world = make_world(broker_id=1)
    producer = Producer(world)
    answer = producer.decide(producer.prepare("k"), COMMIT)
    assert (answer.code, answer.remark) == (11, "this broker is a replica: tell the master")


@pytest.mark.parametrize("is_sync", [False, True])
def test_the_same_decision_twice_is_carried_out_once_and_the_opposite_is_refused(is_sync: bool) -> None:  # noqa: FBT001
    world = make_world(is_sync=is_sync)
    producer = Producer(world)
    sent = producer.prepare("k")
    answers = [producer.decide(sent, kind) for kind in (COMMIT, COMMIT, ROLLBACK)]
    assert [answer.code for answer in answers] == [0, 0, 1]
    assert answers[2].remark == "the opposite was decided already"
    assert (len(world.bodies("T")), len(world.bodies(OPERATION_TOPIC))) == (1, 1)
    check_transactions(world)


def test_decisions_that_come_while_the_first_waits_for_its_flush_are_heard_afterwards() -> None:
    world = make_world(is_sync=True)
    one, two = Producer(world), Producer(world)
    sent = one.prepare("k")
    world.run_for(100)
    opaques = [one.begin(sent, COMMIT), two.begin(sent, COMMIT), one.begin(sent, ROLLBACK)]
    codes = [
        producer.client.caller.await_reply(opaque).code
        for producer, opaque in zip((one, two, one), opaques, strict=True)
    ]
    assert sorted(codes) in ([0, 0, 1], [0, 1, 1])
    assert len(world.bodies(OPERATION_TOPIC)) == 1
    check_transactions(world)


@pytest.mark.parametrize("kind", [COMMIT, ROLLBACK])
def test_a_store_that_takes_nothing_refuses_the_decision_and_the_half_message_stays_open(kind: int) -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k")
    world.run_for(1_000)
    world.disk.capacity = world.disk.used_bytes()
    # Room that the last sector still has is used up first.
    while (answer := producer.ask_to_store(b"x" * 100)).code == 0:
        pass
    assert answer.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert producer.decide(sent, kind).code == ResponseCode.SERVICE_NOT_AVAILABLE
    world.disk.capacity = None
    world.run_for(2 * PERIOD_MS)
    assert len(producer.questions()) >= 1
    assert producer.decide(sent, kind).code == ResponseCode.SUCCESS
    check_transactions(world)


class Refusing:
    """An intake that does not take operation records for a while."""

    def __init__(self, world: TimedWorld, refusals: int) -> None:
        self.left = refusals
        self._put = world.broker.parts.intake.put
        world.broker.parts.intake.put = self.put  # type: ignore[method-assign] # a store that fails just here

    def put(self, message: NewMessage, now_ms: int, then: Stored) -> None:
        if message.topic == OPERATION_TOPIC and self.left > 0:
            self.left -= 1
            then(PutStatus.SERVICE_NOT_AVAILABLE, Appended(PutStatus.SERVICE_NOT_AVAILABLE, "full"), now_ms)
        else:
            self._put(message, now_ms, then)


@pytest.mark.clause("broker.transaction.commit-stores-first")
@pytest.mark.parametrize("is_sync", [False, True])
def test_an_operation_record_that_fails_behind_its_final_message_is_tried_until_it_stands(
    is_sync: bool,  # noqa: FBT001
) -> None:
    world = make_world(is_sync=is_sync)
    producer = Producer(world)
    sent = producer.prepare("k")
    refusing = Refusing(world, 100)
    assert producer.decide(sent, COMMIT).code == ResponseCode.SUCCESS
    opaque = producer.begin(sent, COMMIT)
    world.run_for(PERIOD_MS)
    # The round waits for it; nobody is asked, and nothing is stored twice.
    assert producer.questions() == []
    assert world.bodies(OPERATION_TOPIC) == []
    refusing.left = 0
    world.run_for(3_000)
    assert producer.client.caller.await_reply(opaque).code == ResponseCode.SUCCESS
    assert (len(world.bodies("T")), world.bodies(OPERATION_TOPIC)) == (1, [b"0"])
    world.run_for(2 * PERIOD_MS)
    assert producer.questions() == []
    check_transactions(world)


def test_a_rollback_whose_record_is_refused_may_be_said_again() -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k")
    Refusing(world, 1)
    assert [producer.decide(sent, ROLLBACK).code for _ in range(2)] == [14, 0]
    assert world.bodies(OPERATION_TOPIC) == [b"0"]


def test_a_crash_between_the_final_message_and_its_record_leaves_the_transaction_open() -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k")
    Refusing(world, 100)
    producer.decide(sent, COMMIT)
    world.broker.store.flush(world.now_ms, is_forced=True)
    world.crash()
    producer = Producer(world)
    world.run_for(PERIOD_MS + 1_000)
    ((question, _),) = producer.questions()
    again = replace(sent, msg_id=question.offset_msg_id or "", queue_offset=question.tran_state_table_offset)
    assert producer.decide(again, COMMIT).code == ResponseCode.SUCCESS
    # Stored twice, as is allowed; lost it is not.
    assert world.bodies("T") == [b"body of k"] * 2
    world.run_for(2 * PERIOD_MS)
    assert producer.questions() == []
    check_transactions(world)


def test_a_half_message_that_does_not_say_where_it_belongs_cannot_be_committed() -> None:
    world = make_world()
    producer = Producer(world)
    sent = producer.prepare("k")
    (half,) = world.stored(HALF_TOPIC)
    text = "PGROUP\1interop-producer"
    bad = NewMessage(HALF_TOPIC, half.queue_id, b"x", half.born_host, half.store_host, text)
    world.broker.parts.intake.put(bad, world.now_ms, lambda *_: None)
    world.run_for(1_000)
    place = {"tran_state_table_offset": 1, "commit_log_offset": world.stored(HALF_TOPIC)[1].position}
    answer = producer.decide(sent, COMMIT, **place)
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert "names no real topic" in (answer.remark or "")
    assert producer.decide(sent, ROLLBACK, **place).code == ResponseCode.SUCCESS
