"""The operation records that a check round has read, and how long each one is needed.

A record decides the half message that it names, and a deferred copy of it which may stand further
on. All copies stand before the end that the half topic has when the record is read: what is decided
is not appended again. So the record is needed until the checks have passed that end.
"""

from typing import Final, NamedTuple

from refimpl.broker.half_store import decode_family
from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.message_store import MessageStore
from spec.broker.transaction import (
    OPERATION_BATCH,
    advance_operation_cursor,
    decode_operation,
    is_half_decided,
)
from spec.layout.consume_queue import Unit, iter_units
from spec.layout.stored_message import StoredMessage
from spec.recovery.queue import is_filler
from spec.rejection import Rejection
from spec.values.name import OPERATION_TOPIC
from spec.values.system_flag import TransactionType
from spec.values.units import CommitLogPosition, Milliseconds, QueueOffset

_DONE: Final = QueueOffset(0)


class _Record(NamedTuple):
    half_offsets: tuple[QueueOffset, ...]
    family: CommitLogPosition | None
    """Where the first copy of the half message stands; only the reference writes that down."""
    needed_until: QueueOffset
    """The half topic's cursor from which on the record is not needed."""


class _Word(NamedTuple):
    """What the last record that names a half message says."""

    record_offset: QueueOffset
    kind: TransactionType


class OperationRecords:
    """What is known of the operation topic from its cursor on."""

    def __init__(self, store: MessageStore, cursor: QueueOffset) -> None:
        self._store = store
        self.cursor = cursor
        self._next = cursor
        self._records: dict[QueueOffset, _Record] = {}
        self._by_offset: dict[QueueOffset, _Word] = {}
        self._by_family: dict[CommitLogPosition, _Word] = {}

    @property
    def queue(self) -> ConsumeQueue:
        """Where the records stand."""
        return self._store.queue(OPERATION_TOPIC, 0)

    def read(self, half_end: QueueOffset) -> Milliseconds | None:
        """The next records are known; when the last one of them was born, None if there are no more.

        Clause: broker.transaction.no-check-before-records
        """
        queue = self.queue
        if self._next < queue.min_offset:
            self.cursor = self._next = queue.min_offset
        units = queue.read_units(self._next, OPERATION_BATCH) if self._next < queue.max_offset else None
        newest_ms: Milliseconds | None = None
        for unit in iter_units(units or b""):
            newest_ms = self._take(unit, half_end, newest_ms or Milliseconds(0))
        return newest_ms

    def _take(self, unit: Unit, half_end: QueueOffset, before_ms: Milliseconds) -> Milliseconds:
        """One record is known, or seen to say nothing; its birth."""
        offset, self._next = self._next, QueueOffset(self._next + 1)
        stored = None if is_filler(unit) else self._store.query.by_position(unit.position, unit.size)
        named = _decode(stored)
        if stored is None or not named:
            self._records[offset] = _Record((), None, _DONE)
            return before_ms if stored is None else stored.born_at_ms
        word = _Word(offset, _read_kind(stored.flag))
        family = decode_family(stored.prepared_position)
        self._records[offset] = _Record(named, family, half_end)
        self._by_offset.update(dict.fromkeys(named, word))
        if family is not None:
            self._by_family[family] = word
        return stored.born_at_ms

    def find(
        self, offset: QueueOffset, told_offset: QueueOffset | None, family: CommitLogPosition
    ) -> TransactionType | None:
        """How a record that was read decided the half message; None if none names it.

        Clauses: broker.transaction.no-check-before-records, broker.transaction.deferred-keeps-place
        """
        word = self._by_family.get(family)
        if word is None and is_half_decided(offset, told_offset, self._by_offset.keys()):
            word = self._by_offset.get(offset) or self._by_offset.get(QueueOffset(told_offset or 0))
        return None if word is None else word.kind

    def advance(self, half_cursor: int) -> None:
        """The cursor has passed what nobody needs when the checks go on at `half_cursor`.

        Clause: broker.transaction.operation-cursor
        """
        finished: set[int] = set()
        at = self.cursor
        while (record := self._records.get(at)) is not None and record.needed_until <= half_cursor:
            finished.add(at)
            del self._records[at]
            for offset in record.half_offsets:
                if self._by_offset[offset].record_offset == at:
                    del self._by_offset[offset]
            if record.family is not None and self._by_family[record.family].record_offset == at:
                del self._by_family[record.family]
            at = QueueOffset(at + 1)
        self.cursor = advance_operation_cursor(self.cursor, frozenset(finished))


def _decode(stored: StoredMessage | None) -> tuple[QueueOffset, ...]:
    """The half messages that a record names, each once; none if it cannot be read."""
    try:
        return () if stored is None else tuple(dict.fromkeys(decode_operation(stored.body)))
    except Rejection:
        return ()


def _read_kind(flag: int) -> TransactionType:
    """How a record decides; what it does not say counts as a commit."""
    return TransactionType.ROLLBACK if flag == TransactionType.ROLLBACK else TransactionType.COMMIT
