"""What the broker holds of a message, in the words in which each of the clients speaks of it."""

from typing import NamedTuple

from model_tests.interop.native_event import UNTOLD_QUEUE, Received, Sent
from model_tests.interop.native_program import ClientProgram
from spec.layout.body import expand_body
from spec.layout.stored_message import StoredMessage
from spec.values import property as known
from spec.values.message_id import MessageId, encode_message_id


class Told(NamedTuple):
    """What a producer tells its user about a message that was stored."""

    status: str
    body: str
    message_id: str
    queue_id: int
    queue_offset: int


class Seen(NamedTuple):
    """A message as a consumer gives it to its user."""

    topic: str
    queue_id: int
    queue_offset: int
    message_id: str
    tags: str
    keys: str
    body: str
    reconsume_times: int


def told(sent: Sent) -> Told:
    """What the producer told."""
    return Told(sent.status, sent.body, sent.message_id, sent.queue_id, sent.queue_offset)


def seen(received: Received) -> Seen:
    """What the consumer saw."""
    return Seen(
        received.topic,
        received.queue_id,
        received.queue_offset,
        received.message_id,
        received.tags,
        received.keys,
        received.body,
        received.reconsume_times,
    )


def offset_id_of(stored: StoredMessage) -> str:
    """The id that the broker gives."""
    return encode_message_id(MessageId(stored.store_host, stored.position))


def _id_of(stored: StoredMessage, program: ClientProgram) -> str:
    """The id under which the client knows the message."""
    if not program.makes_ids:
        return offset_id_of(stored)
    # Of a message without its maker's id it spells the broker's, with the address the wrong way round.
    host = stored.store_host._replace(address=stored.store_host.address[::-1])
    return stored.properties().get(known.UNIQUE_KEY, offset_id_of(stored._replace(store_host=host)))


def told_of(stored: StoredMessage, program: ClientProgram) -> Told:
    """What the client has to tell whoever sent the message."""
    queue_id = UNTOLD_QUEUE if program.makes_ids else stored.queue_id
    return Told("OK", stored.body.decode(), _id_of(stored, program), queue_id, stored.queue_offset)


def seen_of(stored: StoredMessage, program: ClientProgram) -> Seen:
    """What the client has to give to whoever consumes the message."""
    properties = stored.properties()
    return Seen(
        stored.topic,
        stored.queue_id,
        stored.queue_offset,
        _id_of(stored, program),
        properties.get(known.TAGS, ""),
        properties.get(known.KEYS, ""),
        expand_body(stored.body, stored.system_flag).decode(),
        stored.reconsume_times,
    )
