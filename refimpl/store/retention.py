"""Removing what is old: whole files, from the oldest on, and what led to them.

When and which is decided in `spec.store.retention`. Names go before anything else: once a log file
is out of the list, the minimum offsets of all queues move behind it, and a reader that still has
an older offset is told that its message is gone.
"""

from datetime import datetime, tzinfo
from typing import NamedTuple

from refimpl.store.recovery import StoreParts
from spec.recovery.state import QueueName
from spec.store.retention import (
    FIRST_MS,
    INTERVAL_MS,
    MANUAL_ROUNDS,
    DiskPressure,
    count_expired,
    count_expired_index_files,
    derive_pressure,
    is_cleaning_due,
)
from spec.values.units import CommitLogPosition, Count, QueueOffset


class Removed(NamedTuple):
    """What one round removed."""

    log_files: Count
    log_min: CommitLogPosition
    moved: tuple[tuple[QueueName, QueueOffset], ...]
    """Queues whose minimum offset moved, and where it is now."""


class Retention:
    """The cleaner of one store."""

    def __init__(self, parts: StoreParts, zone: tzinfo, now_ms: int) -> None:
        self._parts = parts
        self._zone = zone
        self._next_ms = now_ms + FIRST_MS
        self._manual_rounds = 0
        self.pressure = DiskPressure.NORMAL

    def request_now(self) -> None:
        """The next rounds remove expired files at any hour.

        Clause: store.retention.when
        """
        self._manual_rounds = MANUAL_ROUNDS

    def look(self) -> None:
        """How full the disk is, is known."""
        self.pressure = derive_pressure(self._parts.disk.usage().ratio)

    def run(self, now_ms: int) -> Removed | None:
        """One round, if it is time for one.

        Clauses: store.retention.when, store.retention.oldest-first
        """
        if now_ms < self._next_ms and not self._manual_rounds:
            return None
        self._next_ms = now_ms + INTERVAL_MS
        self.look()
        hour = datetime.fromtimestamp(now_ms / 1000, self._zone).hour
        is_due = is_cleaning_due(hour, self._parts.settings.delete_hours, self.pressure, self._manual_rounds)
        self._manual_rounds = max(0, self._manual_rounds - 1)
        return self.clean(now_ms, removes_log_files=is_due)

    def clean(self, now_ms: int, *, removes_log_files: bool = True) -> Removed:
        """Expired log files are gone, and queue and index files that lead to nothing any more."""
        sequence = self._parts.log.sequence
        count = 0
        if removes_log_files:
            modified = sequence.modified_ms()
            count = count_expired(
                [modified[start] for start in sequence.starts],
                now_ms,
                reserved_ms=self._parts.settings.reserved_ms,
                pressure=self.pressure,
            )
        # Nothing is removed that is not dispatched yet.
        while count and sequence.starts[count] > self._parts.reput.position:
            count -= 1
        if count:
            self._sync_queues()
        before = len(sequence.starts)
        try:
            sequence.remove_first(count)
        finally:
            # Also if only some files could be removed: nobody is sent to those that are gone.
            moved = self._move_min_offsets()
        self._follow()
        return Removed(Count(before - len(sequence.starts)), self._parts.log.min_position, moved)

    def _sync_queues(self) -> None:
        """The queues are on disk: when the log has lost their messages, only they know how far they are."""
        dirty = self._parts.reput.dirty
        for name, queue in sorted(dirty.items()):
            queue.sync()
            del dirty[name]

    def _move_min_offsets(self) -> tuple[tuple[QueueName, QueueOffset], ...]:
        """Queues begin with the first message that the log still has; those that moved."""
        moved: list[tuple[QueueName, QueueOffset]] = []
        for queue in self._parts.queues:
            before = queue.min_offset
            queue.correct_min_offset(self._parts.log.min_position)
            if queue.min_offset != before:
                moved.append((queue.name, queue.min_offset))
        return tuple(moved)

    def _follow(self) -> None:
        """Queue and index files that lead to nothing are gone.

        Clause: store.retention.derived-files-follow
        """
        log_min = self._parts.log.min_position
        for queue in self._parts.queues:
            queue.remove_expired(log_min, self._parts.log.flushed)
        ends = [file.header.end_position for file in self._parts.index.files]
        self._parts.index.remove_first(count_expired_index_files(ends, log_min))
