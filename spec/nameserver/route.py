"""Routes: for one topic, the queues each broker name has and the addresses behind each name.

The promise: a route names only brokers that are registered, and it is not empty: a topic without
queues, or whose brokers are all gone, does not exist for a client (code 17).

What is allowed: a route without a master. Producers skip such a name, consumers may read from its
slaves. Name servers do not talk to each other, so two of them may give different routes.
"""

from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from typing import Final

from spec.broker.topic import READ_WRITE, WRITE, TopicConfig, is_readable, is_writable
from spec.nameserver.registration import BrokerEntry
from spec.wire.code import ResponseCode

ORDER_NAMESPACE: Final = "ORDER_TOPIC_CONFIG"
"""The namespace of the key-value table that holds the order configuration of topics."""


@dataclass(frozen=True, slots=True)
class QueueData:
    """The queues of one topic behind one broker name."""

    broker_name: str
    read_queue_count: int
    write_queue_count: int
    permission: int
    system_flag: int = 0


@dataclass(frozen=True, slots=True)
class Route:
    """Where a topic is."""

    queues: tuple[QueueData, ...]
    brokers: tuple[BrokerEntry, ...]
    order_configuration: str | None = None


def derive_queue_data(broker_name: str, topic: TopicConfig, broker_permission: int = READ_WRITE) -> QueueData:
    """The queues that a broker registers; a broker that cannot be read and written lends its own permission.

    Clause: nameserver.route.broker-permission
    """
    is_open = is_readable(broker_permission) and is_writable(broker_permission)
    permission = topic.permission if is_open else broker_permission
    counts = (topic.read_queue_count, topic.write_queue_count)
    return QueueData(broker_name, *counts, permission, topic.system_flag)


def derive_route(
    queues: tuple[QueueData, ...],
    entries: Mapping[str, BrokerEntry],
    *,
    order_configuration: str | None = None,
) -> Route | None:
    """The route of a topic, or None (answered with 17) without queues or without brokers.

    Clauses: nameserver.route.not-empty, nameserver.route.registered-brokers
    """
    names = dict.fromkeys(data.broker_name for data in queues)
    brokers = tuple(entries[name] for name in names if name in entries)
    return Route(queues, brokers, order_configuration) if queues and brokers else None


def derive_route_code(route: Route | None) -> ResponseCode:
    """The response code of a route query."""
    return ResponseCode.TOPIC_NOT_EXIST if route is None else ResponseCode.SUCCESS


def wipe_write(data: QueueData) -> QueueData:
    """The queues after an operator closed the broker for producers.

    Clause: nameserver.route.wipe-write
    """
    return replace(data, permission=data.permission & ~WRITE)


def add_write(data: QueueData) -> QueueData:
    """The queues after an operator opened the broker again: exactly read and write, whatever was.

    Clause: nameserver.route.add-write
    """
    return replace(data, permission=READ_WRITE)


def delete_topic(queues: Mapping[str, QueueData], names: Container[str] | None) -> dict[str, QueueData]:
    """What is left of a topic's queues, by broker name, after its deletion behind these names, or all.

    Clause: nameserver.route.delete-topic
    """
    return {} if names is None else {name: data for name, data in queues.items() if name not in names}
