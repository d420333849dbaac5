"""The figures of the storage engine, each from one store in a temporary folder.

What the engine does is compared with a bare loop that packs, checksums and writes the same bytes for
the same messages, in as few calls: the record, the unit of the queue, the entry of the index. That they
are the same is looked at in every run.
"""

import os
import statistics
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from model_tests.bench.figure import Figure
from refimpl.real.disk import RealDisk
from refimpl.store.message_store import MessageStore, open_store
from refimpl.store.new_message import NewMessage
from spec.layout.commit_log_file import FILE_SIZE, encode_file_name
from spec.layout.consume_queue import UNIT_SIZE
from spec.layout.index_chain import hash_key
from spec.layout.index_file import ENTRY_SIZE, FIRST_ENTRY, SLOTS_PER_FILE, derive_entry_position
from spec.layout.record_head import RecordHead
from spec.layout.stored_message import Magic
from spec.recovery.log_walk import walk_log
from spec.recovery.state import QueueName
from spec.recovery.store_file import FoundFile, arrange_files
from spec.values.host import host_of
from spec.values.java_text import java_hash
from spec.values.units import ByteCount, Milliseconds, QueueId

HERE: Final = host_of("127.0.0.1", 10911)
TOPIC: Final = "OrderTopic"
TAG: Final = "TagA"
BODY: Final = bytes(range(256)) * 4
BATCH: Final = 64
"""Messages between two calls of reput: what a busy broker finds in its sockets at once."""
PULLED: Final = 32
ROUNDS: Final = 25
MESSAGES_PER_ROUND: Final = 64 * 50
GROWTH: Final = (10_000, 100_000, 1_000_000, 10_000_000)
"""Sizes of the store at which the cost of a message is measured."""
GROWTH_WINDOW: Final = 10_000
GROWTH_SLICES: Final = 10
"""Slices of a window: the median of their costs is the window's, whatever else the machine does meanwhile."""
BIG_STORE_BYTES: Final = 10 * 1024**3
NOW_MS: Final = 1_700_000_000_000


def _key(number: int) -> str:
    return f"7F000001{number:024X}"


def _property_text(number: int) -> str:
    return f"TAGS\1{TAG}\2UNIQ_KEY\1{_key(number)}\2CLUSTER\1DefaultCluster"


def _messages(first: int, count: int, queue_id: int = 0) -> list[NewMessage]:
    return [
        NewMessage(
            TOPIC, QueueId(queue_id), BODY, HERE, HERE, _property_text(number), 0, 0, Milliseconds(NOW_MS)
        )
        for number in range(first, first + count)
    ]


def append_all(store: MessageStore, messages: list[NewMessage]) -> None:
    """The messages can be read."""
    for at in range(0, len(messages), BATCH):
        for message in messages[at : at + BATCH]:
            store.append(message, NOW_MS)
        store.reput()


