"""Half messages that were given up come back when somebody asks for it."""

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE
from model_tests.refimpl.broker.timed_world import COMMIT, Producer, TimedWorld
from refimpl.broker.settings import BrokerSettings
from spec.guarantees.verdict import Verdict
from spec.history.kind import Kind
from spec.values.message import Message
from spec.values.name import CHECK_EXCEEDED_TOPIC, HALF_TOPIC
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.transaction import ResumeCheckHeader

CODE = RequestCode.RESUME_CHECK_HALF_MESSAGE


def test_a_half_message_that_was_put_back_is_asked_about_and_may_be_decided() -> None:
    world = TimedWorld(BrokerSettings(store=SMALL_STORE, check_period_ms=5_000))
    producer = Producer(world)
    sent = producer.prepare("k")
    world.run_for(88_000)
    assert len(producer.questions()) == 15
    (given_up,) = world.stored(CHECK_EXCEEDED_TOPIC)
    offset_id = f"7F00000100002A9F{given_up.position:016X}"
    assert producer.client.ask(CODE, ResumeCheckHeader(offset_id)).code == ResponseCode.SUCCESS
    back = world.stored(HALF_TOPIC)[-1]
    assert (back.body, back.properties()["TRANSACTION_CHECK_TIMES"]) == (b"body of k", "0")
    assert [event.offset for event in world.kinds(Kind.HALF)] == [0, 16]
    world.run_for(5_000)
    ((header, _),) = producer.questions()
    place = {
        "tran_state_table_offset": header.tran_state_table_offset,
        "commit_log_offset": header.commit_log_offset,
    }
    assert producer.decide(sent, COMMIT, **place).code == ResponseCode.SUCCESS
    assert world.bodies("T") == [b"body of k"]
    world.run_for(30_000)
    assert producer.questions() == []
    assert world.judge()["TXN-1"].verdict is Verdict.HELD


@pytest.mark.parametrize(
    ("message_id", "remark"),
    [
        ("7F00000100002A9F0000000000000000", "no half message of TRANS_CHECK_MAX_TIME_TOPIC has the id 7F"),
        ("7F00000100002A9F0000000000999999", "no half message of TRANS_CHECK_MAX_TIME_TOPIC has the id 7F"),
        ("rubbish", "at 0: an id has 32 or 56 characters, found 7"),
        (None, "at 0: an id has 32 or 56 characters, found 0"),
    ],
)
def test_what_is_no_given_up_half_message_is_not_put_back(message_id: str | None, remark: str) -> None:
    world = TimedWorld()
    client = world.connect()
    client.send(Message("T", b"ordinary"), 0)
    answer = client.ask(CODE, ResumeCheckHeader(message_id))
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert (answer.remark or "").startswith(remark), answer.remark
    assert world.stored(HALF_TOPIC) == []


def test_a_committed_message_is_no_half_message_any_more() -> None:
    world = TimedWorld()
    producer = Producer(world)
    producer.decide(producer.prepare("k"), COMMIT)
    (final,) = world.stored("T")
    answer = producer.client.ask(CODE, ResumeCheckHeader(f"7F00000100002A9F{final.position:016X}"))
    assert answer.code == ResponseCode.SYSTEM_ERROR
    assert len(world.stored(HALF_TOPIC)) == 1
