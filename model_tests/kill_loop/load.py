"""What a writer writes: messages of all sizes, alone and in batches, with keys, some of them delayed."""

from hashlib import blake2b
from random import Random
from typing import Final

from refimpl.store.new_message import NewMessage, derive_delayed
from refimpl.store.settings import StoreSettings
from spec.broker.schedule import DELAY_LEVELS
from spec.layout.record import encode_record
from spec.layout.record_head import RecordHead
from spec.layout.stored_message import Magic, StoredMessage
from spec.store.flush import FlushMode, FlushTiming
from spec.values.checksum import derive_checksum
from spec.values.host import host_of
from spec.values.property import encode_properties
from spec.values.units import Count, Milliseconds, QueueId

HOST: Final = host_of("127.0.0.1", 10911)
TOPICS: Final = ("Orders", "Payments")
QUEUE_COUNT: Final = 3
LARGEST_BATCH: Final = 6
BODY_LIMITS: Final = (0, 100, 100, 100, 1_000, 1_000, 9_000)
"""Most messages are small; some leave so little of a log file that the next one begins."""


def settings_for(mode: FlushMode) -> StoreSettings:
    """Files so small that all of them roll, and flushes so frequent that a kill meets them."""
    return StoreSettings(
        log_file_size=64 * 1024,
        units_per_file=40,
        index_slots=50,
        index_entries=200,
        flush_mode=mode,
        log_timing=FlushTiming(Milliseconds(10), Count(1), Milliseconds(50)),
        queue_timing=FlushTiming(Milliseconds(15), Count(1), Milliseconds(60)),
    )


def _message(random: Random, topic: str, queue_id: int, key: str, *, is_delayed: bool) -> NewMessage:
    properties = {"KEYS": key}
    if is_delayed:
        properties["DELAY"] = str(random.randint(1, len(DELAY_LEVELS)))
    return NewMessage(
        topic,
        QueueId(queue_id),
        random.randbytes(random.randint(0, random.choice(BODY_LIMITS))),
        HOST,
        HOST,
        encode_properties(properties),
        flag=random.randint(0, 9),
    )


def draw_messages(random: Random, name: str) -> list[NewMessage]:
    """One message or a batch; their keys begin with the name and are used once."""
    count = random.randint(2, LARGEST_BATCH) if random.random() < 0.2 else 1
    is_delayed = count == 1 and random.random() < 0.1
    topic, queue_id = random.choice(TOPICS), random.randrange(QUEUE_COUNT)
    return [
        _message(random, topic, queue_id, f"{name}.{number}", is_delayed=is_delayed)
        for number in range(count)
    ]


def derive_digest(data: bytes) -> str:
    """What tells one record from every other."""
    return blake2b(data, digest_size=12).hexdigest()


def encode_expected(message: NewMessage, head: RecordHead) -> bytes:
    """The record as it must stand in the log: what `spec.layout` makes of the message."""
    new = derive_delayed(message, len(DELAY_LEVELS))
    return encode_record(
        StoredMessage(
            head.size,
            Magic.MESSAGE,
            derive_checksum(new.body),
            new.queue_id,
            new.flag,
            head.queue_offset,
            head.position,
            new.system_flag,
            new.born_at_ms,
            new.born_host,
            head.stored_at_ms,
            new.store_host,
            new.reconsume_times,
            new.prepared_position,
            new.body,
            new.topic,
            new.property_text,
        )
    )