class BareLoop:
    """Packs, checksums and writes the bytes that the engine writes, in as few calls, and does nothing else.

    The engine writes each record with one call, units and entries of a batch together, and the slots
    of the index only when its file is full: so does the loop, or it would be an easy one to compare with.
    """

    def __init__(self, folder: Path) -> None:
        self._record = struct.Struct(">iIiiiqqiq8sq8siqi")
        self._unit = struct.Struct(">qiq")
        self._entry = struct.Struct(">iqii")
        self._paths = [folder / name for name in ("log", "queue", "entries")]
        self._files = [self._open(path) for path in self._paths]
        self._position = self._number = 0
        self._slots = [0] * SLOTS_PER_FILE

    @staticmethod
    def _open(path: Path) -> int:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        os.ftruncate(descriptor, FILE_SIZE)
        return descriptor

    def run(self, messages: list[NewMessage], keys: list[str]) -> None:
        """The bytes are written."""
        log, queue, entries = self._files
        tag_code = java_hash(TAG)
        for at in range(0, len(messages), BATCH):
            first = self._number
            places = [self._write_record(log, message) for message in messages[at : at + BATCH]]
            units = [self._unit.pack(position, size, tag_code) for position, size in places]
            os.pwrite(queue, b"".join(units), first * UNIT_SIZE)
            found = [
                self._pack_entry(hash_key(TOPIC, key), position, number)
                for number, (key, (position, _)) in enumerate(
                    zip(keys[at : at + BATCH], places, strict=True), first + FIRST_ENTRY
                )
            ]
            os.pwrite(entries, b"".join(found), first * ENTRY_SIZE)

    def _write_record(self, log: int, message: NewMessage) -> tuple[int, int]:
        host, topic = HERE.address + HERE.port.to_bytes(4, "big"), bytes((len(TOPIC),)) + TOPIC.encode()
        properties, body, position = message.property_text.encode(), message.body, self._position
        size = self._record.size + len(body) + len(topic) + 2 + len(properties)
        fixed = self._record.pack(
            *(size, Magic.MESSAGE, zlib.crc32(body) & 0x7FFF_FFFF, 0, 0, self._number, position, 0, NOW_MS),
            *(host, NOW_MS, host, 0, 0, len(body)),
        )
        os.pwrite(
            log, b"".join((fixed, body, topic, len(properties).to_bytes(2, "big"), properties)), position
        )
        self._position, self._number = position + size, self._number + 1
        return position, size

    def _pack_entry(self, key_hash: int, position: int, number: int) -> bytes:
        slot = key_hash % SLOTS_PER_FILE
        previous, self._slots[slot] = self._slots[slot], number
        return self._entry.pack(key_hash, position, 0, previous)

    def check_same(self, root: Path) -> None:
        """The store in `root` has the bytes that the loop wrote."""
        (index,) = (root / "index").iterdir()
        entries_at = derive_entry_position(FIRST_ENTRY, SLOTS_PER_FILE)
        written = (
            (root / "commitlog" / encode_file_name(0), 0, self._position),
            (root / "consumequeue" / TOPIC / "0" / encode_file_name(0), 0, self._number * UNIT_SIZE),
            (index, entries_at, self._number * ENTRY_SIZE),
        )
        for mine, (path, at, length) in zip(self._paths, written, strict=True):
            if _read(mine, 0, length) != _read(path, at, length):
                raise ValueError(f"the bare loop wrote other bytes than stand in {path}")

    def close(self) -> None:
        """The files are closed."""
        for descriptor in self._files:
            os.close(descriptor)


def _read(path: Path, at: int, length: int) -> bytes:
    with path.open("rb") as file:
        file.seek(at)
        return file.read(length)


@contextmanager
def _new_store() -> Iterator[tuple[MessageStore, Path]]:
    with tempfile.TemporaryDirectory(prefix="mqspec-bench-") as name:
        store = open_store(RealDisk(Path(name) / "store"), now_ms=NOW_MS)
        try:
            yield store, Path(name)
        finally:
            store.close(NOW_MS)


def measure_append() -> tuple[Figure, ...]:
    """Append and reput of 1 KiB messages, rounds alternating with the bare loop."""
    with _new_store() as (store, folder):
        bare = BareLoop(folder)
        rates: list[float] = []
        ratios: list[float] = []
        for number in range(ROUNDS):
            first = number * MESSAGES_PER_ROUND
            messages = _messages(first, MESSAGES_PER_ROUND)
            keys = [_key(first + count) for count in range(MESSAGES_PER_ROUND)]
            started = time.perf_counter()
            bare.run(messages, keys)
            between = time.perf_counter()
            append_all(store, messages)
            ended = time.perf_counter()
            rates.append(len(messages) / (ended - between))
            ratios.append((between - started) / (ended - between))
        bare.check_same(folder / "store")
        bare.close()
    return (
        Figure("store: append + reput, 1 KiB, one key", statistics.median(rates), "/s", 50_000),
        Figure("store: append + reput / bare loop, same bytes", statistics.median(ratios), "x", 0.35),
    )


