"""The message store: what a broker talks to.

A store is a synchronous core. Time comes with every call; files are reached through the disk
port. What takes long, syncing, is handed out: `begin_log_flush` and `begin_queue_flush` return a
task that any thread may finish, `end_…` takes the result back. Between the two, appends go on and
share the next sync: that is group commit. `flush` does all of it at once.

An append is acknowledged when it is settled: at once in asynchronous mode, in synchronous mode
when a sync that began after it has ended. `settle` says which appends are. `reput` makes messages
readable, never further than the flush mode's promise reaches.
"""

from collections import deque
from collections.abc import Callable, Container, Sequence
from datetime import UTC, tzinfo
from typing import Final, NamedTuple

from refimpl.ports import Disk, DiskError, DiskReason, Usage
from refimpl.store.checkpoint_file import CheckpointFile, remove_abort, write_abort
from refimpl.store.commit_log import CommitLog, LogSync
from refimpl.store.config_store import ConfigStore
from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.key_index import IndexShape, KeyIndex
from refimpl.store.message_query import MessageQuery
from refimpl.store.message_read import Found, MessageReader
from refimpl.store.new_message import NewMessage, derive_delayed, prepare
from refimpl.store.open_files import OpenFiles
from refimpl.store.queue_flush import QueueFlush, QueueFlushTimer
from refimpl.store.queue_table import QueueTable
from refimpl.store.recovery import Recovered, Recovery, StoreParts
from refimpl.store.reput import Reput
from refimpl.store.retention import Removed, Retention
from refimpl.store.settings import StoreSettings
from spec.broker.pull_outcome import OffsetCheck
from spec.broker.send import PutStatus
from spec.layout.checkpoint import Checkpoint
from spec.layout.directory import LOCK_CONTENT, LOCK_FILE
from spec.layout.record_head import RecordHead
from spec.recovery.state import QueueName
from spec.rejection import Rejection
from spec.store.flush import FlushMode, Promise, derive_promise, derive_readable_end, is_flush_due
from spec.store.retention import is_writable
from spec.values.system_flag import has_queue_entry
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds, QueueId, QueueOffset

DEFAULT_SETTINGS: Final = StoreSettings()
_FIRST_OFFSET: Final = QueueOffset(0)


class Appended(NamedTuple):
    """What became of an append: stored if there is a position, and acknowledged once it is settled."""

    status: PutStatus
    """`PUT_OK` in asynchronous mode; in synchronous mode what is known until it is settled."""
    detail: str = ""
    """Why it was refused."""
    records: tuple[RecordHead, ...] = ()
    """What stands in the log now; nothing if it was refused."""
    ticket: int | None = None
    """The name under which `settle` will speak of it; None if it is settled already."""

    @property
    def position(self) -> CommitLogPosition | None:
        """Where the first message stands; None if it was refused."""
        return self.records[0].position if self.records else None

    @property
    def queue_offset(self) -> QueueOffset | None:
        """The offset of the first message; None if it was refused."""
        return self.records[0].queue_offset if self.records else None

    @property
    def size(self) -> ByteCount:
        """The bytes of all records."""
        return ByteCount(sum(record.size for record in self.records))


class Settled(NamedTuple):
    """An append whose answer can be given."""

    ticket: int
    status: PutStatus


class _Waiting(NamedTuple):
    ticket: int
    end: CommitLogPosition
    deadline_ms: int


