"""A mixed load: several topics and queues, tags, keys, a batch, delays, compressed and large bodies.

The load is a list, the same in every run, so that a broker and the reference can store the same
messages. With the sizes of `SMALL_FILES` it fills several files of the log, of a queue and of the index.
"""

import zlib
from collections.abc import Iterator
from random import Random
from typing import Final, NamedTuple, TypeAlias

from model_tests.interop.wire_client import WireClient
from spec.broker.topic import TopicConfig
from spec.layout.batch import BatchEntry
from spec.values import property as known
from spec.values.message import Message
from spec.values.property import encode_properties
from spec.values.system_flag import COMPRESSED

TOPICS: Final = (TopicConfig("Orders", 4, 4), TopicConfig("Logs", 2, 2), TopicConfig("Large", 1, 1))
AUTO_TOPIC: Final = "AutoCreated"
BUSY_QUEUE: Final = ("Logs", 0)
LAST_LEVEL: Final = 18
COMMITTED: Final = {("Orders", "billing", 0): 7, ("Orders", "billing", 3): 2, ("Logs", "audit", 0): 31}
"""What is committed after the load, by topic, group and queue."""


class Sent(NamedTuple):
    """One message and the queue to which it goes."""

    message: Message
    queue_id: int
    system_flag: int = 0


class SentBatch(NamedTuple):
    """A batch and the queue to which it goes."""

    topic: str
    queue_id: int
    entries: tuple[BatchEntry, ...]
    properties: dict[str, str]


Step: TypeAlias = Sent | SentBatch


def _unique(number: int) -> dict[str, str]:
    return {known.UNIQUE_KEY: f"7F00000100002A9F{number:016X}"}


def _iter_small(chance: Random) -> Iterator[Step]:
    """Orders with tags and keys in four queues, and one queue of logs that is longer than a file."""
    for number in range(120):
        properties = {
            known.TAGS: chance.choice(("paid", "open", "störung")),
            known.KEYS: f"order-{number} customer-{number % 13}",
            **_unique(number),
            "region": chance.choice(("eu", "us")),
        }
        body = f"order {number}".encode() * chance.randrange(1, 40)
        yield Sent(Message("Orders", body, number, properties), number % 4)
    for number in range(75):
        yield Sent(Message(BUSY_QUEUE[0], chance.randbytes(number + 1), 0, _unique(1_000 + number)), 0)
    yield Sent(Message("Logs", b"no property at all"), 1)


def _iter_special(chance: Random) -> Iterator[Step]:
    """A batch, delays, a compressed body, a topic that does not exist yet, bodies that fill files."""
    entries = tuple(
        BatchEntry(number, b"batch" * number, encode_properties({**_unique(2_000 + number), "KEYS": "lot"}))
        for number in range(1, 6)
    )
    yield SentBatch("Orders", 2, entries, {known.WAIT: "true"})
    delayed = {known.DELAY: str(LAST_LEVEL), known.KEYS: "later"}
    yield Sent(Message("Orders", b"in two hours", 0, delayed), 1)
    compressed = zlib.compress(b"much of the same " * 1_000, 5)
    yield Sent(Message("Orders", compressed, 0, {known.KEYS: "small"}), 3, COMPRESSED)
    yield Sent(Message(AUTO_TOPIC, b"first", 0, {known.TAGS: "a"}), 3)
    for number in range(11):
        body = chance.randbytes(300_000 + 7 * number)
        yield Sent(Message("Large", body, 0, {known.KEYS: f"large-{number}"}), 0)


def derive_load() -> list[Step]:
    """The load, mixed in an order that is always the same."""
    chance = Random(497)
    steps = [*_iter_small(chance), *_iter_special(chance)]
    chance.shuffle(steps)
    return steps


def send_load(client: WireClient) -> None:
    """The broker has the topics, the messages and the committed offsets of the load."""
    for config in TOPICS:
        client.create_topic(config)
    for step in derive_load():
        match step:
            case Sent(message, queue_id, system_flag):
                client.send(message, queue_id, system_flag=system_flag)
            case SentBatch(topic, queue_id, entries, properties):
                client.send_batch(topic, queue_id, entries, properties)
    for (topic, group, queue_id), offset in COMMITTED.items():
        client.commit(group, topic, queue_id, offset)
