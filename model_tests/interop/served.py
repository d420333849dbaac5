"""What a store gives to those who ask: the same questions, whoever answers.

Two stores agree when everything here is equal: every message of every queue with its offset and its
place, what is found under every key, the topics and the committed offsets.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple, TypeAlias

from model_tests.interop.store_folder import read_units
from model_tests.interop.wire_client import WireClient
from spec.broker.topic import TopicConfig
from spec.layout.index_chain import derive_keys
from spec.layout.stored_message import StoredMessage
from spec.recovery.state import QueueName, StoreShape
from spec.values.units import CommitLogPosition, QueueId, QueueOffset


class ServedQueue(NamedTuple):
    """One queue: its bounds, and its messages in order."""

    min_offset: QueueOffset
    max_offset: QueueOffset
    messages: tuple[StoredMessage, ...]


Queues: TypeAlias = dict[QueueName, ServedQueue]
KeyPlaces: TypeAlias = dict[tuple[str, str], tuple[CommitLogPosition, ...]]
OffsetTable: TypeAlias = Mapping[str, Mapping[QueueId, QueueOffset]]


class Served(NamedTuple):
    """Everything that is compared."""

    queues: Queues
    keys: KeyPlaces
    topics: Mapping[str, TopicConfig]
    consumer_offsets: OffsetTable

    def messages(self) -> list[StoredMessage]:
        """All messages, in the order of the log."""
        found = (message for queue in self.queues.values() for message in queue.messages)
        return sorted(found, key=lambda message: message.position)


def derive_all_keys(messages: Iterable[StoredMessage]) -> list[tuple[str, str]]:
    """Every topic and key under which one of the messages is indexed."""
    keys = {
        (message.topic, key)
        for message in messages
        for key in derive_keys(message.properties(), message.system_flag)
    }
    return sorted(keys)


def ask_queues(client: WireClient, store: Path, shape: StoreShape) -> Queues:
    """The queues as the broker serves them; which there are, is seen in its folder.

    A topic without a configuration cannot be pulled (the half topics of transactions): its messages
    are asked for by the places that the units name.
    """
    topics = client.topics().topic_config_table
    queues: Queues = {}
    for name, content in read_units(store, shape).items():
        if name.topic in topics:
            messages = client.pull_all(*name)
        else:
            messages = tuple(client.view(unit.position) for unit in content.units)
        queues[name] = ServedQueue(*client.bounds(*name), messages)
    return queues


def ask_keys(client: WireClient, keys: Iterable[tuple[str, str]]) -> KeyPlaces:
    """Where the broker's index leads to for each key."""
    return {
        (topic, key): tuple(message.position for message in client.query(topic, key)) for topic, key in keys
    }


def ask_broker(client: WireClient, store: Path, shape: StoreShape) -> Served:
    """Everything, asked over the wire."""
    queues = ask_queues(client, store, shape)
    messages = [message for queue in queues.values() for message in queue.messages]
    return Served(
        queues,
        ask_keys(client, derive_all_keys(messages)),
        dict(client.topics().topic_config_table),
        client.consumer_offsets().offset_table,
    )