class MessageStore:
    """One store directory, open."""

    def __init__(self, parts: StoreParts, recovered: Recovered, zone: tzinfo, now_ms: int) -> None:
        """The store as recovery left it; see `open_store`."""
        self._parts = parts
        self.settings = parts.settings
        self.recovered = recovered
        self.log = parts.log
        self.queues = parts.queues
        self.query = MessageQuery(parts.log, parts.index)
        self.config = ConfigStore(parts.disk)
        self.retention = Retention(parts, zone, now_ms)
        self._reader = MessageReader(parts.log, parts.settings)
        self._queue_timer = QueueFlushTimer(parts, now_ms)
        self._last_flush_ms = self._last_thorough_ms = now_ms
        self._log_sync: LogSync | None = None
        self._is_flush_wanted = False
        """Whether somebody wants what is written to be on disk soon."""
        self._waiting: deque[_Waiting] = deque()
        self._next_ticket = 0
        self.dispatch_error: DiskError | None = None
        """Why the last call of `reput` stopped short; some of its stretch may be readable already."""
        self._is_open = True
        self._is_sync = parts.settings.flush_mode is FlushMode.SYNC

    # Appending

    def why_not_writable(self) -> str | None:
        """Why the store takes no message at present; None if it does.

        Clause: store.retention.full-disk-refuses
        """
        if not self._is_open:
            return "the store is closed"
        if not is_writable(self.retention.pressure):
            return "the disk is nearly full"
        if self.log.is_unsure:
            return "the last sync of the log failed"
        if self.dispatch_error is not None:
            return f"messages cannot be dispatched: {self.dispatch_error}"
        return None

    def append(self, message: NewMessage, now_ms: int) -> Appended:
        """The message stands in the log, or the answer says why not.

        Clause: broker.schedule.level-clamped
        """
        return self._append([derive_delayed(message, len(self.settings.delays_ms))], now_ms)

    def append_batch(self, messages: Sequence[NewMessage], now_ms: int) -> Appended:
        """All messages of a batch stand in the log, one behind the other in one file, or none does.

        They are of one queue, and neither delayed nor part of a transaction.

        Clause: store.batch.one-file
        """
        return self._append(messages, now_ms)

    def _append(self, messages: Sequence[NewMessage], now_ms: int) -> Appended:
        closed = self.why_not_writable()
        if closed is not None:
            return Appended(PutStatus.SERVICE_NOT_AVAILABLE, closed)
        try:
            prepared = [prepare(message, self.settings) for message in messages]
            start = self.log.plan(sum([message.size for message in prepared]))
        except Rejection as refusal:
            return Appended(PutStatus.MESSAGE_ILLEGAL, str(refusal))
        name = messages[0].topic, messages[0].queue_id
        if name not in self.queues.next_offsets:
            try:
                self.queues.get(QueueName(*name))
            except Rejection as refusal:
                return Appended(PutStatus.MESSAGE_ILLEGAL, str(refusal))
        has_entry = has_queue_entry(messages[0].system_flag)
        offset = self.queues.next_offsets.get(name, _FIRST_OFFSET) if has_entry else _FIRST_OFFSET
        position, before = start, self.log.end
        # Store times never go back, whatever the clock does: recovery searches by them.
        stored_at_ms = Milliseconds(max(now_ms, self.log.stored_at_ms))
        heads: list[RecordHead] = []
        records: list[bytes] = []
        for message in prepared:
            heads.append(message.head(offset, position, stored_at_ms))
            records.append(message.encode(offset, position, stored_at_ms))
            position = CommitLogPosition(position + message.size)
            offset = QueueOffset(offset + 1)
        try:
            self.log.append(start, b"".join(records), stored_at_ms)
        except DiskError as error:
            return Appended(_status_of(error), str(error))
        if has_entry:
            self.queues.next_offsets[name] = offset
        self._parts.reput.remember(before, heads)
        ticket = self._promise(now_ms) if self._is_sync and messages[0].waits else None
        return Appended(PutStatus.PUT_OK, "", tuple(heads), ticket)

    def _promise(self, now_ms: int) -> int:
        """The ticket of the last append, which is not settled yet.

        Clause: store.flush.acknowledged-is-stored
        """
        self._next_ticket += 1
        self._waiting.append(_Waiting(self._next_ticket, self.log.end, now_ms + self.settings.sync_wait_ms))
        return self._next_ticket

    def settle(self, now_ms: int) -> list[Settled]:
        """The appends that were acknowledged since the last call, or whose time is over.

        Clauses: store.flush.acknowledged-is-stored, store.flush.timeout-keeps-message
        """
        settled: list[Settled] = []
        mode = self.settings.flush_mode
        while self._waiting:
            ticket, end, deadline_ms = self._waiting[0]
            match derive_promise(mode, end, self.log.flushed, now_ms, deadline_ms, waits=True):
                case Promise.PENDING:
                    break
                case Promise.KEPT:
                    settled.append(Settled(ticket, PutStatus.PUT_OK))
                case Promise.TIMED_OUT:
                    settled.append(Settled(ticket, PutStatus.FLUSH_DISK_TIMEOUT))
            self._waiting.popleft()
        return settled

    # Flushing

    def want_log_flush(self) -> None:
        """A sync of all that is in the log now is due, whatever the timing says."""
        self._is_flush_wanted = self.log.end > self.log.flushed

    def begin_log_flush(self, now_ms: int, *, is_forced: bool = False) -> LogSync | None:
        """A sync of the log to be finished anywhere, if one is due and none is under way.

        In synchronous mode one is due as soon as somebody waits.

        Clause: store.flush.timing
        """
        is_due = is_flush_due(
            self.log.flushed,
            self.log.end,
            self._last_flush_ms,
            self._last_thorough_ms,
            now_ms,
            self.settings.log_timing,
        )
        is_awaited = (self._is_sync or self._is_flush_wanted) and self.log.end > self.log.flushed
        is_owed = self._owes_sync(now_ms)
        if self._log_sync is not None or not (is_due or is_awaited or is_owed or is_forced):
            return None
        try:
            self._log_sync = self.log.start_sync()
        except DiskError:
            self.log.is_unsure = True
            return None
        self._last_flush_ms = self._last_thorough_ms = now_ms
        self._is_flush_wanted = False
        return self._log_sync

    def _owes_sync(self, now_ms: int) -> bool:
        """Whether a failed sync has to be made up for, or removed names wait to be durable."""
        timing = self.settings.log_timing
        pause_ms = timing.interval_ms if self.log.is_unsure else timing.thorough_ms
        is_dirty = self.log.is_unsure or self.log.sequence.is_dirty
        return is_dirty and now_ms - self._last_flush_ms >= pause_ms

    def end_log_flush(self, sync: LogSync, error: DiskError | None) -> None:
        """The log is as durable as the sync made it."""
        if sync is not self._log_sync:
            # It was given up before it ended.
            return
        self._log_sync = None
        self.log.end_sync(sync, error)

    def begin_queue_flush(self, now_ms: int, *, is_forced: bool = False) -> QueueFlush | None:
        """A sync of the queues to be finished anywhere, if one is due and none is under way."""
        return self._queue_timer.begin(now_ms, is_forced=is_forced)

    def end_queue_flush(self, flush: QueueFlush, error: DiskError | None) -> None:
        """The queues are as durable as the sync made them."""
        self._queue_timer.end(flush, error)

    def flush(self, now_ms: int, *, is_forced: bool = False) -> DiskError | None:
        """Whatever is due is on disk; the first error, if there was one."""
        first: DiskError | None = None
        log_sync = self.begin_log_flush(now_ms, is_forced=is_forced)
        if log_sync is not None:
            first = run_guarded(log_sync.files.finish)
            self.end_log_flush(log_sync, first)
        # The second one writes the checkpoint, if the first was thorough.
        for _ in range(2):
            queue_flush = self.begin_queue_flush(now_ms, is_forced=is_forced)
            if queue_flush is None:
                break
            error = run_guarded(queue_flush.finish)
            self.end_queue_flush(queue_flush, error)
            first = first or error
        return first

    # Reading

    def reput(self) -> list[RecordHead]:
        """The messages that can be read from now on: at most one stretch of the log at a call.

        After a failure nothing of the stretch can be read, and the store takes no messages until a
        later call succeeds.

        Clause: store.flush.readable-is-durable
        """
        end = derive_readable_end(self.settings.flush_mode, self.log.end, self.log.flushed)
        try:
            arrived = self._parts.reput.run(end)
        except DiskError as error:
            self.dispatch_error = error
            return []
        self.dispatch_error = None
        return arrived

    def reput_all(self) -> list[RecordHead]:
        """Everything that may be read can be read; all that arrived on the way."""
        arrived: list[RecordHead] = []
        before = -1
        while before != self.reput_position:
            before = self.reput_position
            arrived += self.reput()
        return arrived

    @property
    def reput_position(self) -> CommitLogPosition:
        """Up to here messages can be read."""
        return self._parts.reput.position

    def read(
        self,
        name: QueueName,
        offset: int,
        max_messages: int,
        wanted_codes: Container[int] | None = None,
        check: OffsetCheck = OffsetCheck.CORRECTED,
    ) -> Found:
        """The messages of a queue from an offset on: Apache's getMessage."""
        return self._reader.read(self.queues.find(name), offset, max_messages, wanted_codes, check)

    def queue(self, topic: str, queue_id: int) -> ConsumeQueue:
        """A queue; one that nobody has written to is empty."""
        return self.queues.get(QueueName(topic, QueueId(queue_id)))

    def usage(self) -> Usage:
        """How full the disk is now."""
        return self._parts.disk.usage()

    # Removing and ending

    def clean(self, now_ms: int) -> Removed | None:
        """One round of retention, if it is time for one."""
        return self.retention.run(now_ms)

    def remove_topic(self, topic: str) -> None:
        """No message of the topic can be read, and the numbers of its queues go on where they were.

        The log keeps the records until retention takes them, and a start may build the queues again from
        it; the numbers that were given out before and after stay apart.

        Clause: store.queue.emptied-goes-on
        """
        for queue in self.queues.of_topic(topic):
            queue.empty(self.queues.next_offsets.get(queue.name, queue.max_offset), self.log.end)
            self._parts.reput.dirty.pop(queue.name, None)

    def close(self, now_ms: int) -> DiskError | None:
        """Everything is on disk and the stop is a clean one; the error that prevented it otherwise.

        Clause: recovery.start.abort-file
        """
        if not self._is_open:
            return None
        self._is_open = False
        error = self._write_all(now_ms)
        if error is None and self.reput_position == self.log.end:
            error = run_guarded(self._seal)
        self._parts.checkpoint.close()
        self._parts.files.close()
        self._parts.disk.unlock(LOCK_FILE)
        return error

    def _write_all(self, now_ms: int) -> DiskError | None:
        """Everything that was appended is on disk and dispatched; the error that prevented it otherwise."""
        if self._log_sync is not None:
            # Whoever finishes it does so too late for us.
            self.end_log_flush(self._log_sync, DiskError(DiskReason.BROKEN, "", "given up"))
        self._queue_timer.give_up()
        error = self.flush(now_ms, is_forced=True)
        self.reput_all()
        error = error or self.dispatch_error or self.flush(now_ms, is_forced=True)
        if error is None and (self.log.is_unsure or self.log.flushed < self.log.end):
            error = DiskError(DiskReason.BROKEN, self.log.sequence.folder, "the log could not be synced")
        return error

    def _seal(self) -> None:
        parts = self._parts
        # After a clean stop every record counts, so a piece of one must not be there.
        self.log.clear_tail()
        parts.index.seal()
        parts.checkpoint.write(
            Checkpoint(self.log.flushed_at_ms, parts.reput.stored_at_ms, parts.index.sealed_ms())
        )
        remove_abort(parts.disk)


