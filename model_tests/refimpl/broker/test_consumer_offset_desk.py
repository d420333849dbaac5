"""Committed offsets over the wire: a value, zero for a young queue, or an explicit "not found"."""

from dataclasses import replace

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE, BrokerWorld, Client
from model_tests.refimpl.broker.captured import captured_frames
from refimpl.broker.settings import BrokerSettings
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.guarantees.verdict import Verdict
from spec.history.kind import Kind
from spec.values.message import Message
from spec.values.units import ByteCount, QueueId, QueueOffset
from spec.wire.body.heartbeat import ConsumerData, HeartbeatData
from spec.wire.code import RequestCode
from spec.wire.frame import Frame
from spec.wire.header.offset import QueryConsumerOffsetHeader, UpdateConsumerOffsetHeader

BARELY_ANY_MEMORY = BrokerSettings(store=replace(SMALL_STORE, memory_bytes=ByteCount(100)))


def query(client: Client, *, topic: str = "T", queue: int = 0, zero: bool | None = None) -> Frame:
    header = QueryConsumerOffsetHeader("g", topic, QueueId(queue), zero)
    return client.ask(RequestCode.QUERY_CONSUMER_OFFSET, header)


def commit(client: Client, offset: int, *, queue: int = 0, group: str = "g") -> Frame:
    header = UpdateConsumerOffsetHeader(group, "T", QueueId(queue), QueueOffset(offset))
    return client.ask(RequestCode.UPDATE_CONSUMER_OFFSET, header)


def join(client: Client, client_id: str) -> None:
    member = ConsumerData("g", ConsumeType.PUSH, MessageModel.CLUSTERING, StartPolicy.LAST_OFFSET)
    client.call(RequestCode.HEART_BEAT, None, HeartbeatData(client_id, (), (member,)).encode())


@pytest.mark.clause("broker.offset.query-stored", "broker.offset.commit-overwrites")
def test_what_was_committed_is_answered_whether_it_is_higher_lower_or_beyond_the_queue() -> None:
    world = BrokerWorld()
    client = world.connect()
    join(client, "a")
    for offset in (9, 4, 10**12):
        answer = commit(client, offset)
        assert (answer.code, answer.remark, answer.extension_fields) == (0, None, None)
        answer = query(client)
        assert (answer.code, answer.remark, answer.extension_fields) == (0, None, {"offset": str(offset)})
    commits = [
        (one.group, one.topic, one.queue, one.offset, one.client, one.cause)
        for one in world.kinds(Kind.COMMIT)
    ]
    assert commits == [("g", "T", 0, offset, "a", "update") for offset in (9, 4, 10**12)]


@pytest.mark.clause("broker.offset.commit-overwrites", "broker.offset.young-queue-zero")
def test_a_negative_commit_is_taken_and_answered_like_none() -> None:
    client = BrokerWorld().connect()
    assert [commit(client, 5).code, commit(client, -1).code] == [0, 0]
    assert query(client).extension_fields == {"offset": "0"}
    assert query(client, zero=False).code == 22


@pytest.mark.clause("broker.offset.young-queue-zero", "broker.offset.query-not-found")
def test_a_group_without_offset_starts_a_young_queue_at_zero_unless_it_asks_otherwise() -> None:
    world = BrokerWorld()
    client = world.connect()
    client.send(Message("T", b"x"), 0)
    for topic in ("T", "nobody-made-this"):
        assert query(client, topic=topic).extension_fields == {"offset": "0"}
        assert query(client, topic=topic, zero=True).extension_fields == {"offset": "0"}
        answer = query(client, topic=topic, zero=False)
        remark = f"Not found: group g has no offset of {topic}, queue 0"
        assert (answer.code, answer.remark, answer.extension_fields) == (22, remark, None)


@pytest.mark.clause("broker.offset.query-not-found", "broker.pull.on-disk-estimate")
def test_a_queue_whose_first_message_is_long_behind_is_not_young() -> None:
    world = BrokerWorld(BARELY_ANY_MEMORY)
    client = world.connect()
    client.send(Message("T", b"x"), 0)
    assert query(client).code == 22
    assert query(client, queue=1).extension_fields == {"offset": "0"}  # it has no first message
    commit(client, 1)
    assert query(client).extension_fields == {"offset": "1"}


@pytest.mark.clause("broker.offset.reset-fences")
def test_after_a_reset_a_members_old_commit_is_refused_until_it_has_asked() -> None:
    world = BrokerWorld()
    client = world.connect()
    join(client, "a")
    commit(client, 9)
    world.broker.parts.offsets.reset("g", "T", 0, 3, members=("a",), now_ms=world.world.now_ms)
    answer = commit(client, 10)
    remark = (
        "the commit of group g was not taken: it comes from before a reset (ask for the offset first),"
        " or its names are not usable"
    )
    assert (answer.code, answer.remark) == (1, remark)
    assert query(client).extension_fields == {"offset": "3"}
    assert commit(client, 10).code == 0
    assert query(client).extension_fields == {"offset": "10"}
    assert [event.offset for event in world.kinds(Kind.STALE)] == [10]


def test_offsets_of_one_group_and_queue_are_nobody_elses() -> None:
    client = BrokerWorld().connect()
    commit(client, 5)
    commit(client, 6, queue=1)
    commit(client, 7, group="h")
    assert [query(client, queue=number).extension_fields for number in (0, 1, 2)] == [
        {"offset": "5"},
        {"offset": "6"},
        {"offset": "0"},
    ]


def test_committed_offsets_are_found_after_a_clean_stop_and_the_history_is_legal() -> None:
    world = BrokerWorld()
    client = world.connect()
    join(client, "a")
    commit(client, 2)
    commit(client, 5)
    world.restart()
    assert query(world.connect()).extension_fields == {"offset": "5"}
    assert Verdict.VIOLATED not in {judgement.verdict for judgement in world.judge().values()}


@pytest.mark.parametrize("peer", ["npm-ali-ons_cluster", "py-rocketmq044_cluster"])
def test_what_real_clients_ask_and_commit_is_answered_even_if_they_do_not_wait(peer: str) -> None:
    world = BrokerWorld()
    client = world.connect()
    frames = captured_frames(peer, RequestCode.QUERY_CONSUMER_OFFSET, RequestCode.UPDATE_CONSUMER_OFFSET)
    expected: dict[tuple[str, str, int], str] = {}
    for frame in frames:
        client.caller.send(frame)
        answer = client.caller.await_reply(frame.opaque)
        if frame.code == RequestCode.UPDATE_CONSUMER_OFFSET:
            told = UpdateConsumerOffsetHeader.decode(frame.extension_fields)
            expected[told.consumer_group, told.topic, told.queue_id] = str(told.commit_offset)
            assert (answer.code, answer.extension_fields) == (0, None)
        else:
            asked = QueryConsumerOffsetHeader.decode(frame.extension_fields)
            place = (asked.consumer_group, asked.topic, asked.queue_id)
            assert (answer.code, answer.extension_fields) == (0, {"offset": expected.get(place, "0")})
    assert expected
