"""Send-back through the simulated world: the copy, its topic, its attempts."""

from dataclasses import replace

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE, SYNC_STORE, BrokerWorld, Client
from refimpl.broker.settings import BrokerSettings
from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import READ, TopicConfig
from spec.history.kind import Kind
from spec.values.message import Message
from spec.values.message_id import decode_message_id
from spec.values.units import CommitLogPosition
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame
from spec.wire.header.client import SendBackHeader

NO_DELAY = replace(SMALL_STORE, delays_ms=())


def send(client: Client, body: bytes = b"bad", **properties: str) -> CommitLogPosition:
    told = client.send(Message("T", body, 5, {"UNIQ_KEY": "U", **properties}), 0)
    return decode_message_id(told.msg_id).position


def give_back(client: Client, position: int, *, level: int = 0, limit: int | None = None) -> Frame:
    header = SendBackHeader(CommitLogPosition(position), "g", level, max_reconsume_times=limit)
    return client.ask(RequestCode.CONSUMER_SEND_MSG_BACK, header)


@pytest.mark.clause("broker.retry.one-attempt-older", "broker.retry.level-series", "broker.retry.origin-kept")
def test_a_failed_message_waits_behind_its_delay_one_attempt_older() -> None:
    world = BrokerWorld()
    client = world.connect()
    position = send(client)
    answer = give_back(client, position)
    assert (answer.code, answer.extension_fields) == (0, None)
    (copy,) = client.pull("SCHEDULE_TOPIC_XXXX", 2, 0).messages
    assert (copy.body, copy.flag, copy.reconsume_times) == (b"bad", 5, 1)
    assert copy.properties() == {
        "UNIQ_KEY": "U",
        "CLUSTER": "DefaultCluster",
        "RETRY_TOPIC": "T",
        "ORIGIN_MESSAGE_ID": "7F00000100002A9F0000000000000000",
        "WAIT": "false",
        "DELAY": "3",
        "REAL_TOPIC": "%RETRY%g",
        "REAL_QID": "0",
    }
    appends = world.kinds(Kind.APPEND)
    assert [(event.message, event.origin, event.attempt) for event in appends] == [
        ("U", "", 0),
        ("U#1", "U", 1),
    ]
    assert appends[1].due_ms == copy.stored_at_ms + 10_000
    assert world.broker.parts.topics.find("%RETRY%g") == TopicConfig("%RETRY%g", 1, 1)


@pytest.mark.clause("broker.retry.negative-level-goes-dead", "broker.retry.exhausted-goes-dead")
@pytest.mark.parametrize(("level", "limit"), [(-1, None), (0, 0)])
def test_a_message_that_is_given_up_rests_with_the_dead_letters(level: int, limit: int | None) -> None:
    world = BrokerWorld()
    client = world.connect()
    assert give_back(client, send(client), level=level, limit=limit).code == ResponseCode.SUCCESS
    (dead,) = client.pull("%DLQ%g", 0, 0).messages
    assert (dead.body, dead.reconsume_times, dead.properties()["DELAY"]) == (b"bad", 1, "0")


@pytest.mark.clause("broker.retry.guard-order", "broker.retry.no-retry-queue-discards")
def test_what_cannot_be_taken_back_is_refused_with_the_reason() -> None:
    world = BrokerWorld(BrokerSettings(store=SMALL_STORE, is_group_auto_created=False))
    client = world.connect()
    position = send(client)
    groups, topics = world.broker.parts.groups, world.broker.parts.topics
    assert give_back(client, position).code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    groups.put(GroupConfig("g"), 1)
    unknown = give_back(client, position + 1)
    assert (unknown.code, unknown.remark) == (1, f"there is no message at position {position + 1} of the log")
    topics.put(TopicConfig("%RETRY%g", 1, 1, READ), 1)
    assert give_back(client, position).code == ResponseCode.NO_PERMISSION
    groups.put(GroupConfig("g", retry_queue_count=0), 1)
    assert give_back(client, position).code == ResponseCode.SUCCESS
    assert len(world.kinds(Kind.APPEND)) == 1


def test_with_synchronous_flush_an_acknowledged_copy_survives_a_crash() -> None:
    world = BrokerWorld(BrokerSettings(store=SYNC_STORE))
    client = world.connect()
    position = send(client)
    assert give_back(client, position).code == ResponseCode.SUCCESS
    world.crash()
    again = world.connect()
    assert [copy.reconsume_times for copy in again.pull("SCHEDULE_TOPIC_XXXX", 2, 0).messages] == [1]
    world.judge()
