"""The operation records that a check round has read, and how long each one is needed.

A record is needed until the half message that it names was passed. One that names a place which
was passed before the record was read may decide a copy further on; such copies stand before the
end that the half topic had when the record was read, so it is needed until that end was passed.
"""

from typing import Final, NamedTuple

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
from spec.values.units import Milliseconds, QueueOffset

_DONE: Final = QueueOffset(0)


class _Record(NamedTuple):
    named: tuple[QueueOffset, ...]
    needed_until: QueueOffset
    """The half topic's cursor from which on the record is not needed."""


class OperationRecords:
    """What is known of the operation topic from its cursor on."""

    def __init__(self, store: MessageStore, cursor: QueueOffset) -> None:
        self._store = store
        self.cursor = cursor
        self._next = cursor
        self._records: dict[QueueOffset, _Record] = {}
        self._kinds: dict[QueueOffset, int] = {}
        """The half messages that are named, and how they were decided as far as the record says."""

    @property
    def queue(self) -> ConsumeQueue:
        """Where the records stand."""
        return self._store.queue(OPERATION_TOPIC, 0)

    def read(self, half_cursor: int, half_end: int) -> Milliseconds | None:
        """The next records are known; when the last one of them was born, None if there are no more.

        Clause: broker.transaction.no-check-before-records
        """
        queue = self.queue
        if self._next < queue.min_offset:
            self.cursor = self._next = queue.min_offset
        units = queue.read_units(self._next, OPERATION_BATCH) if self._next < queue.max_offset else None
        newest_ms: Milliseconds | None = None
        for unit in iter_units(units or b""):
            newest_ms = self._take(unit, half_cursor, half_end, newest_ms or Milliseconds(0))
        return newest_ms

    def _take(self, unit: Unit, half_cursor: int, half_end: int, before_ms: Milliseconds) -> Milliseconds:
        """One record is known, or seen to say nothing; its birth."""
        offset, self._next = self._next, QueueOffset(self._next + 1)
        stored = None if is_filler(unit) else self._store.query.by_position(unit.position, unit.size)
        named = _decode(stored)
        until = [place + 1 if place >= half_cursor else half_end for place in named]
        self._records[offset] = _Record(named, QueueOffset(max(until, default=_DONE)))
        for place in named:
            self._kinds[place] = TransactionType.COMMIT if stored is None else stored.flag
        return before_ms if stored is None else stored.born_at_ms

    def is_decided(self, offset: int, told_offset: int | None) -> bool:
        """Whether a record that was read names the half message.

        Clause: broker.transaction.deferred-keeps-place
        """
        return is_half_decided(offset, told_offset, self._kinds.keys())

    def kind(self, offset: QueueOffset, told_offset: QueueOffset | None) -> TransactionType:
        """How the half message was decided; what a record does not say counts as a commit."""
        kind = self._kinds.get(offset)
        if kind is None and told_offset is not None:
            kind = self._kinds.get(told_offset)
        return TransactionType.ROLLBACK if kind == TransactionType.ROLLBACK else TransactionType.COMMIT

    def advance(self, half_cursor: int) -> None:
        """The cursor has passed what nobody needs when the checks go on at `half_cursor`.

        Clause: broker.transaction.operation-cursor
        """
        finished: set[int] = set()
        at = self.cursor
        while (record := self._records.get(at)) is not None and record.needed_until <= half_cursor:
            finished.add(at)
            del self._records[at]
            for place in record.named:
                self._kinds.pop(place, None)
            at = QueueOffset(at + 1)
        self.cursor = advance_operation_cursor(self.cursor, frozenset(finished))


def _decode(stored: StoredMessage | None) -> tuple[QueueOffset, ...]:
    """The half messages that a record names; none if it cannot be read."""
    try:
        return () if stored is None else decode_operation(stored.body)
    except Rejection:
        return ()
