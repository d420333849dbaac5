"""Replies find the client that asked, and are stored whatever became of that."""

from dataclasses import replace

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE, SYNC_STORE, BrokerWorld, Client
from refimpl.broker.intake import Intake, Stored
from refimpl.broker.reply_desk import ReplyDesk
from refimpl.broker.settings import BrokerSettings
from refimpl.store.message_store import Appended
from refimpl.store.new_message import NewMessage
from spec.broker.send import PutStatus
from spec.override import override
from spec.values.message_id import MessageId, encode_message_id
from spec.values.name import AUTO_CREATE_TOPIC
from spec.values.property import encode_properties
from spec.values.system_flag import COMPRESSED
from spec.values.units import CommitLogPosition, Milliseconds, QueueId
from spec.wire.body.heartbeat import HeartbeatData, ProducerData
from spec.wire.code import RequestCode
from spec.wire.frame import Frame
from spec.wire.header.send import ReplyMessageHeader, SendMessageHeader
from spec.wire.reply import derive_reply

TOPIC = "DefaultCluster_REPLY_TOPIC"
MARKS = {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}
TEXT = encode_properties({"REPLY_TO_CLIENT": "asker", "CORRELATION_ID": "7", "WAIT": "true"})
NOT_FOUND = "push reply message fail, channel of <asker> not found."
FAILED = "push reply message to asker fail."


def make(settings: BrokerSettings | None = None) -> BrokerWorld:
    world = BrokerWorld(settings)
    broker = world.broker
    broker.serve(ReplyDesk(broker.parts, broker.producers, broker.call).handlers())
    return world


def ask(world: BrokerWorld) -> Client:
    """A client that waits for replies."""
    client = world.connect()
    client.call(RequestCode.HEART_BEAT, None, HeartbeatData("asker", (ProducerData("p"),)).encode())
    return client


def reply(
    client: Client,
    text: str | None = TEXT,
    *,
    topic: str = TOPIC,
    queue: int = 0,
    code: RequestCode = RequestCode.SEND_REPLY_MESSAGE_V2,
) -> int:
    header = SendMessageHeader(
        "p", topic, AUTO_CREATE_TOPIC, 4, QueueId(queue), COMPRESSED | 4, Milliseconds(1_000), 5, text, 0
    )
    return client.caller.request(code, header, b"answer")


def confirm(client: Client, code: int = 0) -> Frame:
    """The reply that the client was handed, which it takes."""
    (push,) = client.caller.pushes
    client.caller.send(derive_reply(push, code))
    return push


def message_id(position: int) -> str:
    return encode_message_id(MessageId(BrokerSettings().host, CommitLogPosition(position)))


@pytest.mark.clause(
    "broker.reply.goes-to-the-asker", "broker.reply.says-when-pushed", "broker.reply.success-means-pushed"
)
@pytest.mark.parametrize("code", [RequestCode.SEND_REPLY_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2])
def test_a_reply_is_handed_to_the_asker_and_its_sender_hears_when_it_was_taken(code: RequestCode) -> None:
    world = make()
    asker, sender = ask(world), world.connect()
    at_ms = world.world.now_ms
    opaque = reply(sender, code=code)
    world.run_for(100)
    assert sender.caller.replies == {}
    push = confirm(asker)
    told = ReplyMessageHeader.decode(push.extension_fields)
    properties = encode_properties(
        {
            "REPLY_TO_CLIENT": "asker",
            "CORRELATION_ID": "7",
            "WAIT": "true",
            "PUSH_REPLY_TIME": str(told.store_timestamp),
        }
    )
    assert at_ms <= told.store_timestamp <= at_ms + 100
    assert told == ReplyMessageHeader(
        "p",
        TOPIC,
        AUTO_CREATE_TOPIC,
        4,
        QueueId(0),
        COMPRESSED | 4,
        Milliseconds(1_000),
        5,
        told.born_host,
        "/127.0.0.1:10911",
        told.store_timestamp,
        properties,
        0,
    )
    assert told.born_host.startswith("/127.0.0.1:")
    assert (push.code, push.body, push.flag) == (326, b"answer", 0)
    answer = sender.caller.await_reply(opaque)
    assert (answer.code, answer.remark) == (0, None)
    stored = {"msgId": message_id(0), "queueId": "0", "queueOffset": "0"}
    assert answer.extension_fields == {**stored, **MARKS}


@pytest.mark.clause("broker.reply.stored-as-sent")
def test_a_reply_is_stored_as_it_was_sent_with_the_flags_that_its_body_needs() -> None:
    world = make()
    asker, sender = ask(world), world.connect()
    reply(sender)
    world.run_for(100)
    confirm(asker)
    world.run_for(100)
    (stored,) = sender.pull_all(TOPIC, 0)
    assert (stored.body, stored.flag, stored.system_flag, stored.born_at_ms) == (
        b"answer",
        5,
        COMPRESSED,
        1_000,
    )
    assert encode_properties(stored.properties()) == TEXT
    world.judge()


