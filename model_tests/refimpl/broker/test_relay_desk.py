"""Questions that are handed to a consumer, and its answers that are handed back."""

import pytest

from model_tests.refimpl.broker.admin_world import GROUP, AdminWorld, dialect
from refimpl.remoting.request import Reply
from spec.layout.record import encode_record
from spec.values.message_id import MessageId, encode_message_id
from spec.values.units import CommitLogPosition
from spec.wire.body.running_info import ConsumeDirectlyResult, ConsumeResult, ConsumerRunningInfo
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.client import ConsumeDirectlyHeader, ConsumerRunningInfoHeader

INFO = RequestCode.GET_CONSUMER_RUNNING_INFO
DIRECTLY = RequestCode.CONSUME_MESSAGE_DIRECTLY
WHO = ConsumerRunningInfoHeader(GROUP, "c1", jstack_enable=True)


def test_the_consumer_that_is_named_says_how_it_is_doing() -> None:
    world = AdminWorld()
    admin = world.administrator()
    world.member("c0")
    member = world.member("c1")
    opaque = admin.caller.request(INFO, WHO)
    world.run_for(100)
    asked = member.take(INFO)
    assert asked.extension_fields == {"consumerGroup": GROUP, "clientId": "c1", "jstackEnable": "true"}
    body = dialect(ConsumerRunningInfo({"PROP_CONSUME_TYPE": "CONSUME_PASSIVELY"}))
    member.answer(asked, Reply(0, "a remark", {"x": "y"}, body))
    answer = admin.caller.await_reply(opaque)
    assert (answer.code, answer.remark, answer.extension_fields, answer.body) == (
        ResponseCode.SUCCESS,
        "a remark",
        {"x": "y"},
        body,
    )


@pytest.mark.clause("store.id.offset-id-layout")
def test_the_consumer_that_is_named_consumes_a_message() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.store(2)
    stored = admin.pull_all("T", 0)[1]
    member = world.member("c1")
    name = encode_message_id(MessageId(stored.store_host, stored.position))
    opaque = admin.caller.request(DIRECTLY, ConsumeDirectlyHeader(GROUP, "c1", name))
    world.run_for(100)
    asked = member.take(DIRECTLY)
    fields = {"consumerGroup": GROUP, "clientId": "c1", "msgId": name, "brokerName": "broker-a"}
    assert (asked.extension_fields, asked.body) == (fields, encode_record(stored))
    body = dialect(ConsumeDirectlyResult(ConsumeResult.LATER))
    member.answer(asked, Reply(body=body))
    assert admin.caller.await_reply(opaque).body == body


def test_who_does_not_answer_within_ten_seconds_has_timed_out() -> None:
    world = AdminWorld()
    admin = world.administrator()
    member = world.member("c1")
    begun_ms = world.world.now_ms
    assert admin.refusal(INFO, WHO) == (
        ResponseCode.CONSUME_MSG_TIMEOUT,
        "the consumer <g> <c1> did not answer within 10000 ms",
    )
    assert 10_000 <= world.world.now_ms - begun_ms <= 12_000
    # An answer that comes too late is nobody's.
    member.answer(member.take(INFO), Reply())
    world.run_for(100)


def test_who_leaves_before_it_answers_has_not_timed_out() -> None:
    world = AdminWorld()
    admin = world.administrator()
    member = world.member("c1")
    opaque = admin.caller.request(INFO, WHO)
    world.run_for(100)
    member.caller.close()
    answer = admin.caller.await_reply(opaque)
    assert (answer.code, answer.remark) == (
        ResponseCode.SYSTEM_ERROR,
        "the consumer <g> <c1> left before it answered",
    )


@pytest.mark.clause("wire.version.consumer-operations")
def test_who_is_not_online_or_too_old_is_not_asked() -> None:
    world = AdminWorld()
    admin = world.administrator()
    assert admin.refusal(INFO, WHO) == (
        ResponseCode.SYSTEM_ERROR,
        "the consumer <g> <c1> is not online",
    )
    member = world.member("c1", version=61)
    assert admin.refusal(INFO, WHO) == (
        ResponseCode.SYSTEM_ERROR,
        "the consumer <g> <c1> has version 61, which is too old to be asked",
    )
    assert [frame.code for frame in member.caller.pushes if frame.code == INFO] == []


HOST = AdminWorld().settings.host


@pytest.mark.clause("store.id.offset-id-layout")
@pytest.mark.parametrize(
    ("name", "remark"),
    [
        (None, "a message is named by its offset message id: at 0: an id has 32 or 56 characters, found 0"),
        ("x" * 32, "a message is named by its offset message id: at 0: 'x' is not a hexadecimal digit"),
        (
            encode_message_id(MessageId(HOST, CommitLogPosition(2**40))),
            f"no message stands at position {2**40} of the log",
        ),
        (
            encode_message_id(MessageId(HOST, CommitLogPosition(1))),
            "no message stands at position 1 of the log",
        ),
    ],
)
def test_a_message_that_is_not_there_is_not_consumed(name: str | None, remark: str) -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.store(1)
    world.member("c1")
    code, said = admin.refusal(DIRECTLY, ConsumeDirectlyHeader(GROUP, "c1", name))
    assert (code, (said or "").partition(" [")[0]) == (ResponseCode.SYSTEM_ERROR, remark)
