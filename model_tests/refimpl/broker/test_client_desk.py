"""Clients come, stay and go, over a real connection of the simulated world."""

from dataclasses import replace

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE, BrokerWorld, Client
from model_tests.refimpl.broker.captured import captured_frames
from refimpl.broker.client_desk import ClientDesk
from refimpl.broker.settings import BrokerSettings
from refimpl.effect import Severity
from spec.broker.membership import Manner, Member
from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import TopicConfig
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.history.kind import Kind
from spec.values.subscription import ExpressionType, subscribe_tags
from spec.values.units import Milliseconds
from spec.wire.body.group import ConsumerIdList
from spec.wire.body.heartbeat import CheckClientConfigBody, ConsumerData, HeartbeatData, ProducerData
from spec.wire.body.subscription import SubscriptionRecord
from spec.wire.code import RequestCode
from spec.wire.frame import Frame
from spec.wire.header.client import ConsumerGroupHeader, UnregisterClientHeader
from spec.wire.language import Language

GROUP = ConsumerGroupHeader("g")


def consumer(*topics: str, group: str = "g") -> ConsumerData:
    records = tuple(SubscriptionRecord(topic, "*") for topic in topics)
    return ConsumerData(group, ConsumeType.PUSH, MessageModel.CLUSTERING, StartPolicy.LAST_OFFSET, records)


def beat(client: Client, client_id: str, *consumers: ConsumerData, producers: tuple[str, ...] = ()) -> Frame:
    data = HeartbeatData(client_id, tuple(map(ProducerData, producers)), consumers)
    return client.ask(RequestCode.HEART_BEAT, None, data.encode())


def take_pushes(client: Client) -> list[tuple[int, dict[str, str] | None]]:
    frames, client.caller.pushes = client.caller.pushes, []
    return [(frame.code, frame.extension_fields) for frame in frames]


def ids_of(client: Client, group: str = "g") -> tuple[str, ...] | str | None:
    answer = client.ask(RequestCode.GET_CONSUMER_LIST_BY_GROUP, ConsumerGroupHeader(group))
    return ConsumerIdList.decode(answer.body).consumer_id_list if answer.code == 0 else answer.remark


NOTICE = (40, {"consumerGroup": "g"})


@pytest.mark.clause(
    "broker.member.change-is-told-to-all", "broker.group.auto-create", "broker.topic.retry-created"
)
def test_a_heartbeat_makes_group_and_retry_topic_and_is_answered_after_its_notice() -> None:
    world = BrokerWorld()
    first, second = world.connect(), world.connect()
    answer = beat(first, "a", consumer("T", "%RETRY%g"), producers=("p",))
    assert (answer.code, answer.remark, answer.extension_fields, answer.body) == (0, None, None, b"")
    assert take_pushes(first) == [NOTICE]  # it arrived before the answer
    beat(second, "b", consumer("T", "%RETRY%g"))
    world.run_for(100)
    assert (take_pushes(first), take_pushes(second)) == ([NOTICE], [NOTICE])
    beat(first, "a", consumer("T", "%RETRY%g"))
    world.run_for(100)
    assert (take_pushes(first), take_pushes(second)) == ([], [])
    parts = world.broker.parts
    assert parts.groups.known("g") == GroupConfig("g")
    assert parts.topics.find("%RETRY%g") == TopicConfig("%RETRY%g", 1, 1)
    assert ids_of(second) == ("a", "b")
    joins = [(event.group, event.client, event.broker) for event in world.kinds(Kind.JOIN)]
    assert joins == [("g", "a", "broker-a"), ("g", "b", "broker-a")]
    world.judge()


@pytest.mark.parametrize("peer", ["npm-ali-ons_cluster", "py-rocketmq044_cluster", "py-rocketmq044_orderly"])
def test_what_real_clients_say_is_taken_and_their_expression_counts(peer: str) -> None:
    world = BrokerWorld()
    client = world.connect()
    (frame, *_) = captured_frames(peer, RequestCode.HEART_BEAT)
    client.caller.send(frame)
    answer = client.caller.await_reply(frame.opaque)
    assert (answer.code, answer.remark) == (0, None)
    data = HeartbeatData.decode(frame.body)
    consumers = world.broker.parts.consumers
    for part in data.consumer_data_set:
        (info,) = consumers.clients(part.group_name)
        assert (info.client_id, info.language, info.version) == (
            data.client_id,
            frame.language,
            frame.version,
        )
        assert consumers.manner(part.group_name) == Manner(
            part.consume_type, part.message_model, part.consume_from_where
        )
        for record in part.subscription_data_set:
            expected = subscribe_tags(record.topic, record.sub_string, record.sub_version)
            assert consumers.subscription(part.group_name, record.topic) == expected
    assert consumers.groups() == tuple(part.group_name for part in data.consumer_data_set)
    assert world.broker.producers.groups() == tuple(part.group_name for part in data.producer_data_set)


