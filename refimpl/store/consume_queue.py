"""A consume queue: the units of one queue, and where the queue begins and ends.

Units are collected while a stretch of the log is dispatched and written together; until then the
queue's end does not move, so a write that fails has changed nothing and the stretch is dispatched
again. What is in a queue follows from the log; recovery makes it anew where it is missing.
"""

import struct
from typing import Final

from refimpl.store.file_sequence import FileSequence, SequenceSync
from refimpl.store.open_files import OpenFiles
from spec.layout.consume_queue import FILLER, UNIT_SIZE, Unit, decode_unit, derive_readable_units, encode_unit
from spec.layout.queue_append import Put, QueueTail, derive_emptied_tail, put_unit
from spec.recovery.queue import is_filler
from spec.recovery.state import QueueName
from spec.rejection import Rejection
from spec.store.retention import count_expired_queue_files
from spec.values.units import CommitLogPosition, QueueOffset

_FILLER: Final = encode_unit(FILLER)
_UNIT: Final = struct.Struct(">qiq")

EMPTY_TAIL: Final = QueueTail(is_empty=True, next_offset=QueueOffset(0), covered=CommitLogPosition(0))
"""Of a queue without a unit."""


class ConsumeQueue:
    """One queue."""

    def __init__(self, name: QueueName, files: OpenFiles, folder: str, units_per_file: int) -> None:
        self.name = name
        self.units_per_file = units_per_file
        self.sequence = FileSequence(files, folder, units_per_file * UNIT_SIZE)
        self.min_offset = QueueOffset(0)
        """The first offset whose message is still in the log; the end if there is none."""
        self.tail = EMPTY_TAIL
        """The end of what is written: what a reader sees."""
        self._next_offset, self._covered = EMPTY_TAIL.next_offset, EMPTY_TAIL.covered
        """The end with the units that wait."""
        self._waiting = bytearray()
        self._waiting_at = 0
        self.unsynced_bytes = 0
        """How much was written since the last sync was started."""

    @property
    def max_offset(self) -> QueueOffset:
        """The offset behind the last unit that can be read."""
        return self.tail.next_offset

    def set_tail(self, tail: QueueTail) -> None:
        """The queue ends here; nothing waits."""
        self.tail = tail
        self._next_offset, self._covered = tail.next_offset, tail.covered
        self._waiting = bytearray()

    def put(self, unit: Unit, queue_offset: QueueOffset) -> Put:
        """The unit waits to be written, if the queue does not have it.

        Clauses: store.queue.dispatch-is-idempotent, store.queue.offset-is-place, store.queue.filler,
        recovery.queue.gap-limit
        """
        if self._waiting and queue_offset == self._next_offset and unit.position >= self._covered:
            # What `put_unit` says of the usual case, without the steps that lead to it.
            self._waiting += _UNIT.pack(*unit)
            self._next_offset = QueueOffset(queue_offset + 1)
            self._covered = CommitLogPosition(unit.position + unit.size)
            return Put.APPEND
        step = put_unit(self._waiting_tail(), unit, queue_offset, self.units_per_file)
        if not step.writes:
            return step.put
        if step.fillers > self.units_per_file:
            reason = f"queue offset {queue_offset} stands {step.fillers} behind the end of its queue"
            raise Rejection("recovery.queue.gap-limit", unit.position, reason)
        if not self._waiting:
            self._waiting_at = (queue_offset - step.fillers) * UNIT_SIZE
            if self.tail.is_empty:
                self.min_offset = queue_offset
        self._waiting += _FILLER * step.fillers + encode_unit(unit)
        self._next_offset, self._covered = step.tail.next_offset, step.tail.covered
        return step.put

    def _waiting_tail(self) -> QueueTail:
        """The end with the units that wait."""
        is_empty = self.tail.is_empty and not self._waiting
        return QueueTail(is_empty, self._next_offset, self._covered)

    def write_waiting(self) -> None:
        """The units that waited can be read; after a failure none of them counts as written."""
        place, data = self._waiting_at, memoryview(self._waiting)
        while data:
            if not self.sequence.has(place):
                self.sequence.begin_file(place - place % self.sequence.file_size)
            room = self.sequence.file_size - place % self.sequence.file_size
            self.sequence.write(place, data[:room])
            self.unsynced_bytes += len(data[:room])
            place, data = place + room, data[room:]
        self.set_tail(self._waiting_tail())

    def start_sync(self) -> SequenceSync:
        """A sync of all that is written."""
        self.unsynced_bytes = 0
        return self.sequence.start_sync()

    def sync(self) -> None:
        """All that is written is on disk."""
        self.unsynced_bytes = 0
        self.sequence.sync()

    def forget_waiting(self) -> None:
        """Nothing waits: the stretch of the log will be dispatched again."""
        self.set_tail(self.tail)

    def empty(self, next_offset: int, log_end: int) -> None:
        """The queue has no message, and what the log has of it before its end stays out of it.

        After a failure its oldest messages are gone, or all of them; a crash may bring them back.

        Clause: store.queue.emptied-goes-on
        """
        self.forget_waiting()
        try:
            self.sequence.remove_all()
        finally:
            if self.sequence.starts:
                self.min_offset = max(self.min_offset, QueueOffset(self.sequence.first // UNIT_SIZE))
            else:
                self.set_tail(derive_emptied_tail(next_offset, log_end))
                self.min_offset, self.unsynced_bytes = self.max_offset, 0

    def read_units(self, queue_offset: int, count: int) -> bytes | None:
        """The bytes of up to `count` units of one file; None if there is no file for the offset.

        Clause: store.queue.read-ends-with-file
        """
        place = queue_offset * UNIT_SIZE
        if not self.sequence.has(place):
            return None
        readable = derive_readable_units(queue_offset, self.max_offset, self.units_per_file)
        return self.sequence.read(place, min(count, readable) * UNIT_SIZE)

    def read_unit(self, queue_offset: int) -> Unit | None:
        """The unit of an offset; None outside the queue."""
        data = self.read_units(queue_offset, 1) if queue_offset >= 0 else None
        return decode_unit(data) if data else None

    def correct_min_offset(self, log_min: int) -> None:
        """The queue begins with the first message that is still in the log.

        Clause: recovery.queue.min-offset
        """
        if not self.sequence.starts:
            # Emptied, or never written: there is nothing to look at, however high the numbers are.
            self.min_offset = self.max_offset
            return
        low, high = self.sequence.first // UNIT_SIZE, self.max_offset
        while low < high:
            middle = (low + high) // 2
            offset, unit = self._next_message(middle, high)
            if unit is None or unit.position < log_min:
                low = offset + 1 if unit else high
            else:
                high = QueueOffset(middle)
        self.min_offset = QueueOffset(self._next_message(low, self.max_offset)[0])

    def _next_message(self, offset: int, end: int) -> tuple[int, Unit | None]:
        """The first unit from an offset on that stands for a message, and its offset; the end without one."""
        while offset < end:
            unit = self.read_unit(offset)
            if unit is not None and not is_filler(unit):
                return offset, unit
            offset += 1
        return end, None

    def remove_expired(self, log_min: int, log_flushed: int) -> None:
        """Files that lead to nothing in the log are gone; the last one that survives a crash stays.

        Clause: store.retention.derived-files-follow
        """
        positions: list[int] = []
        for start in self.sequence.starts:
            first = self._next_message(start // UNIT_SIZE, self.max_offset)[1]
            if first is None or first.end > log_flushed:
                break
            last = self.read_unit(start // UNIT_SIZE + self.units_per_file - 1)
            # A file that is not full stays: the next unit goes there.
            positions.append(log_min if last is None else last.position)
        self.sequence.remove_first(count_expired_queue_files(positions, log_min))
