"""The reference's own store, asked the same questions as a broker, and filled with the same load."""

import time
from pathlib import Path
from typing import Final

from model_tests.dialogue import ANY_TIME, read_messages
from model_tests.interop.load import AUTO_TOPIC, COMMITTED, TOPICS, Sent, SentBatch, Step, derive_load
from model_tests.interop.peer import CLUSTER, FileSizes
from model_tests.interop.served import KeyPlaces, Queues, Served, ServedQueue, derive_all_keys
from refimpl.real.disk import RealDisk
from refimpl.store.message_store import MessageStore, open_store
from refimpl.store.new_message import NewMessage
from refimpl.store.settings import StoreSettings
from spec.broker.send import PutStatus
from spec.broker.topic import TopicConfig
from spec.layout.batch import derive_stored_property_text
from spec.layout.config import config_file
from spec.layout.config.consumer_offset import OffsetKey, encode_offset_key
from spec.recovery.state import QueueName
from spec.values import property as known
from spec.values.host import host_of
from spec.values.property import encode_properties
from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.body.offset import ConsumerOffsetTable
from spec.wire.body.topic import TopicConfigTable

READ_COUNT: Final = 32
_BORN_HOST: Final = host_of("127.0.0.1", 45_678)
_STORE_HOST: Final = host_of("127.0.0.1", 10_911)


def now_ms() -> Milliseconds:
    """The time of this machine."""
    return Milliseconds(time.time_ns() // 1_000_000)


def derive_settings(sizes: FileSizes) -> StoreSettings:
    """The reference's settings for a store of these sizes."""
    return StoreSettings(
        log_file_size=sizes.log_file_size,
        units_per_file=sizes.units_per_file,
        index_slots=sizes.index_slots,
        index_entries=sizes.index_entries,
    )


def open_reference(store: Path, sizes: FileSizes) -> MessageStore:
    """The reference has the store open, and everything in its log can be read."""
    opened = open_store(RealDisk(store), derive_settings(sizes), now_ms=now_ms())
    opened.reput_all()
    return opened


def _read_queue(store: MessageStore, name: QueueName) -> ServedQueue:
    queue = store.queue(*name)
    at, body = queue.min_offset, b""
    while at < queue.max_offset:
        found = store.read(name, at, READ_COUNT)
        assert found.next_offset > at, found
        body += found.body
        at = found.next_offset
    return ServedQueue(queue.min_offset, queue.max_offset, read_messages(body))


def ask_queues(store: MessageStore) -> Queues:
    """The queues as the reference serves them, of those that hold anything."""
    names = sorted(queue.name for queue in store.queues if queue.max_offset > 0)
    return {name: _read_queue(store, name) for name in names}


def ask_keys(store: MessageStore, keys: list[tuple[str, str]]) -> KeyPlaces:
    """Where the index leads to for each key."""
    places: KeyPlaces = {}
    for topic, key in keys:
        found = store.query.by_key(topic, key, begin_ms=0, end_ms=ANY_TIME)
        places[topic, key] = tuple(message.position for message in found.messages)
    return places


def ask_reference(store: MessageStore) -> Served:
    """Everything, asked of the open store."""
    queues = ask_queues(store)
    messages = [message for queue in queues.values() for message in queue.messages]
    topics = store.config.load(config_file.TOPICS).value
    offsets = store.config.load(config_file.CONSUMER_OFFSETS).value
    return Served(
        queues,
        ask_keys(store, derive_all_keys(messages)),
        topics.topic_config_table if topics else {},
        offsets.offset_table if offsets else {},
    )


def _derive_message(step: Sent) -> NewMessage:
    """The message with the properties that a broker adds."""
    message, queue_id, bits = step
    text = encode_properties({**message.properties, known.CLUSTER: CLUSTER})
    return NewMessage(
        message.topic,
        QueueId(queue_id),
        message.body,
        _BORN_HOST,
        _STORE_HOST,
        text,
        message.flag,
        bits,
        now_ms(),
    )


def _derive_batch(step: SentBatch) -> list[NewMessage]:
    """The messages of the batch, each with its properties and those of the batch."""
    topic, queue_id, entries, properties = step
    return [
        NewMessage(
            topic,
            QueueId(queue_id),
            entry.body,
            _BORN_HOST,
            _STORE_HOST,
            derive_stored_property_text(entry.property_text, properties, CLUSTER),
            entry.flag,
            born_at_ms=now_ms(),
        )
        for entry in entries
    ]


def append_step(store: MessageStore, step: Step) -> None:
    """One step of the load is in the log."""
    if isinstance(step, Sent):
        appended = store.append(_derive_message(step), now_ms())
    else:
        appended = store.append_batch(_derive_batch(step), now_ms())
    assert appended.status is PutStatus.PUT_OK, appended


def fill_reference(store: MessageStore) -> None:
    """The store has the messages, topics and offsets of the load."""
    for step in derive_load():
        append_step(store, step)
    store.reput_all()
    topics = {config.name: config for config in (*TOPICS, TopicConfig(AUTO_TOPIC, 4, 4))}
    store.config.save(config_file.TOPICS, TopicConfigTable(topics))
    offsets: dict[str, dict[QueueId, QueueOffset]] = {}
    for (topic, group, queue_id), offset in COMMITTED.items():
        key = encode_offset_key(OffsetKey(topic, group))
        offsets.setdefault(key, {})[QueueId(queue_id)] = QueueOffset(offset)
    store.config.save(config_file.CONSUMER_OFFSETS, ConsumerOffsetTable(offsets))
