"""Small stores for recovery: written record by record into files of 1000 bytes."""

from collections.abc import Iterable, Sequence
from typing import Final

from model_tests.spec.layout.sample import stored
from spec.layout.checkpoint import Checkpoint
from spec.layout.commit_log_file import encode_file_name, plan_append
from spec.layout.consume_queue import UNIT_SIZE, Unit, encode_unit
from spec.layout.index_file import derive_file_size
from spec.layout.record import encode_record
from spec.layout.record_head import RecordHead, derive_record_head
from spec.layout.record_walk import encode_blank
from spec.layout.stored_message import StoredMessage
from spec.recovery.state import QueueName, StoppedStore, StoreShape
from spec.recovery.store import derive_unit
from spec.recovery.store_file import FoundFile, found_bytes
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset

SHAPE: Final = StoreShape(
    log_file_size=1_000, units_per_file=4, index_file_size=derive_file_size(5, 10), delays_ms=(1_000, 5_000)
)
FIRST_STORED_AT_MS: Final = 1_000_000


class Log:
    """A log that grows as a broker writes it."""

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self.data = bytearray()
        self.records: list[StoredMessage] = []
        self.offsets: dict[QueueName, int] = {}

    @property
    def end(self) -> int:
        return self.start + len(self.data)

    def append(
        self, topic: str, body: bytes, queue_id: int = 0, *, system_flag: int = 0, keys: str = ""
    ) -> None:
        name = QueueName(topic, QueueId(queue_id))
        record = stored(
            topic,
            body,
            queue_id=queue_id,
            queue_offset=self.offsets.get(name, 0),
            stored_at_ms=FIRST_STORED_AT_MS + 10_000 * len(self.records),
            system_flag=system_flag,
            properties={"KEYS": keys} if keys else {},
        )
        plan = plan_append(CommitLogPosition(self.end), record.size, SHAPE.log_file_size)
        if plan.blank_at is not None:
            self.data += encode_blank(plan.blank_size).ljust(plan.blank_size, b"\0")
        record = record._replace(position=plan.record_at)
        self.data += encode_record(record)
        self.records.append(record)
        if derive_unit(derive_record_head(record), SHAPE.delays_ms) is not None:
            self.offsets[name] = self.offsets.get(name, 0) + 1

    def files(self, data: bytes | None = None) -> list[FoundFile]:
        """The log as files of full size, of other bytes if given."""
        content = bytes(self.data) if data is None else data
        size = SHAPE.log_file_size
        pieces = [content[at : at + size].ljust(size, b"\0") for at in range(0, len(content), size)]
        return [found_bytes(encode_file_name(self.start + n * size), piece) for n, piece in enumerate(pieces)]

    def heads(self) -> list[RecordHead]:
        """The records as a walk over the log sees them."""
        return [derive_record_head(record) for record in self.records]

    def units(self) -> dict[QueueName, list[Unit]]:
        """The units of every queue, in order."""
        units: dict[QueueName, list[Unit]] = {}
        for record in self.records:
            unit = derive_unit(derive_record_head(record), SHAPE.delays_ms)
            if unit is not None:
                units.setdefault(QueueName(record.topic, record.queue_id), []).append(unit)
        return units

    def stopped(
        self,
        *,
        queues: dict[QueueName, list[FoundFile]] | None = None,
        checkpoint_ms: int = 0,
        index_files: Sequence[FoundFile] = (),
        is_clean_stop: bool = False,
    ) -> StoppedStore:
        """The store as a start finds it; with whole queues unless others are given."""
        whole = {name: queue_files(units) for name, units in self.units().items()}
        time_ms = Milliseconds(checkpoint_ms)
        return StoppedStore(
            self.files(),
            whole if queues is None else queues,
            index_files,
            Checkpoint(time_ms, time_ms, time_ms),
            is_clean_stop,
        )


def queue_files(units: Iterable[Unit], first_offset: int = 0) -> list[FoundFile]:
    """A queue as files of full size, its first unit at `first_offset`, which begins a file."""
    content = b"".join(map(encode_unit, units))
    size = SHAPE.units_per_file * UNIT_SIZE
    pieces = [content[at : at + size].ljust(size, b"\0") for at in range(0, max(1, len(content)), size)]
    start = QueueOffset(first_offset) * UNIT_SIZE
    return [found_bytes(encode_file_name(start + n * size), piece) for n, piece in enumerate(pieces)]


def sample_log(count: int = 12, start: int = 0) -> Log:
    """Messages of two topics, three queues, 150 bytes each: six to a file."""
    log = Log(start)
    for number in range(count):
        log.append("AB"[number % 2], b"x" * 51, number % 3, keys=f"k{number}")
    return log
