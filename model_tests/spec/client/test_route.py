"""Queues and addresses that follow from a route."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.client.heartbeat import derive_heartbeat_targets, forget_offline
from spec.client.route import (
    QueueShare,
    derive_new_topic_shares,
    derive_publish_queues,
    derive_subscribe_queues,
    find_broker_address,
    parse_order_configuration,
)
from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId

SHARES = [
    QueueShare("b", 2, 1),
    QueueShare("a", 1, 2),
    QueueShare("read", 1, 1, permission=4),
    QueueShare("write", 1, 1, permission=2),
]


def queue(broker_name: str, number: int) -> MessageQueue:
    return MessageQueue("T", broker_name, QueueId(number))


@pytest.mark.clause("client.route.read-queues")
def test_consumer_reads_every_readable_queue() -> None:
    found = derive_subscribe_queues("T", SHARES)
    assert found == {queue("b", 0), queue("b", 1), queue("a", 0), queue("read", 0)}


@pytest.mark.clause("client.route.write-queues")
def test_producer_writes_in_order_of_names_where_a_master_is() -> None:
    found = derive_publish_queues("T", SHARES, {"a", "b", "read", "write"})
    assert found == (queue("a", 0), queue("a", 1), queue("b", 0), queue("write", 0))
    assert derive_publish_queues("T", SHARES, {"b"}) == (queue("b", 0),)


@pytest.mark.clause("client.route.order-configuration")
def test_order_configuration_lists_the_queues() -> None:
    assert parse_order_configuration("T", "b:1;a:2;") == (queue("b", 0), queue("a", 0), queue("a", 1))


@pytest.mark.clause("client.route.order-configuration")
@pytest.mark.parametrize(
    ("text", "position"),
    [("b", 0), ("a:1;b:x", 4), ("a:1;:2", 4), ("a:-1", 0), ("a:999999999999", 0), ("a:\u0663", 0)],
)
def test_order_configuration_of_another_form_is_refused_where_it_stands(text: str, position: int) -> None:
    with pytest.raises(Rejection) as refusal:
        parse_order_configuration("T", text)
    assert (refusal.value.clause, refusal.value.position) == ("client.route.order-configuration", position)


@given(st.text(alphabet="a:;0139\u0663", max_size=12))
def test_order_configuration_is_read_or_refused(text: str) -> None:
    try:
        queues = parse_order_configuration("T", text, queue_limit=50)
    except Rejection:
        return
    assert len(queues) <= 50


@pytest.mark.clause("client.route.unknown-topic-borrows-default")
def test_topic_without_route_borrows_at_most_four_queues() -> None:
    shares = derive_new_topic_shares([QueueShare("a", 8, 8, 7), QueueShare("b", 2, 16)])
    assert shares == (QueueShare("a", 4, 4, 7), QueueShare("b", 2, 2))


@pytest.mark.clause("client.route.replica-choice")
@pytest.mark.parametrize(
    ("addresses", "broker_id", "only_this", "found"),
    [
        ({0: "m", 1: "s"}, 1, True, "s"),
        ({0: "m", 2: "t"}, 1, True, "t"),
        ({1: "s"}, 0, True, None),
        ({2: "t", 1: "s"}, 0, False, "s"),
        ({0: "m"}, 1, True, None),
        ({0: "m"}, 1, False, "m"),
        ({}, 0, False, None),
    ],
)
def test_replica_to_read_from(
    addresses: dict[int, str], broker_id: int, *, only_this: bool, found: str | None
) -> None:
    assert find_broker_address(addresses, broker_id, only_this=only_this) == found


BOOK = {"b": {0: "b0", 1: "b1"}, "a": {1: "a1", 0: "a0"}, "c": {1: "c1"}}


@pytest.mark.clause("client.heartbeat.all-brokers", "client.heartbeat.producer-masters-only")
@pytest.mark.parametrize(
    ("has_producers", "has_consumers", "targets"),
    [
        (True, True, ("a0", "a1", "b0", "b1", "c1")),
        (False, True, ("a0", "a1", "b0", "b1", "c1")),
        (True, False, ("a0", "b0")),
        (False, False, ()),
    ],
)
def test_heartbeat_targets(*, has_producers: bool, has_consumers: bool, targets: tuple[str, ...]) -> None:
    found = derive_heartbeat_targets(BOOK, has_producers=has_producers, has_consumers=has_consumers)
    assert found == targets


@pytest.mark.clause("client.heartbeat.forgets-offline")
def test_addresses_without_route_are_forgotten() -> None:
    assert forget_offline(BOOK, {"a0", "b1"}) == {"b": {1: "b1"}, "a": {0: "a0"}}