def run_guarded(action: Callable[[], None]) -> DiskError | None:
    """The disk error that the action ended with, None if it did not."""
    try:
        action()
    except DiskError as error:
        return error
    return None


def _status_of(error: DiskError) -> PutStatus:
    is_refused = error.reason in (DiskReason.FULL, DiskReason.READ_ONLY, DiskReason.DENIED)
    return PutStatus.SERVICE_NOT_AVAILABLE if is_refused else PutStatus.UNKNOWN_ERROR


def open_store(
    disk: Disk, settings: StoreSettings = DEFAULT_SETTINGS, *, now_ms: int, zone: tzinfo = UTC
) -> MessageStore:
    """The store in the disk's root, recovered and ready; refuses one in use, and files that are not its own.

    Clauses: store.directory.names, recovery.start.abort-file
    """
    disk.lock(LOCK_FILE, LOCK_CONTENT)
    files = OpenFiles(disk)
    log = CommitLog(files, settings.log_file_size)
    queues = QueueTable(files, settings.units_per_file)
    index = KeyIndex(files, IndexShape(settings.index_slots, settings.index_entries), zone)
    checkpoint = CheckpointFile(disk)
    reput = Reput(log, queues, index, settings.delays_ms)
    parts = StoreParts(files, settings, log, queues, index, reput, checkpoint)
    try:
        recovered = Recovery(parts).run()
        write_abort(disk)
        checkpoint.write(Checkpoint(log.vouched_ms, log.vouched_ms, index.vouched_ms()))
        store = MessageStore(parts, recovered, zone, now_ms)
        store.retention.look()
    except BaseException:
        files.close()
        checkpoint.close()
        disk.unlock(LOCK_FILE)
        raise
    return store
