"""What a store was given and what it promised: the plain list that every recovery is compared with.

A message may be lost by a power cut only if nobody could rely on it: no finished sync covers it
and, with synchronous flush, it was neither acknowledged nor read. A killed process loses nothing.
An append that failed may have been written all the same; it may come back, as it was or not at all.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from refimpl.store.new_message import NewMessage
from spec.layout.index_chain import derive_keys
from spec.layout.record import decode_record
from spec.layout.record_head import RecordHead, decode_record_head
from spec.layout.stored_message import StoredMessage
from spec.recovery.state import QueueName
from spec.values.system_flag import BORN_HOST_IPV6, STORE_HOST_IPV6, has_queue_entry

_HOST_BITS = BORN_HOST_IPV6 | STORE_HOST_IPV6


@dataclass(frozen=True, slots=True)
class Entry:
    """A message in the log."""

    identity: str
    data: bytes
    record: StoredMessage
    waits: bool

    @property
    def position(self) -> int:
        return self.record.position

    @property
    def end(self) -> int:
        return self.record.position + self.record.size

    @property
    def head(self) -> RecordHead:
        return decode_record_head(memoryview(self.data))

    @property
    def name(self) -> QueueName:
        return QueueName(self.record.topic, self.record.queue_id)

    @property
    def has_unit(self) -> bool:
        return has_queue_entry(self.record.system_flag)

    def index_keys(self) -> tuple[str, ...]:
        return derive_keys(self.record.properties(), self.record.system_flag)


def is_record_of(record: StoredMessage, new: NewMessage) -> bool:
    """Whether the record says what the message says."""
    return (
        record.topic,
        record.queue_id,
        record.body,
        record.property_text,
        record.flag,
        record.system_flag & ~_HOST_BITS,
        record.born_host,
        record.store_host,
        record.born_at_ms,
        record.reconsume_times,
        record.prepared_position,
    ) == (
        new.topic,
        new.queue_id,
        new.body,
        new.property_text,
        new.flag,
        new.system_flag & ~_HOST_BITS,
        new.born_host,
        new.store_host,
        new.born_at_ms,
        new.reconsume_times,
        new.prepared_position,
    )


@dataclass(slots=True)
class Ledger:
    """All messages in the order of the log, and what is promised about them."""

    is_sync: bool
    entries: list[Entry] = field(default_factory=list)
    durable_end: int = 0
    """A sync that was started behind this place has ended well."""
    promised_end: int = 0
    """Of the messages whose sender was told, in synchronous mode, that they are stored."""
    served_end: int = 0
    """Of the messages that somebody has read."""
    retained_min: int = 0
    """Retention removed nothing behind this place."""
    attempts: list[NewMessage] = field(default_factory=list)
    """Appends that failed since the last start."""
    numbers: int = 0

    def copy(self) -> "Ledger":
        """The same, to be changed independently."""
        return Ledger(
            self.is_sync,
            list(self.entries),
            self.durable_end,
            self.promised_end,
            self.served_end,
            self.retained_min,
            list(self.attempts),
            self.numbers,
        )

    @property
    def end(self) -> int:
        """Where the last message ends."""
        return self.entries[-1].end if self.entries else 0

    @property
    def safe_end(self) -> int:
        """What lies before this place survives a power cut."""
        return max(self.durable_end, self.promised_end, self.served_end if self.is_sync else 0)

    def add(self, data: bytes, *, waits: bool = True) -> Entry:
        """The message stands behind all others, and was stored no earlier than they were."""
        record = decode_record(data)
        assert record.position >= self.end
        # Of removed messages nothing tells the time after a crash, and nobody searches for them by it.
        is_last_kept = bool(self.entries) and self.entries[-1].position >= self.retained_min
        assert not is_last_kept or record.stored_at_ms >= self.entries[-1].record.stored_at_ms
        self.numbers += 1
        entry = Entry(f"m{self.numbers}", data, record, waits)
        assert not entry.has_unit or record.queue_offset == self.next_offset(entry.name)
        self.entries.append(entry)
        return entry

    def next_offset(self, name: QueueName) -> int:
        """The offset that nobody has had: what retention removed counts."""
        return max((entry.record.queue_offset + 1 for entry in self.of_queue(name)), default=0)

    def of_queue(self, name: QueueName) -> Iterator[Entry]:
        """The messages that have a unit in the queue."""
        return (entry for entry in self.entries if entry.has_unit and entry.name == name)

    def names(self) -> list[QueueName]:
        """All queues that have or had a message."""
        return sorted({entry.name for entry in self.entries if entry.has_unit})

    def cut(self, log_end: int, *, may_lose: bool) -> list[Entry]:
        """What recovery took back is gone; it was allowed to."""
        lost = [entry for entry in self.entries if entry.position >= log_end]
        self.entries = [entry for entry in self.entries if entry.position < log_end]
        for entry in lost:
            assert may_lose, f"{entry.identity} at {entry.position} is lost, and only the process was killed"
            assert entry.end > self.safe_end, (
                f"{entry.identity} at {entry.position} is lost, the log ends at {log_end}, "
                f"and everything before {self.safe_end} was promised"
            )
        assert not self.entries or self.end <= log_end, "the log ends inside a message"
        return lost

    def adopt(self, data: bytes) -> Entry:
        """A message whose append failed has come back."""
        record = decode_record(data)
        attempt = next((new for new in self.attempts if is_record_of(record, new)), None)
        assert attempt is not None, f"nobody appended what stands at {record.position}: {record}"
        return self.add(data, waits=attempt.waits)
