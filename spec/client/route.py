"""Routes: from what a name server says to the queues that are read and written.

Consumers read every queue with the read bit, whoever serves it now. Producers write only where a
master is alive, in the order of broker names, so that all producers count through the same list;
a topic with a fixed order configuration lists its queues by that and by nothing else. A topic the
name server does not know keeps its old route: an answer that is missing must not empty the list.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from spec.broker.topic import is_readable, is_writable
from spec.nameserver.registration import MASTER_ID
from spec.rejection import Rejection
from spec.values.java_text import utf16_key
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId

DEFAULT_TOPIC_QUEUES: Final = 4
"""A producer's `defaultTopicQueueNums`."""

_ORDER_CLAUSE: Final = "client.route.order-configuration"


@dataclass(frozen=True, slots=True)
class QueueShare:
    """How many queues of a topic one broker has, and what may be done with them."""

    broker_name: str
    read_queue_count: int
    write_queue_count: int
    permission: int = 6


def _number(topic: str, broker_name: str, count: int) -> list[MessageQueue]:
    return [MessageQueue(topic, broker_name, QueueId(number)) for number in range(count)]


def derive_subscribe_queues(topic: str, shares: Iterable[QueueShare]) -> frozenset[MessageQueue]:
    """The queues that a consumer of the topic shares out.

    Clause: client.route.read-queues
    """
    readable = (share for share in shares if is_readable(share.permission))
    return frozenset(
        queue for share in readable for queue in _number(topic, share.broker_name, share.read_queue_count)
    )


def derive_publish_queues(
    topic: str, shares: Iterable[QueueShare], brokers_with_master: Collection[str]
) -> tuple[MessageQueue, ...]:
    """The queues that a producer counts through, in the order in which it does.

    Clause: client.route.write-queues
    """
    ordered = sorted(shares, key=lambda share: utf16_key(share.broker_name))
    usable = [s for s in ordered if is_writable(s.permission) and s.broker_name in brokers_with_master]
    return tuple(
        queue for share in usable for queue in _number(topic, share.broker_name, share.write_queue_count)
    )


def parse_order_configuration(topic: str, text: str, queue_limit: int = 65_536) -> tuple[MessageQueue, ...]:
    """The queues that `name:count;name:count` lists; empty pieces are passed over.

    Clause: client.route.order-configuration
    """
    queues: list[MessageQueue] = []
    position = 0
    for piece in text.split(";"):
        name, _, count_text = piece.partition(":")
        if piece:
            is_number = (
                count_text.isascii() and count_text.isdigit() and len(count_text) <= len(str(queue_limit))
            )
            if not name or not is_number or len(queues) + int(count_text) > queue_limit:
                reason = f"{piece!r} is not 'broker:count' with at most {queue_limit} queues in all"
                raise Rejection(_ORDER_CLAUSE, position, reason)
            queues.extend(_number(topic, name, int(count_text)))
        position += len(piece) + 1
    return tuple(queues)


def derive_new_topic_shares(
    default_shares: Iterable[QueueShare], queue_count: int = DEFAULT_TOPIC_QUEUES
) -> tuple[QueueShare, ...]:
    """The shares assumed for a topic without a route: those of the default topic, at most four queues.

    Clause: client.route.unknown-topic-borrows-default
    """
    return tuple(
        QueueShare(
            share.broker_name,
            min(queue_count, share.read_queue_count),
            min(queue_count, share.read_queue_count),
            share.permission,
        )
        for share in default_shares
    )


def find_broker_address(addresses: Mapping[int, str], broker_id: int, *, only_this: bool) -> str | None:
    """The address to read from: the one asked for, the next replica, or any, lowest id first.

    Clause: client.route.replica-choice
    """
    if broker_id in addresses:
        return addresses[broker_id]
    if broker_id != MASTER_ID and broker_id + 1 in addresses:
        return addresses[broker_id + 1]
    return None if only_this or not addresses else addresses[min(addresses)]