@pytest.mark.clause("broker.reply.goes-to-the-asker", "broker.reply.stored-as-sent")
@pytest.mark.parametrize(
    ("text", "remark"),
    [
        (TEXT, NOT_FOUND),
        (None, "the reply names no client to go to (property REPLY_TO_CLIENT)"),
        (
            encode_properties({"CORRELATION_ID": "7"}),
            "the reply names no client to go to (property REPLY_TO_CLIENT)",
        ),
    ],
)
def test_a_reply_that_nobody_waits_for_is_an_error_and_is_stored(text: str | None, remark: str) -> None:
    world = make()
    sender = world.connect()
    answer = sender.caller.await_reply(reply(sender, text))
    assert (answer.code, answer.remark, answer.extension_fields) == (1, remark, MARKS)
    assert [stored.body for stored in sender.pull_all(TOPIC, 0)] == [b"answer"]


@pytest.mark.clause("broker.reply.success-means-pushed")
def test_an_asker_that_refuses_closes_or_keeps_silent_is_an_error_after_ten_seconds_at_most() -> None:
    world = make()
    asker, sender = ask(world), world.connect()
    refused = reply(sender)
    world.run_for(100)
    confirm(asker, code=1)
    answer = sender.caller.await_reply(refused)
    assert (answer.code, answer.remark) == (1, FAILED)
    begun_ms = world.world.now_ms
    answer = sender.caller.await_reply(reply(sender))
    assert (answer.code, answer.remark) == (1, FAILED)
    assert 10_000 <= world.world.now_ms - begun_ms <= 13_000
    closed = reply(sender)
    world.run_for(100)
    asker.caller.close()
    answer = sender.caller.await_reply(closed)
    assert (answer.code, answer.remark) == (1, FAILED)
    assert len(sender.pull_all(TOPIC, 0)) == 3


@pytest.mark.parametrize(
    ("topic", "queue", "code"), [("T", 4, 1), ("SCHEDULE_TOPIC_XXXX", 0, 16), ("bad topic", 0, 1)]
)
def test_a_reply_to_a_place_that_no_send_may_use_is_refused_and_handed_to_nobody(
    topic: str, queue: int, code: int
) -> None:
    world = make()
    asker, sender = ask(world), world.connect()
    answer = sender.caller.await_reply(reply(sender, topic=topic, queue=queue))
    remark = f"a reply cannot go to {topic}, queue {queue}: no such topic or queue, or it is closed to sends"
    assert (answer.code, answer.remark, answer.extension_fields) == (code, remark, MARKS)
    assert asker.caller.pushes == []


def test_a_reply_without_a_queue_gets_one_of_its_topic_and_a_missing_topic_is_created() -> None:
    world = make()
    asker, sender = ask(world), world.connect()
    opaque = reply(sender, topic="T", queue=-1)
    world.run_for(100)
    confirm(asker)
    fields = sender.caller.await_reply(opaque).extension_fields or {}
    assert [stored.body for stored in sender.pull_all("T", int(fields["queueId"]))] == [b"answer"]


def test_with_synchronous_flush_the_answer_waits_for_both() -> None:
    world = make(BrokerSettings(store=SYNC_STORE))
    asker, sender = ask(world), world.connect()
    opaque = reply(sender)
    world.run_for(100)
    confirm(asker)
    answer = sender.caller.await_reply(opaque)
    assert (answer.code, (answer.extension_fields or {})["msgId"]) == (0, message_id(0))


def test_too_many_replies_in_hand_are_refused_as_busy() -> None:
    world = make(BrokerSettings(store=SMALL_STORE, waiting_send_limit=1))
    asker, sender = ask(world), world.connect()
    first = reply(sender)
    world.run_for(100)
    second = sender.caller.await_reply(reply(sender))
    assert (second.code, second.remark) == (2, "[OVERLOAD] too many replies and sends wait, try again later")
    confirm(asker)
    assert sender.caller.await_reply(first).code == 0
    asker.caller.pushes.clear()
    third = reply(sender)
    world.run_for(100)
    confirm(asker)
    assert sender.caller.await_reply(third).code == 0


class CatchingIntake(Intake):
    """Keeps what is put, and stores nothing."""

    def __init__(self) -> None:
        self.caught: list[NewMessage] = []

    @property
    @override
    def waiting_count(self) -> int:
        return 0

    @override
    def put(self, message: NewMessage, now_ms: int, then: Stored) -> None:
        self.caught.append(message)
        then(PutStatus.SERVICE_NOT_AVAILABLE, Appended(PutStatus.SERVICE_NOT_AVAILABLE), now_ms)


@pytest.mark.clause("broker.reply.success-means-pushed")
def test_a_reply_that_cannot_be_stored_is_a_success_without_a_message_if_the_asker_has_it() -> None:
    world = BrokerWorld()
    broker, intake = world.broker, CatchingIntake()
    parts = replace(broker.parts, intake=intake)
    broker.serve(ReplyDesk(parts, broker.producers, broker.call).handlers())
    asker, sender = ask(world), world.connect()
    for text in (TEXT, TEXT.replace("true", "false")):
        opaque = reply(sender, text)
        world.run_for(100)
        confirm(asker)
        asker.caller.pushes.clear()
        answer = sender.caller.await_reply(opaque)
        nowhere = {"msgId": "0", "queueId": "0", "queueOffset": "0"}
        assert (answer.code, answer.extension_fields) == (0, {**nowhere, **MARKS})
    assert [message.waits for message in intake.caught] == [True, False]
