"""What the broker holds of a topic, in the words in which the Java client speaks of it."""

from typing import NamedTuple

from model_tests.interop.java_event import Received, Sent
from model_tests.interop.target import Target
from spec.layout.stored_message import StoredMessage
from spec.values import property as known
from spec.values.message_id import decode_message_id


class Place(NamedTuple):
    """A message and where it stands: what a producer is told, a store holds and a consumer sees alike."""

    body: str
    message_id: str
    commit_log_position: int
    queue_id: int
    queue_offset: int


def place_of_sent(sent: Sent) -> Place:
    """Where the producer was told that the message stands."""
    position = decode_message_id(sent.offset_message_id).position
    return Place(sent.body, sent.message_id, position, sent.queue_id, sent.queue_offset)


def place_of_received(received: Received) -> Place:
    """Where the consumer was told that the message stands."""
    position = decode_message_id(received.offset_message_id).position
    return Place(received.body, received.message_id, position, received.queue_id, received.queue_offset)


def place_of_stored(stored: StoredMessage) -> Place:
    """Where the message stands."""
    message_id = stored.properties()[known.UNIQUE_KEY]
    return Place(stored.body.decode(), message_id, stored.position, stored.queue_id, stored.queue_offset)


def ask_topic(target: Target, topic: str) -> list[StoredMessage]:
    """Every message of the topic, queue by queue; none if there is no such topic yet."""
    with target.connect() as client:
        config = client.topics().topic_config_table.get(topic)
        client.wait_dispatched()
        queue_ids = range(config.read_queue_count if config is not None else 0)
        return [message for queue_id in queue_ids for message in client.pull_all(topic, queue_id)]
