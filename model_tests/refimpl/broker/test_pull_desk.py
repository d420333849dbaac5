"""Pulls through the simulated world: every answer, long polling, and what is recorded."""

from dataclasses import replace

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE, BrokerWorld, Client
from refimpl.broker.settings import BrokerSettings
from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import READ, WRITE, TopicConfig
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.guarantees.verdict import Verdict
from spec.history.kind import Kind
from spec.values.message import Message
from spec.values.pull_flag import PullFlag
from spec.values.subscription import subscribe_tags
from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.body.heartbeat import ConsumerData, HeartbeatData
from spec.wire.body.subscription import derive_record
from spec.wire.code import LaterRequestCode, RequestCode, ResponseCode
from spec.wire.header.pull import PullMessageHeader, PullMessageResponseHeader

GROUP = "g"
CARRIED = int(PullFlag.SUBSCRIPTION)
HELD = int(PullFlag.SUBSCRIPTION | PullFlag.SUSPEND)


def make_pull(offset: int = 0, **changes: object) -> PullMessageHeader:
    header = PullMessageHeader(
        GROUP, "T", QueueId(0), QueueOffset(offset), 32, CARRIED, QueueOffset(0), Milliseconds(15_000), 0, "*"
    )
    return replace(header, **changes)  # type: ignore[arg-type] # each test knows its field


def beat(client: Client, expression: str = "*", version: int = 5, client_id: str = "c1") -> None:
    """The group is online and subscribes the topic."""
    subscription = derive_record(subscribe_tags("T", expression, Milliseconds(version)))
    consumer = ConsumerData(
        GROUP, ConsumeType.PUSH, MessageModel.CLUSTERING, StartPolicy.LAST_OFFSET, (subscription,)
    )
    answer = client.ask(RequestCode.HEART_BEAT, None, HeartbeatData(client_id, (), (consumer,)).encode())
    assert answer.code == ResponseCode.SUCCESS


def fill(client: Client, count: int, tag: str = "A", queue_id: int = 0) -> None:
    for number in range(count):
        client.send(Message("T", b"%d" % number, 0, {"TAGS": tag}), queue_id)


def pull(client: Client, header: PullMessageHeader) -> tuple[int, str | None, tuple[int, int, int] | None]:
    """The code, the remark, and next, minimum and maximum offset of the answer."""
    answer = client.ask(RequestCode.PULL_MESSAGE, header)
    if not answer.extension_fields:
        return answer.code, answer.remark, None
    told = PullMessageResponseHeader.decode(answer.extension_fields)
    return answer.code, answer.remark, (told.next_begin_offset, told.min_offset, told.max_offset)


@pytest.mark.clause(
    "broker.pull.status-code", "broker.pull.empty-queue-code", "broker.pull.overflow-to-maximum"
)
@pytest.mark.parametrize(
    ("header", "answer"),
    [
        (make_pull(0), (0, "FOUND", (5, 0, 5))),
        (make_pull(3), (0, "FOUND", (5, 0, 5))),
        (make_pull(0, max_msg_nums=2), (0, "FOUND", (2, 0, 5))),
        (make_pull(0, max_msg_nums=2**31 - 1), (0, "FOUND", (5, 0, 5))),
        (make_pull(0, max_msg_nums=-1), (0, "FOUND", (1, 0, 5))),
        (make_pull(5), (19, "OFFSET_OVERFLOW_ONE", (5, 0, 5))),
        (make_pull(6), (21, "OFFSET_OVERFLOW_BADLY", (5, 0, 5))),
        (make_pull(2**62), (21, "OFFSET_OVERFLOW_BADLY", (5, 0, 5))),
        (make_pull(-1), (21, "OFFSET_TOO_SMALL", (0, 0, 5))),
        (make_pull(0, queue_id=QueueId(1)), (19, "NO_MATCHED_LOGIC_QUEUE", (0, 0, 0))),
        (make_pull(3, queue_id=QueueId(1)), (21, "NO_MATCHED_LOGIC_QUEUE", (0, 0, 0))),
        (make_pull(0, subscription="B"), (20, "NO_MATCHED_MESSAGE", (5, 0, 5))),
        (make_pull(0, subscription="A || B"), (0, "FOUND", (5, 0, 5))),
    ],
)
def test_each_status_has_its_code_and_its_next_offset(
    header: PullMessageHeader, answer: tuple[int, str, tuple[int, int, int]]
) -> None:
    world = BrokerWorld()
    client = world.connect()
    fill(client, 5)
    assert pull(client, header) == answer
    assert world.judge()["STO-1"].verdict is Verdict.HELD