def _pull_all(store: MessageStore, name: QueueName) -> int:
    offset = count = 0
    while (found := store.read(name, offset, PULLED)).message_count:
        offset, count = found.next_offset, count + found.message_count
    return count


def measure_read() -> tuple[Figure, ...]:
    """A whole queue, pulled in batches of 32."""
    name = QueueName(TOPIC, QueueId(0))
    with _new_store() as (store, _):
        append_all(store, _messages(0, MESSAGES_PER_ROUND * 10))
        rates: list[float] = []
        for _ in range(ROUNDS):
            started = time.perf_counter()
            count = _pull_all(store, name)
            rates.append(count / (time.perf_counter() - started))
    return (Figure("store: read of pulled batches", statistics.median(rates), "/s", 300_000),)


def measure_scan() -> tuple[Figure, ...]:
    """The log read again, every record checked, as recovery does it."""
    with _new_store() as (store, folder):
        append_all(store, _messages(0, MESSAGES_PER_ROUND * 10))
        path = folder / "store" / "commitlog" / f"{0:020d}"
        with path.open("rb") as file:

            def read(at: int, length: int) -> bytes:
                file.seek(at)
                return file.read(length)

            files = arrange_files([FoundFile(path.name, ByteCount(FILE_SIZE), read)], FILE_SIZE)
            rates: list[float] = []
            for _ in range(ROUNDS // 4):
                started = time.perf_counter()
                count = sum(isinstance(item, RecordHead) for item in walk_log(files, 0))
                rates.append(count / (time.perf_counter() - started))
    return (Figure("store: recovery scan with CRC, 1 KiB", statistics.median(rates), "records/s", 150_000),)


def _measure_window(store: MessageStore, bare: BareLoop, first: int) -> float:
    """The processor time of a message, as a multiple of what the bare loop needs for it at the same moment.

    Minutes lie between two windows, and what the machine gives changes in them; the multiple does not.
    """
    size = GROWTH_WINDOW // GROWTH_SLICES
    multiples: list[float] = []
    for at in range(first, first + GROWTH_WINDOW, size):
        messages = _messages(at, size)
        keys = [_key(number) for number in range(at, at + size)]
        started = time.process_time()
        bare.run(messages, keys)
        between = time.process_time()
        append_all(store, messages)
        ended = time.process_time()
        multiples.append((ended - between) / (between - started))
    return statistics.median(multiples)


def measure_growth() -> tuple[Figure, ...]:
    """The cost of a message while the store grows to ten million, and the memory to open and serve that."""
    costs: list[float] = []
    with tempfile.TemporaryDirectory(prefix="mqspec-bench-") as name:
        root = Path(name) / "store"
        store = open_store(RealDisk(root), now_ms=NOW_MS)
        bare = BareLoop(Path(name))
        written = 0
        for size in GROWTH:
            while written < size - GROWTH_WINDOW:
                append_all(store, _messages(written, GROWTH_WINDOW, written // GROWTH_WINDOW % 8))
                written += GROWTH_WINDOW
                store.flush(NOW_MS + written)
            costs.append(_measure_window(store, bare, written))
            written += GROWTH_WINDOW
        if store.log.byte_count < BIG_STORE_BYTES:
            raise ValueError(f"the store has only {store.log.byte_count} bytes")
        bare.close()
        store.close(NOW_MS)
        command = [sys.executable, "-m", "model_tests.bench.resident", str(root), TOPIC]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return (
        Figure(
            "store: cost of a message at 10 M / at 10 k",
            costs[-1] / costs[0],
            "x",
            1.25,
            smaller_is_better=True,
        ),
        Figure(
            "store: resident memory, 10 GiB opened and served",
            float(answer),
            "MiB",
            200,
            smaller_is_better=True,
        ),
    )
