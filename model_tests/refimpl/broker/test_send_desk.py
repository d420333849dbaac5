"""Sends through the simulated world: what is stored, where, and what the producer is told."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from model_tests.dialogue import PRODUCER_GROUP, Pulled
from model_tests.refimpl.broker.broker_world import SMALL_STORE, SYNC_STORE, BrokerWorld, Client
from refimpl.broker import group_table, topic_table
from refimpl.broker.settings import BrokerSettings
from spec.broker.topic import READ, READ_WRITE, TopicConfig
from spec.history.kind import Kind
from spec.layout.batch import BatchEntry, encode_batch
from spec.values.message import Message
from spec.values.property import decode_properties, encode_properties
from spec.values.units import ByteCount, Milliseconds, QueueId, QueueOffset
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame, encode_frame
from spec.wire.header.send import SendMessageHeader, SendMessageResponseHeader
from spec.wire.header.table import REQUEST_HEADERS

MARKS = {"MSG_REGION": "DefaultRegion", "TRACE_ON": "true"}


def make_header(topic: str, queue_id: int = 0, **changes: object) -> SendMessageHeader:
    header = SendMessageHeader(PRODUCER_GROUP, topic, "TBW102", 4, QueueId(queue_id), 0, Milliseconds(77), 3)
    return replace(header, **changes)  # type: ignore[arg-type] # each test knows its field


def send(client: Client, header: SendMessageHeader, body: bytes = b"body", code: int = 310) -> Frame:
    return client.ask(RequestCode(code), header, body)


def stored(client: Client, topic: str, queue_id: int = 0) -> list[tuple[bytes, Mapping[str, str]]]:
    pulled: Pulled = client.pull(topic, queue_id, 0)
    return [(message.body, decode_properties(message.property_text)) for message in pulled.messages]


@pytest.mark.clause(
    "wire.header-fields.send-answer", "broker.topic.auto-create", "broker.send.stored-properties"
)
@pytest.mark.parametrize("code", [10, 310])
def test_a_send_creates_its_topic_and_is_answered_with_its_place(code: int) -> None:
    world = BrokerWorld()
    client = world.connect()
    properties = encode_properties({"KEYS": "k", "TAGS": "A", "WAIT": "true"})
    answer = send(client, make_header("T", 2, properties=properties, sys_flag=1), b"hello", code)
    expected = SendMessageResponseHeader("7F00000100002A9F0000000000000000", QueueId(2), QueueOffset(0))
    assert (answer.code, answer.remark, answer.extension_fields) == (0, None, {**expected.encode(), **MARKS})
    assert world.broker.parts.topics.find("T") == TopicConfig("T", 4, 4, READ_WRITE)
    (message,) = client.pull("T", 2, 0).messages
    assert message.properties() == {"KEYS": "k", "TAGS": "A", "CLUSTER": "DefaultCluster"}
    assert (message.body, message.flag, message.system_flag, message.born_at_ms) == (b"hello", 3, 1, 77)
    assert (message.born_host.port, message.store_host) == (40_000, world.settings.host)


@pytest.mark.clause("broker.send.guard-order")
@pytest.mark.parametrize(
    ("header", "code"),
    [
        (make_header("bad topic"), ResponseCode.SYSTEM_ERROR),
        (make_header(""), ResponseCode.SYSTEM_ERROR),
        (make_header("t" * 128), ResponseCode.SYSTEM_ERROR),
        (make_header("SCHEDULE_TOPIC_XXXX"), ResponseCode.NO_PERMISSION),
        (make_header("T", default_topic="NoTemplate"), ResponseCode.TOPIC_NOT_EXIST),
        (make_header("BenchmarkTest", 1024), ResponseCode.SYSTEM_ERROR),
        (make_header("BenchmarkTest", 2**31 - 1), ResponseCode.SYSTEM_ERROR),
    ],
)
def test_a_send_that_may_not_be_stored_is_refused_with_the_marks(
    header: SendMessageHeader, code: ResponseCode
) -> None:
    world = BrokerWorld()
    answer = send(world.connect(), header)
    assert (answer.code, answer.extension_fields) == (code, MARKS)
    assert answer.remark is not None
    assert header.topic[:127] in answer.remark
    assert world.kinds(Kind.APPEND) == []


def test_a_broker_that_creates_no_topics_refuses_what_it_does_not_know() -> None:
    world = BrokerWorld(BrokerSettings(store=SMALL_STORE, is_topic_auto_created=False))
    assert send(world.connect(), make_header("T")).code == ResponseCode.TOPIC_NOT_EXIST


def test_a_broker_that_is_closed_to_writing_refuses_ordered_topics_alone() -> None:
    world = BrokerWorld(BrokerSettings(store=SMALL_STORE, permission=READ))
    world.broker.parts.topics.put(TopicConfig("Ordered", 4, 4, READ_WRITE, is_ordered=True), 1)
    client = world.connect()
    assert send(client, make_header("Ordered")).code == ResponseCode.NO_PERMISSION
    assert send(client, make_header("Plain")).code == ResponseCode.SUCCESS


@pytest.mark.clause("broker.send.negative-queue-is-drawn")
def test_a_send_that_names_no_queue_goes_to_one_of_the_topic() -> None:
    client = BrokerWorld().connect()
    queues = set()
    for _ in range(40):
        answer = send(client, make_header("T", -1))
        queues.add(SendMessageResponseHeader.decode(answer.extension_fields).queue_id)
    assert queues == {0, 1, 2, 3}


@pytest.mark.clause("wire.header-fields.batch-field-decides", "store.batch.properties-joined")
def test_a_batch_is_stored_message_by_message_and_answered_once() -> None:
    client = BrokerWorld().connect()
    entries = [BatchEntry(number, b"%d" % number, f"TAGS\x01T{number}") for number in range(3)]
    told = client.send_batch("T", 1, entries, {"WAIT": "true"})
    ids = ("7F00000100002A9F0000000000000000", "7F00000100002A9F0000000000000085")
    assert told.msg_id.split(",")[:2] == list(ids)
    assert (len(told.msg_id.split(",")), told.queue_id, told.queue_offset) == (3, 1, 0)
    assert stored(client, "T", 1) == [
        (b"%d" % number, {"TAGS": f"T{number}", "WAIT": "true", "CLUSTER": "DefaultCluster"})
        for number in range(3)
    ]


@pytest.mark.parametrize("body", [b"", b"\0" * 10, encode_batch([BatchEntry(0, b"x", "")])[:-1] + b"\xff"])
def test_a_batch_that_cannot_be_read_is_illegal_and_stores_nothing(body: bytes) -> None:
    world = BrokerWorld()
    answer = send(world.connect(), make_header("T", batch=True), body, 320)
    assert (answer.code, answer.extension_fields) == (ResponseCode.MESSAGE_ILLEGAL, MARKS)
    assert world.kinds(Kind.APPEND) == []


def test_the_code_of_a_batch_without_its_mark_stores_one_message() -> None:
    # PyPI's rocketmq sends `batch:"1"`, which Java does not read as true.
    client = BrokerWorld().connect()
    body = encode_batch([BatchEntry(0, b"x", "")])
    assert send(client, make_header("T"), body, 320).code == ResponseCode.SUCCESS
    assert [found for found, _ in stored(client, "T")] == [body]


@pytest.mark.clause("broker.send.status-code")
def test_a_message_beyond_the_limit_is_illegal() -> None:
    limit = replace(SMALL_STORE, message_size_limit=ByteCount(1000))
    client = BrokerWorld(BrokerSettings(store=limit)).connect()
    assert send(client, make_header("T"), b"x" * 1001).code == ResponseCode.MESSAGE_ILLEGAL
    assert send(client, make_header("T"), b"x" * 500).code == ResponseCode.SUCCESS


@pytest.mark.clause("broker.retry.exhausted-goes-dead", "broker.retry.dead-letter-is-not-delayed")
def test_a_retry_without_attempts_left_rests_with_the_dead_letters() -> None:
    world = BrokerWorld()
    client = world.connect()
    properties = encode_properties({"DELAY": "3", "TAGS": "A"})
    answer = send(client, make_header("%RETRY%g", reconsume_times=16, properties=properties), b"poison")
    assert answer.code == ResponseCode.SUCCESS
    (message,) = client.pull("%DLQ%g", 0, 0).messages
    assert (message.topic, message.reconsume_times) == ("%DLQ%g", 16)
    assert message.properties() == {"TAGS": "A", "CLUSTER": "DefaultCluster"}
    assert world.broker.parts.topics.find("%RETRY%g") == TopicConfig("%RETRY%g", 1, 1)
    assert world.broker.parts.topics.find("%DLQ%g") == TopicConfig("%DLQ%g", 1, 1)


def test_a_retry_of_a_group_that_may_not_exist_is_refused() -> None:
    client = BrokerWorld(BrokerSettings(store=SMALL_STORE, is_group_auto_created=False)).connect()
    assert send(client, make_header("%RETRY%g")).code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST


@pytest.mark.clause("store.flush.acknowledged-is-stored")
def test_with_synchronous_flush_the_answer_waits_for_the_disk_and_survives_a_crash() -> None:
    world = BrokerWorld(BrokerSettings(store=SYNC_STORE))
    client = world.connect()
    before = world.world.now_ms
    offsets = [client.send(Message("T", b"%d" % number), 0).queue_offset for number in range(5)]
    assert offsets == [0, 1, 2, 3, 4]
    assert world.world.now_ms - before >= 5  # each waited for a task of its own
    world.crash()
    again = world.connect()
    assert [body for body, _ in stored(again, "T")] == [b"0", b"1", b"2", b"3", b"4"]
    judged = world.judge()
    assert judged["STO-1"].exercised


@pytest.mark.parametrize(("wait", "waiting"), [("false", 0), ("true", 1)])
def test_only_a_send_that_waits_is_answered_after_the_flush(wait: str, waiting: int) -> None:
    world = BrokerWorld(BrokerSettings(store=SYNC_STORE))
    client = world.connect()
    client.caller.request(310, make_header("T", properties=f"WAIT\x01{wait}"), b"x")
    while not world.kinds(Kind.APPEND):
        world.run_for(1)
    # The flush takes a millisecond at least, and the message was stored in this one.
    assert world.broker.parts.intake.waiting_count == waiting


@pytest.mark.clause("wire.reply.busy")
def test_a_broker_with_too_many_sends_in_hand_says_that_it_is_busy() -> None:
    world = BrokerWorld(BrokerSettings(store=SYNC_STORE, waiting_send_limit=2))
    client = world.connect()
    client.send(Message("T", b"first"), 0)
    fields = REQUEST_HEADERS[310].encode(make_header("T"))
    frames = [Frame(310, opaque=900 + number, extension_fields=fields, body=b"x") for number in range(5)]
    client.caller.send_bytes(b"".join(map(encode_frame, frames)))  # all of one turn
    answers = [client.caller.await_reply(frame.opaque) for frame in frames]
    assert [answer.code for answer in answers] == [0, 0, *[ResponseCode.SYSTEM_BUSY] * 3]
    assert (answers[2].remark or "").startswith("[OVERLOAD]")
    assert len(stored(client, "T")) == 3


def test_a_batch_cannot_go_to_a_retry_topic() -> None:
    world = BrokerWorld()
    body = encode_batch([BatchEntry(0, b"x", "")])
    answer = send(world.connect(), make_header("%RETRY%g", batch=True), body, 320)
    assert (answer.code, answer.remark) == (13, "a batch cannot go to a retry topic")
    assert world.kinds(Kind.APPEND) == []


def test_made_up_topics_and_groups_come_to_an_end(monkeypatch: pytest.MonkeyPatch) -> None:
    world = BrokerWorld()
    client = world.connect()
    monkeypatch.setattr(topic_table, "TOPIC_LIMIT", len(world.broker.parts.topics.all()) + 1)
    monkeypatch.setattr(group_table, "GROUP_LIMIT", len(world.broker.parts.groups.all()) + 1)
    codes = [send(client, make_header(topic)).code for topic in ("T1", "T2", "T1")]
    assert codes == [0, ResponseCode.TOPIC_NOT_EXIST, 0]
    groups = [world.broker.parts.groups.find(group, 1) is not None for group in ("g1", "g2", "g1")]
    assert groups == [True, False, True]


def test_a_full_disk_refuses_sends_serves_reads_and_takes_messages_again() -> None:
    world = BrokerWorld()
    client = world.connect()
    client.send(Message("T", b"kept"), 0)
    world.disk.capacity = world.disk.used_bytes()
    refused = send(client, make_header("T"), b"x" * 100_000)
    assert refused.code == ResponseCode.SERVICE_NOT_AVAILABLE
    assert stored(client, "T") == [(b"kept", {"CLUSTER": "DefaultCluster"})]
    world.disk.capacity = None
    world.run_for(20_000)
    assert client.send(Message("T", b"again"), 0).queue_offset == 1
    assert [body for body, _ in stored(client, "T")] == [b"kept", b"again"]
    world.judge()


def test_a_message_may_be_longer_than_what_is_read_as_json() -> None:
    client = BrokerWorld(BrokerSettings(store=SMALL_STORE, json_byte_limit=20)).connect()
    assert send(client, make_header("T"), b"x" * 1_000).code == ResponseCode.SUCCESS
    answer = client.ask(RequestCode.LOCK_BATCH_MQ, None, b"{" * 21)
    excess = "a body of 21 bytes is refused, 20 are the limit where no message is sent"
    assert (answer.code, answer.remark) == (ResponseCode.SYSTEM_ERROR, excess)
