"""The question to a producer: it is asked what became of its half message."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from refimpl.broker.producer_registry import ProducerRegistry
from spec.layout.record import encode_record
from spec.layout.record_head import RecordHead
from spec.layout.stored_message import StoredMessage, derive_record_size
from spec.values.java_literal import decode_int32
from spec.values.message_id import MessageId, encode_message_id
from spec.values.property import PRODUCER_GROUP, REAL_QUEUE_ID, REAL_TOPIC, UNIQUE_KEY
from spec.values.units import QueueId
from spec.wire.code import RequestCode
from spec.wire.header.transaction import CheckTransactionStateHeader

Push: TypeAlias = Callable[[int, int, dict[str, str] | None, bytes], None]
"""Tells the peer of a connection something: code, fields, body."""


def derive_asked_message(half: StoredMessage, place: RecordHead) -> StoredMessage:
    """The half message as its producer knows it: with its real topic and queue, at its newest place."""
    properties = place.properties()
    topic = properties[REAL_TOPIC]
    size = derive_record_size(
        len(half.body),
        len(topic.encode()),
        len(place.property_text.encode()),
        born_ipv6=half.born_host.is_ipv6,
        store_ipv6=half.store_host.is_ipv6,
    )
    return half._replace(
        size=size,
        topic=topic,
        queue_id=QueueId(decode_int32(properties[REAL_QUEUE_ID])),
        queue_offset=place.queue_offset,
        position=place.position,
        property_text=place.property_text,
    )


class CheckRequest:
    """Asks producers."""

    def __init__(self, producers: ProducerRegistry, push: Push) -> None:
        self._producers = producers
        self._push = push

    def choose(self, properties: Mapping[str, str]) -> int | None:
        """The connection of a producer that may be asked about a half message; None if nobody is online.

        Clause: broker.transaction.producer-in-turn
        """
        return self._producers.choose(properties.get(PRODUCER_GROUP, ""))

    def is_online(self, properties: Mapping[str, str], connection: int) -> bool:
        """Whether the producer that was chosen is still there."""
        clients = self._producers.clients(properties.get(PRODUCER_GROUP, ""))
        return any(client.connection == connection for client in clients)

    def ask(self, connection: int, half: StoredMessage, place: RecordHead) -> None:
        """The producer is asked about the half message whose newest copy has this place."""
        asked = derive_asked_message(half, place)
        unique_key = place.properties().get(UNIQUE_KEY)
        offset_id = encode_message_id(MessageId(asked.store_host, place.position))
        header = CheckTransactionStateHeader(
            place.queue_offset, place.position, unique_key, unique_key, offset_id
        )
        self._push(connection, RequestCode.CHECK_TRANSACTION_STATE, header.encode(), encode_record(asked))