@pytest.mark.parametrize("peer", ["npm-ali-ons_cluster", "py-rocketmq044_cluster"])
def test_the_farewell_of_a_real_client_takes_it_out_of_its_group(peer: str) -> None:
    world = BrokerWorld()
    client = world.connect()
    farewells = captured_frames(peer, RequestCode.UNREGISTER_CLIENT)
    for frame in (captured_frames(peer, RequestCode.HEART_BEAT)[0], *farewells):
        client.caller.send(frame)
        assert client.caller.await_reply(frame.opaque).code == 0
    left = {(frame.extension_fields or {}).get("consumerGroup") for frame in farewells}
    assert left - {None, ""}
    assert left.isdisjoint(world.broker.parts.consumers.groups())


@pytest.mark.clause("broker.member.change-is-told-to-all")
def test_a_farewell_names_a_producer_group_a_consumer_group_or_both() -> None:
    world = BrokerWorld()
    first, second = world.connect(), world.connect()
    for client, name in ((first, "a"), (second, "b")):
        beat(client, name, consumer("T"), producers=("p",))
    world.run_for(100)
    take_pushes(second)
    first.call(RequestCode.UNREGISTER_CLIENT, UnregisterClientHeader("a", producer_group="p"))
    assert ids_of(first) == ("a", "b")
    first.call(RequestCode.UNREGISTER_CLIENT, UnregisterClientHeader("a", "p", "g"))
    world.run_for(100)
    assert take_pushes(second) == [NOTICE]
    assert ids_of(second) == ("b",)
    assert [info.client_id for info in world.broker.producers.clients("p")] == ["b"]


@pytest.mark.clause("broker.member.close-is-told")
def test_who_closes_its_connection_is_gone_at_once_and_the_others_hear_of_it() -> None:
    world = BrokerWorld()
    first, second = world.connect(), world.connect()
    beat(first, "a", consumer("T"), producers=("p",))
    beat(second, "b", consumer("T"))
    world.run_for(100)
    take_pushes(second)
    first.caller.close()
    world.run_for(100)
    assert take_pushes(second) == [NOTICE]
    assert (ids_of(second), world.broker.producers.groups()) == (("b",), ())
    (left,) = world.kinds(Kind.LEAVE)
    assert (left.group, left.client, left.cause) == ("g", "a", "closed")
    world.judge()


@pytest.mark.clause("broker.member.expiry-is-strict", "broker.member.expiry-is-silent")
def test_who_is_silent_for_two_minutes_is_closed_and_nobody_is_told() -> None:
    world = BrokerWorld()
    silent, producer, lively = world.connect(), world.connect(), world.connect()
    beat(silent, "a", consumer("T"))
    beat(producer, "q", producers=("p",))
    for _ in range(5):
        beat(lively, "b", consumer("T"))
        world.run_for(27_000)
    assert (silent.caller.is_closed, producer.caller.is_closed, lively.caller.is_closed) == (
        True,
        True,
        False,
    )
    assert take_pushes(lively) == [NOTICE]  # its own arrival
    assert (ids_of(lively), world.broker.producers.groups()) == (("b",), ())
    assert [(event.client, event.cause) for event in world.kinds(Kind.LEAVE)] == [("a", "expired")]
    world.judge()


@pytest.mark.clause("broker.member.list-by-connection", "broker.member.empty-list-is-an-error")
def test_a_list_has_an_id_for_each_connection_and_nobody_online_is_an_error() -> None:
    world = BrokerWorld()
    first, second = world.connect(), world.connect()
    assert ids_of(first) == "no consumer for this group, g"
    beat(first, "same", consumer("T"))
    beat(second, "same", consumer("T"))
    assert ids_of(first) == ("same", "same")


def test_a_check_knows_tags_and_nothing_else() -> None:
    client = BrokerWorld().connect()
    answers = []
    for kind in ExpressionType:
        wish = SubscriptionRecord("T", "a > 1", expression_type=kind)
        body = CheckClientConfigBody("c", "g", wish).encode()
        answer = client.ask(RequestCode.CHECK_CLIENT_CONFIG, None, body)
        answers.append((answer.code, answer.remark))
    assert answers == [(0, None), (1, "The broker does not support consumer to filter message by SQL92")]


