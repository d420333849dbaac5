import pytest

from spec.broker.topic import TopicConfig
from spec.nameserver.registration import BrokerEntry
from spec.nameserver.route import (
    QueueData,
    Route,
    add_write,
    delete_topic,
    derive_queue_data,
    derive_route,
    derive_route_code,
    wipe_write,
)
from spec.wire.code import ResponseCode

ENTRY = BrokerEntry("C", "a", {1: "s:1"})


@pytest.mark.clause("nameserver.route.not-empty", "nameserver.route.registered-brokers")
def test_route_needs_queues_and_a_registered_broker() -> None:
    queues = (QueueData("a", 4, 4, 6), QueueData("gone", 4, 4, 6))
    assert derive_route(queues, {"a": ENTRY}) == Route(queues, (ENTRY,))
    assert derive_route((queues[0], queues[0]), {"a": ENTRY}) == Route((queues[0], queues[0]), (ENTRY,))
    assert derive_route(queues[1:], {"a": ENTRY}) is None
    assert derive_route((), {"a": ENTRY}) is None


@pytest.mark.clause("nameserver.route.not-empty")
def test_missing_route_is_answered_with_topic_not_exist() -> None:
    assert derive_route_code(None) is ResponseCode.TOPIC_NOT_EXIST
    assert derive_route_code(Route((), ())) is ResponseCode.SUCCESS


@pytest.mark.clause("nameserver.route.registered-brokers")
def test_order_configuration_travels_with_the_route() -> None:
    queues = (QueueData("a", 4, 4, 6),)
    route = derive_route(queues, {"a": ENTRY}, order_configuration="a:4")
    assert route == Route(queues, (ENTRY,), "a:4")


@pytest.mark.clause("nameserver.route.broker-permission")
@pytest.mark.parametrize(("broker", "registered"), [(6, 2), (7, 2), (14, 2), (5, 5), (4, 4), (3, 3), (0, 0)])
def test_restricted_broker_lends_its_permission_to_every_topic(broker: int, registered: int) -> None:
    topic = TopicConfig("T", 8, 4, 2, system_flag=1)
    assert derive_queue_data("a", topic, broker) == QueueData("a", 8, 4, registered, 1)


@pytest.mark.clause("nameserver.route.wipe-write", "nameserver.route.add-write")
def test_write_permission_is_wiped_by_bit_and_added_as_six() -> None:
    wiped = [wipe_write(QueueData("a", 4, 4, permission)).permission for permission in (7, 6, 4, 2)]
    assert wiped == [5, 4, 4, 0]
    assert [add_write(QueueData("a", 4, 4, permission)).permission for permission in (5, 4, 0)] == [6, 6, 6]


@pytest.mark.clause("nameserver.route.delete-topic")
def test_a_topic_is_deleted_everywhere_or_behind_the_names_of_a_cluster() -> None:
    queues = {name: QueueData(name, 4, 4, 6) for name in ("a", "b", "c")}
    assert delete_topic(queues, None) == {}
    assert delete_topic(queues, frozenset({"a", "c", "x"})) == {"b": QueueData("b", 4, 4, 6)}
    assert delete_topic(queues, frozenset()) == queues
