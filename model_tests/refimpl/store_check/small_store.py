"""A store made by the specification's rules, with many small files of every kind."""

import struct
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from refimpl.store_check.index_shape import IndexShape
from spec.layout.checkpoint import Checkpoint, encode_checkpoint
from spec.layout.commit_log_file import encode_file_name, plan_append
from spec.layout.consume_queue import UNIT_SIZE, encode_unit
from spec.layout.index_chain import derive_keys, derive_slot, hash_key, put_key
from spec.layout.index_file import EMPTY_HEADER, IndexHeader, encode_entry, encode_header
from spec.layout.record import encode_record
from spec.layout.record_head import derive_record_head
from spec.layout.record_walk import encode_blank
from spec.layout.stored_message import StoredMessage, make_record
from spec.recovery.state import QueueName
from spec.recovery.store import derive_unit
from spec.values.checksum import derive_checksum
from spec.values.host import host_of
from spec.values.message import Message
from spec.values.units import ByteCount, CommitLogPosition, Count, Index, Milliseconds, QueueId, QueueOffset

FILE_SIZE: Final = 1000
UNITS_PER_FILE: Final = 5
SHAPE: Final = IndexShape(7, 10)
BEGUN_AT_MS: Final = 1_700_000_000_000


def make_records(count: int) -> list[StoredMessage]:
    """Messages with two keys each, a second apart, in three queues; some have IPv6 hosts, some are halves."""
    records: list[StoredMessage] = []
    next_offsets: defaultdict[int, int] = defaultdict(int)
    end = CommitLogPosition(0)
    for number in range(count):
        host = host_of("::1" if number % 4 == 3 else "127.0.0.1", 10_911)
        properties = {"UNIQ_KEY": f"{number:032X}", "KEYS": f"k{number} same", "TAGS": "AB"[number % 2]}
        is_half = number % 7 == 6
        record = make_record(
            Message("T", b"x" * number, 0, properties),
            queue_id=QueueId(number % 3),
            born_host=host,
            store_host=host,
            queue_offset=QueueOffset(0 if is_half else next_offsets[number % 3]),
            stored_at_ms=Milliseconds(BEGUN_AT_MS + number * 1000),
            system_flag=4 if is_half else 0,
        )
        next_offsets[number % 3] += not is_half
        at = plan_append(end, record.size, FILE_SIZE).record_at
        records.append(record._replace(position=at))
        end = records[-1].end
    return records


def make_sized_record(record: StoredMessage, body_length: int) -> StoredMessage:
    """The same message with a body of this length."""
    body = b"y" * body_length
    size = ByteCount(record.size - len(record.body) + body_length)
    return record._replace(body=body, size=size, body_crc=derive_checksum(body))


def encode_log(records: Iterable[StoredMessage]) -> dict[str, bytes]:
    """The log's files."""
    log, end = bytearray(), 0
    for record in records:
        if record.position > end:
            log += encode_blank(record.position - end).ljust(record.position - end, b"\0")
        log += encode_record(record)
        end = record.end
    log += bytes(-len(log) % FILE_SIZE)
    return {
        f"commitlog/{encode_file_name(at)}": bytes(log[at : at + FILE_SIZE])
        for at in range(0, len(log), FILE_SIZE)
    }


def encode_queues(records: Iterable[StoredMessage]) -> dict[str, bytes]:
    """The files of all queues."""
    queues: defaultdict[QueueName, bytes] = defaultdict(bytes)
    for record in records:
        unit = derive_unit(derive_record_head(record), ())
        if unit is not None:
            queues[QueueName(record.topic, record.queue_id)] += encode_unit(unit)
    size = UNITS_PER_FILE * UNIT_SIZE
    return {
        f"consumequeue/{topic}/{queue_id}/{encode_file_name(at)}": units[at : at + size].ljust(size, b"\0")
        for (topic, queue_id), units in queues.items()
        for at in range(0, len(units), size)
    }


class _IndexFile:
    """One index file while it is filled."""

    def __init__(self, before: IndexHeader) -> None:
        seed = before._replace(begin_at_ms=before.end_at_ms, begin_position=before.end_position)
        self.header = seed._replace(used_slots=Count(0), next_entry=Index(1))
        self._content = bytearray(SHAPE.file_size)

    def put(self, key_hash: int, record: StoredMessage) -> bool:
        """Whether there was room for the key."""
        slot_at = 40 + 4 * derive_slot(key_hash, SHAPE.slots)
        slot: int = struct.unpack_from(">i", self._content, slot_at)[0]
        done = put_key(
            self.header, slot, key_hash, record.position, record.stored_at_ms, entries=SHAPE.entries
        )
        if done is None:
            return False
        at = 40 + 4 * SHAPE.slots + 20 * done.number
        self._content[at : at + 20] = encode_entry(done.entry)
        struct.pack_into(">i", self._content, slot_at, done.number)
        self.header = done.header
        return True

    def encode(self) -> bytes:
        self._content[:40] = encode_header(self.header)
        return bytes(self._content)


def encode_index(records: Iterable[StoredMessage]) -> dict[str, bytes]:
    """The index files."""
    files = [_IndexFile(EMPTY_HEADER)]
    for record in records:
        for key in derive_keys(record.properties(), record.system_flag):
            key_hash = hash_key(record.topic, key)
            if not files[-1].put(key_hash, record):
                files.append(_IndexFile(files[-1].header))
                files[-1].put(key_hash, record)
    return {index_path(number): file.encode() for number, file in enumerate(files)}


def index_path(number: int) -> str:
    return f"index/2024010100000{number:04d}"


def make_store(count: int) -> dict[str, bytes]:
    """All files of a store that was stopped."""
    records = make_records(count)
    last = records[-1].stored_at_ms
    checkpoint = encode_checkpoint(Checkpoint(last, last, last))
    return {
        **encode_log(records),
        **encode_queues(records),
        **encode_index(records),
        "checkpoint": checkpoint,
        "config/topics.json": b'{"topicConfigTable":{"T":{"topicName":"T","readQueueNums":3,"perm":6}}}',
    }
