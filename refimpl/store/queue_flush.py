"""Flushing the queues: every second if enough was written, and thoroughly every minute.

A thorough flush is followed by the checkpoint: up to the store time in it, log and queues are on
disk, and recovery need not read further back. The times are those that were true when the flush
began, and they are written by a flush of their own when that one has ended well, so the checkpoint
never claims more than is there.
"""

from collections.abc import Iterator
from typing import NamedTuple

from refimpl.ports import DiskError, DiskReason
from refimpl.store.checkpoint_file import CheckpointFile
from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.file_sequence import SequenceSync
from refimpl.store.recovery import StoreParts
from spec.layout.checkpoint import Checkpoint
from spec.recovery.state import QueueName
from spec.store.flush import PAGE_SIZE


class QueueFlush(NamedTuple):
    """A sync of queues, or the checkpoint that follows one."""

    queues: tuple[tuple[QueueName, ConsumeQueue, SequenceSync], ...]
    checkpoint: Checkpoint | None
    """True when the queues are on disk; None for a flush of some queues only."""
    checkpoint_file: CheckpointFile

    def finish(self) -> None:
        """All of it is durable; may run in another thread."""
        for _, _, sync in self.queues:
            sync.finish()
        if self.checkpoint is not None and not self.queues:
            self.checkpoint_file.write(self.checkpoint)


class QueueFlushTimer:
    """When the queues are flushed."""

    def __init__(self, parts: StoreParts, now_ms: int) -> None:
        self._parts = parts
        self._last_ms = self._last_thorough_ms = now_ms
        self._flush: QueueFlush | None = None
        self._owed: Checkpoint | None = None
        """What the last thorough flush has made true, while it is not written."""

    def begin(self, now_ms: int, *, is_forced: bool) -> QueueFlush | None:
        """A flush, if one is due and none is under way.

        Clause: store.flush.timing
        """
        if self._flush is None and self._owed is not None:
            self._flush, self._owed = QueueFlush((), self._owed, self._parts.checkpoint), None
            return self._flush
        timing = self._parts.settings.queue_timing
        is_thorough = is_forced or now_ms - self._last_thorough_ms >= timing.thorough_ms
        is_time = now_ms - self._last_ms >= timing.interval_ms
        if self._flush is not None or not (is_thorough or is_time):
            return None
        self._last_ms = now_ms
        if is_thorough:
            self._last_thorough_ms = now_ms
        dirty = self._parts.reput.dirty
        enough = timing.least_pages * PAGE_SIZE
        chosen = [
            (name, queue)
            for name, queue in sorted(dirty.items())
            if is_thorough or queue.unsynced_bytes >= enough
        ]
        checkpoint = self._derive_checkpoint() if is_thorough else None
        if not chosen and checkpoint in (None, self._parts.checkpoint.latest):
            return None
        self._flush = QueueFlush(tuple(self._start_syncs(chosen)), checkpoint, self._parts.checkpoint)
        if len(self._flush.queues) < len(chosen):
            self.give_up()
        return self._flush

    def _start_syncs(
        self, chosen: list[tuple[QueueName, ConsumeQueue]]
    ) -> Iterator[tuple[QueueName, ConsumeQueue, SequenceSync]]:
        """The syncs of the queues, up to one that cannot be started."""
        for name, queue in chosen:
            try:
                sync = queue.start_sync()
            except DiskError:
                return
            yield name, queue, sync

    def end(self, flush: QueueFlush, error: DiskError | None) -> None:
        """The queues are as durable as the flush made them; what a failed one was about stays dirty."""
        if flush is not self._flush:
            # It was given up before it ended.
            return
        self._flush = None
        is_done = error is None
        for name, queue, sync in flush.queues:
            is_done &= queue.sequence.end_sync(sync, is_done=error is None)
            if not queue.sequence.is_dirty:
                self._parts.reput.dirty.pop(name, None)
        if is_done and flush.queues:
            self._owed = flush.checkpoint

    def give_up(self) -> None:
        """No flush is under way: what the last one was about stays dirty."""
        if self._flush is not None:
            self.end(self._flush, DiskError(DiskReason.BROKEN, "", "given up"))

    def _derive_checkpoint(self) -> Checkpoint:
        parts = self._parts
        return Checkpoint(parts.log.vouched_ms, parts.reput.stored_at_ms, parts.index.vouched_ms())