@pytest.mark.clause("broker.pull.guard-order", "broker.pull.carried-subscription")
@pytest.mark.parametrize(
    ("header", "code"),
    [
        (make_pull(topic="Nowhere"), ResponseCode.TOPIC_NOT_EXIST),
        (make_pull(topic="Closed"), ResponseCode.NO_PERMISSION),
        (make_pull(consumer_group="off"), ResponseCode.NO_PERMISSION),
        (make_pull(consumer_group="bad group"), ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST),
        (make_pull(queue_id=QueueId(-1)), ResponseCode.SYSTEM_ERROR),
        (make_pull(queue_id=QueueId(4)), ResponseCode.SYSTEM_ERROR),
        (make_pull(subscription="||"), ResponseCode.SUBSCRIPTION_PARSE_FAILED),
        (make_pull(subscription="a > 1", expression_type="SQL92"), ResponseCode.SYSTEM_ERROR),
        (make_pull(sys_flag=0), ResponseCode.SUBSCRIPTION_NOT_EXIST),
    ],
)
def test_a_pull_that_may_not_be_answered_is_refused_without_offsets(
    header: PullMessageHeader, code: ResponseCode
) -> None:
    world = BrokerWorld()
    client = world.connect()
    fill(client, 1)
    world.broker.parts.topics.put(TopicConfig("Closed", 4, 4, WRITE), 1)
    world.broker.parts.groups.put(GroupConfig("off", is_consume_enabled=False), 1)
    answer = client.ask(RequestCode.PULL_MESSAGE, header)
    assert (answer.code, answer.extension_fields, answer.body) == (code, {}, b"")
    assert header.topic in (answer.remark or "")
    assert [event.status for event in world.kinds(Kind.SERVED)] == ["error"]


def test_a_broker_that_is_closed_to_reading_refuses_every_pull() -> None:
    world = BrokerWorld(BrokerSettings(store=SMALL_STORE, permission=WRITE))
    client = world.connect()
    fill(client, 1)
    assert pull(client, make_pull())[0] == ResponseCode.NO_PERMISSION
    assert READ & world.settings.permission == 0


@pytest.mark.clause("broker.filter.stale-subscription-refused", "broker.filter.highest-version-counts")
def test_a_pull_is_judged_by_what_the_heartbeat_left_and_never_by_something_older() -> None:
    world = BrokerWorld()
    client = world.connect()
    fill(client, 3)
    beat(client, "B", version=5)
    assert pull(client, make_pull(sys_flag=0, sub_version=5)) == (20, "NO_MATCHED_MESSAGE", (3, 0, 3))
    assert pull(client, make_pull(sys_flag=0, sub_version=6))[0] == ResponseCode.SUBSCRIPTION_NOT_LATEST
    beat(client, "A", version=6)
    assert pull(client, make_pull(sys_flag=0, sub_version=6)) == (0, "FOUND", (3, 0, 3))


def test_a_group_that_may_not_broadcast_is_refused() -> None:
    world = BrokerWorld()
    client = world.connect()
    fill(client, 1)
    world.broker.parts.groups.put(GroupConfig(GROUP, is_broadcast_enabled=False), 1)
    record = derive_record(subscribe_tags("T", "*", Milliseconds(1)))
    consumer = ConsumerData(
        GROUP, ConsumeType.PUSH, MessageModel.BROADCASTING, StartPolicy.LAST_OFFSET, (record,)
    )
    client.call(RequestCode.HEART_BEAT, None, HeartbeatData("c", (), (consumer,)).encode())
    assert pull(client, make_pull(sys_flag=0))[0] == ResponseCode.NO_PERMISSION


@pytest.mark.clause("broker.hold.arrival-answers", "broker.hold.end-is-exclusive")
def test_a_held_pull_is_answered_as_soon_as_something_arrives() -> None:
    world = BrokerWorld()
    producer, consumer = world.connect(), world.connect()
    fill(producer, 1)
    opaque = consumer.caller.request(RequestCode.PULL_MESSAGE, make_pull(1, sys_flag=HELD))
    world.run_for(3_000)
    assert opaque not in consumer.caller.replies
    before = world.world.now_ms
    fill(producer, 1)
    answer = consumer.caller.await_reply(opaque)
    assert world.world.now_ms - before < 50
    told = PullMessageResponseHeader.decode(answer.extension_fields)
    assert (answer.code, told.next_begin_offset) == (ResponseCode.SUCCESS, 2)
    assert [event.cause for event in world.kinds(Kind.WAKE)] == ["arrival"]
    assert world.judge()["LIV-2"].verdict is Verdict.HELD