def test_a_heartbeat_that_names_too_much_is_refused_whole() -> None:
    world = BrokerWorld(BrokerSettings(store=SMALL_STORE, subscription_limit=4))
    client = world.connect()
    answer = beat(client, "a", consumer("T", "U", "V"), producers=("p",))
    assert (answer.code, answer.remark) == (
        1,
        "a heartbeat names 5 groups and subscriptions, 4 are the limit",
    )
    assert (world.broker.parts.consumers.groups(), world.broker.producers.groups()) == ((), ())
    assert beat(client, "a", consumer("T", "U"), producers=("p",)).code == 0


def test_a_heartbeat_that_is_too_long_is_not_read() -> None:
    world = BrokerWorld(BrokerSettings(store=SMALL_STORE, json_byte_limit=20))
    client = world.connect()
    answer = client.ask(RequestCode.HEART_BEAT, None, b"[" * 21)
    excess = "a body of 21 bytes is refused, 20 are the limit where no message is sent"
    assert (answer.code, answer.remark) == (1, excess)
    answer = client.ask(RequestCode.HEART_BEAT, None, b"[" * 20)
    assert (answer.code, "limit" in str(answer.remark)) == (1, False)


def test_a_connection_that_comes_with_ever_new_groups_is_refused_in_the_end() -> None:
    world = BrokerWorld(BrokerSettings(store=SMALL_STORE, subscription_limit=2))
    client = world.connect()
    assert beat(client, "a", producers=("p",)).code == 0
    assert beat(client, "a", consumer(group="g")).code == 0
    answer = beat(client, "a", consumer(group="h"))
    assert (answer.code, answer.remark) == (1, "a connection is in 3 groups, 2 are the limit")
    assert beat(client, "a", consumer(group="g"), producers=("p",)).code == 0
    assert world.broker.parts.consumers.groups() == ("g",)


def test_a_subscription_that_nobody_understands_costs_the_client_nothing_else() -> None:
    world = BrokerWorld()
    notes: list[tuple[Severity, str]] = []
    parts = replace(world.broker.parts, note=lambda severity, text: notes.append((severity, text)))
    world.broker.serve(ClientDesk(parts, world.broker.producers, world.broker.close).handlers())
    client = world.connect()
    good = '{"topic":"T","subString":"A","subVersion":"7"}'
    body = (
        '{"clientID":"c","consumerDataSet":[{"groupName":"g","consumeType":"CONSUME_PASSIVELY",'
        '"messageModel":"CLUSTERING","consumeFromWhere":"CONSUME_FROM_LAST_OFFSET",'
        f'"subscriptionDataSet":[{good},{{"topic":"U"}}]}}]}}'
    ).encode()
    for _ in range(2):
        assert client.ask(RequestCode.HEART_BEAT, None, body).code == 0
    consumers = world.broker.parts.consumers
    assert consumers.subscription("g", "T") == subscribe_tags("T", "A", Milliseconds(7))
    assert consumers.subscription("g", "U") is None
    ((severity, text),) = notes
    assert severity is Severity.WARNING
    assert text.startswith("'c' at 127.0.0.1:")
    assert text.endswith(": 1 subscriptions are left out: subString: the key is missing")


def test_a_group_without_notices_is_told_only_of_closed_connections() -> None:
    world = BrokerWorld()
    world.broker.parts.groups.put(GroupConfig("g", is_change_notified=False, retry_queue_count=3), 0)
    first, second = world.connect(), world.connect()
    beat(first, "a", consumer("T"))
    beat(second, "b", consumer("T"))
    second.call(RequestCode.UNREGISTER_CLIENT, UnregisterClientHeader("b", consumer_group="g"))
    beat(second, "b", consumer("T"))
    world.run_for(100)
    assert take_pushes(first) == []
    assert world.broker.parts.topics.find("%RETRY%g") == TopicConfig("%RETRY%g", 3, 3)
    second.caller.close()
    world.run_for(100)
    assert take_pushes(first) == [NOTICE]


def test_a_group_whose_retry_topic_would_have_no_legal_name_has_none() -> None:
    world = BrokerWorld()
    long = "g" * 121
    assert beat(world.connect(), "a", consumer("T", group=long)).code == 0
    found = world.broker.parts.consumers.find(long)
    assert found is not None
    assert [member._replace(heartbeat_at_ms=0) for member in found.members] == [Member(1, "a", 0)]
    assert world.broker.parts.topics.find("%RETRY%" + long) is None


def test_language_and_version_of_a_client_are_those_of_its_frame() -> None:
    world = BrokerWorld()
    client = world.connect()
    beat(client, "a", consumer("T"), producers=("p",))
    (info,) = world.broker.parts.consumers.clients("g")
    assert (info.language, info.version, info.client_id) == (Language.PYTHON, 399, "a")
    assert world.broker.producers.clients("p") == (info,)