@pytest.mark.clause("broker.hold.timeout-answers", "broker.hold.never-twice", "broker.hold.answered-in-time")
def test_a_held_pull_to_which_nothing_comes_is_answered_within_a_sweep_of_its_limit() -> None:
    world = BrokerWorld()
    client = world.connect()
    fill(client, 1)
    before = world.world.now_ms
    header = make_pull(1, sys_flag=HELD, suspend_timeout_millis=Milliseconds(7_000))
    assert pull(client, header) == (19, "OFFSET_OVERFLOW_ONE", (1, 0, 1))
    assert 7_000 <= world.world.now_ms - before <= 12_010
    assert [event.cause for event in world.kinds(Kind.WAKE)] == ["sweep"]


@pytest.mark.clause("broker.hold.sweep-matches-anything")
def test_a_message_with_another_tag_wakes_a_held_pull_only_at_the_sweep() -> None:
    world = BrokerWorld()
    producer, consumer = world.connect(), world.connect()
    fill(producer, 1)
    opaque = consumer.caller.request(
        RequestCode.PULL_MESSAGE, make_pull(1, sys_flag=HELD, subscription="B", sub_version=1)
    )
    world.run_for(100)
    fill(producer, 1, "A")
    world.run_for(100)
    assert opaque not in consumer.caller.replies
    answer = consumer.caller.await_reply(opaque)
    assert (answer.code, answer.remark) == (20, "NO_MATCHED_MESSAGE")


def test_each_of_many_held_pulls_of_a_queue_is_answered_once() -> None:
    world = BrokerWorld()
    producer = world.connect()
    fill(producer, 1)
    consumers = [world.connect() for _ in range(20)]
    opaques = [
        consumer.caller.request(RequestCode.PULL_MESSAGE, make_pull(1, sys_flag=HELD))
        for consumer in consumers
    ]
    world.run_for(100)
    fill(producer, 3)
    answers = [
        consumer.caller.await_reply(opaque) for consumer, opaque in zip(consumers, opaques, strict=True)
    ]
    assert {answer.code for answer in answers} == {0}
    world.judge()


def test_a_closed_connection_leaves_nothing_held() -> None:
    world = BrokerWorld()
    producer, consumer = world.connect(), world.connect()
    fill(producer, 1)
    for _ in range(3):
        consumer.caller.request(RequestCode.PULL_MESSAGE, make_pull(1, sys_flag=HELD))
    world.run_for(100)
    assert world.broker.pulls.holds.count == 3
    consumer.caller.close()
    world.run_for(100)
    assert world.broker.pulls.holds.count == 0


def test_beyond_its_limit_the_broker_answers_at_once_instead_of_holding() -> None:
    world = BrokerWorld(BrokerSettings(store=SMALL_STORE, held_pull_limit=1))
    client = world.connect()
    fill(client, 1)
    client.caller.request(RequestCode.PULL_MESSAGE, make_pull(1, sys_flag=HELD))
    world.run_for(50)
    before = world.world.now_ms
    assert pull(client, make_pull(1, sys_flag=HELD)) == (19, "OFFSET_OVERFLOW_ONE", (1, 0, 1))
    assert world.world.now_ms - before < 50


@pytest.mark.clause("broker.offset.pull-commits-once")
def test_the_offset_that_rides_on_a_pull_is_committed_once_and_only_if_asked() -> None:
    world = BrokerWorld()
    client = world.connect()
    fill(client, 5)
    beat(client)
    pull(client, make_pull(3, commit_offset=QueueOffset(3)))
    assert world.broker.parts.offsets.find(GROUP, "T", 0) is None
    header = make_pull(5, sys_flag=HELD | PullFlag.COMMIT, commit_offset=QueueOffset(4))
    opaque = client.caller.request(RequestCode.PULL_MESSAGE, header)
    world.run_for(50)
    fill(client, 1)
    client.caller.await_reply(opaque)
    commits = world.kinds(Kind.COMMIT)
    assert [(event.offset, event.cause, event.client) for event in commits] == [(4, "pull", "c1")]


def test_a_lite_pull_of_5x_is_answered_like_a_pull() -> None:
    client = BrokerWorld().connect()
    fill(client, 2)
    opaque = client.caller.request(LaterRequestCode.LITE_PULL_MESSAGE, make_pull())
    assert client.caller.await_reply(opaque).code == ResponseCode.SUCCESS


def test_whoever_is_sent_elsewhere_leaves_an_event() -> None:
    client = BrokerWorld().connect()
    fill(client, 2)
    assert pull(client, make_pull(9))[0] == ResponseCode.PULL_OFFSET_MOVED
    (event,) = client.pull("OFFSET_MOVED_EVENT", 0, 0).messages
    assert event.properties() == {"TAGS": GROUP, "KEYS": GROUP}
    assert event.body == (
        b'{"consumerGroup":"g","messageQueue":{"brokerName":"broker-a","queueId":0,"topic":"T"},'
        b'"offsetNew":2,"offsetRequest":9}'
    )
