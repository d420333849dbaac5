"""A store and its ledger, used together: whatever is done to the one is written into the other."""

from collections.abc import Collection, Sequence

from model_tests.simulation.history import StoreHistory
from model_tests.simulation.inspection import check_log, check_oracle, check_store
from model_tests.simulation.ledger import Entry, Ledger, is_record_of
from model_tests.simulation.oracle import derive_recovered
from model_tests.simulation.scene import Clock, kill_process
from refimpl.ports import DiskError
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.commit_log import LogSync
from refimpl.store.message_store import Appended, MessageStore, open_store, run_guarded
from refimpl.store.new_message import NewMessage, derive_delayed
from refimpl.store.queue_flush import QueueFlush
from refimpl.store.settings import StoreSettings
from spec.broker.pull_outcome import PullStatus
from spec.broker.send import PutStatus
from spec.layout.directory import ABORT_FILE
from spec.layout.record_head import RecordHead
from spec.layout.record_walk import Stop
from spec.recovery.log_walk import REFERENCE, walk_file
from spec.recovery.state import QueueName
from spec.recovery.store_file import LoadedFile
from spec.store.flush import FlushMode
from spec.values.units import ByteCount, CommitLogPosition


class StorePlayer:
    """One store directory over many starts."""

    def __init__(
        self,
        disk: SimulatedDisk,
        settings: StoreSettings,
        clock: Clock,
        ledger: Ledger | None = None,
        *,
        may_lose: bool = False,
    ) -> None:
        is_sync = settings.flush_mode is FlushMode.SYNC
        self.disk = disk
        self.settings = settings
        self.clock = clock
        self.ledger = ledger or Ledger(is_sync)
        self.history: StoreHistory | None = None if ledger else StoreHistory(is_sync=is_sync)
        """None for a store that somebody else began: its past is not known event by event."""
        self.log_sync: tuple[LogSync, int] | None = None
        self.queue_flush: QueueFlush | None = None
        self._tickets: dict[int, list[Entry]] = {}
        self._dispatched = 0
        self.store = self.open(may_lose=may_lose)

    @property
    def now_ms(self) -> int:
        return self.clock.now_ms

    # Starting and stopping

    def open(self, *, may_lose: bool) -> MessageStore:
        """The store has come back as the specification says, and has lost nothing that it must not lose."""
        expected = derive_recovered(self.disk, self.settings)
        store = open_store(self.disk, self.settings, now_ms=self.now_ms)
        check_oracle(store, expected)
        self.store = store
        self.log_sync = self.queue_flush = None
        self._tickets = {}
        self._reconcile(may_lose=may_lose)
        check_store(store, self.ledger)
        return store

    def _reconcile(self, *, may_lose: bool) -> None:
        ledger, log_end = self.ledger, self.store.recovered.log_end.position
        log_min = self.store.log.min_position
        assert log_min <= max(ledger.retained_min, ledger.safe_end), f"the log begins at {log_min}"
        ledger.cut(log_end, may_lose=may_lose)
        assert log_min <= ledger.retained_min or not ledger.entries, f"the log begins at {log_min}"
        if self.history:
            self.history.recover(self.store, with_ranges=False)
        for record in self._records_behind(ledger.end, log_end):
            data = self.store.log.read(record.position, record.size)
            assert data is not None
            entry = ledger.adopt(data)
            if self.history:
                self.history.append(entry)
        if self.history:
            self.history.recover(self.store)
        ledger.durable_end = log_end
        ledger.attempts = []
        self._dispatched = len(ledger.entries)

    def _records_behind(self, position: int, log_end: int) -> list[RecordHead]:
        """The records of the log from a position on."""
        log, size, found = self.store.log, self.settings.log_file_size, list[RecordHead]()
        for start in log.sequence.starts:
            reader = LoadedFile(CommitLogPosition(start), ByteCount(size), log.sequence.file_at(start).read)
            for item in walk_file(reader, REFERENCE._replace(check_crc=False)):
                if not isinstance(item, Stop) and position <= item.position < log_end:
                    found.append(item)
        return found

    def crash(self, kept: Collection[int]) -> None:
        """The power went off: of what was pending, these indices were on disk."""
        self.disk.crash(kept)
        self.open(may_lose=True)

    def crash_by_chance(self) -> None:
        """The power went off, and the disk's own chance chose what was on disk."""
        self.disk.crash_randomly()
        self.open(may_lose=True)

    def kill(self) -> None:
        """The process was killed; the system has all that it wrote."""
        kill_process(self.disk)
        self.open(may_lose=False)

    def close(self) -> bool:
        """The store is closed; whether the stop was a clean one."""
        self.store.close(self.now_ms)
        is_clean = not self.disk.has(ABORT_FILE)
        if is_clean:
            self.ledger.durable_end = self.ledger.end
        return is_clean

    # Writing

    def append(self, *messages: NewMessage) -> Appended:
        """One message, or a batch of several; the record says what the message says."""
        levels = len(self.settings.delays_ms)
        if len(messages) == 1:
            stored: Sequence[NewMessage] = [derive_delayed(messages[0], levels)]
            appended = self.store.append(messages[0], self.now_ms)
        else:
            stored = messages
            appended = self.store.append_batch(messages, self.now_ms)
        if appended.status is not PutStatus.PUT_OK:
            self.ledger.attempts += stored
            return appended
        entries = [
            self._enter(new, head.position, head.size)
            for new, head in zip(stored, appended.records, strict=True)
        ]
        if appended.ticket is not None:
            self._tickets[appended.ticket] = entries
        elif self.history:
            for entry in entries if not self.ledger.is_sync else ():
                self.history.sent(entry)
        return appended

    def _enter(self, new: NewMessage, position: int, size: int) -> Entry:
        data = self.store.log.read(position, size)
        assert data is not None
        entry = self.ledger.add(data, waits=new.waits)
        assert entry.position == position
        assert is_record_of(entry.record, new)
        if self.history:
            self.history.append(entry)
        return entry

    def settle(self) -> None:
        """Senders are told; from then on they rely on it."""
        for ticket, status in self.store.settle(self.now_ms):
            entries = self._tickets.pop(ticket)
            if status is PutStatus.PUT_OK:
                self.ledger.promised_end = max(self.ledger.promised_end, entries[-1].end)
                for entry in entries if self.history else ():
                    assert self.history
                    self.history.sent(entry)

    # Flushing

    def begin_log_flush(self, *, is_forced: bool) -> None:
        sync = self.store.begin_log_flush(self.now_ms, is_forced=is_forced)
        if sync is not None:
            self.log_sync = sync, self.ledger.end

    def end_log_flush(self) -> DiskError | None:
        """What was appended before the sync began is durable, if the store says so."""
        assert self.log_sync is not None
        sync, end = self.log_sync
        before = self.store.log.flushed
        error = run_guarded(sync.files.finish)
        self.log_sync = None
        self.store.end_log_flush(sync, error)
        flushed = self.store.log.flushed
        assert flushed in {before, end}, f"flushed is {flushed}, the sync was up to {end}"
        assert error is None or flushed == before
        self.ledger.durable_end = max(self.ledger.durable_end, flushed)
        return error

    def begin_queue_flush(self, *, is_forced: bool) -> None:
        self.queue_flush = self.store.begin_queue_flush(self.now_ms, is_forced=is_forced) or self.queue_flush

    def end_queue_flush(self) -> DiskError | None:
        assert self.queue_flush is not None
        flush, self.queue_flush = self.queue_flush, None
        error = run_guarded(flush.finish)
        self.store.end_queue_flush(flush, error)
        return error

    def flush(self) -> None:
        """Log and queues are on disk, and all of it can be read."""
        for _ in range(3):
            if self.log_sync is None:
                self.begin_log_flush(is_forced=True)
            if self.log_sync is not None:
                self.end_log_flush()
            if self.queue_flush is None:
                self.begin_queue_flush(is_forced=True)
            if self.queue_flush is not None:
                self.end_queue_flush()
            self.settle()
            self.reput()

    # Reading and removing

    def reput(self) -> None:
        """What arrived is what was appended, in the order of the log."""
        arrived = self.store.reput_all()
        entries = self.ledger.entries[self._dispatched :][: len(arrived)]
        assert [entry.position for entry in entries] == [head.position for head in arrived]
        self._dispatched += len(arrived)
        for entry in entries if self.history else ():
            assert self.history
            self.history.dispatch(entry)

    def read(self, name: QueueName, offset: int, count: int) -> PullStatus:
        """What was found is what was appended, and somebody has seen it now."""
        found = self.store.read(name, offset, count)
        if found.status is PullStatus.FOUND:
            entries = {int(entry.record.queue_offset): entry for entry in self.ledger.of_queue(name)}
            served = [entries[number] for number in range(offset, found.next_offset)]
            assert found.body == b"".join(entry.data for entry in served[-found.message_count :])
            self.ledger.served_end = max(self.ledger.served_end, served[-1].end)
            if self.history:
                self.history.serve(entries[offset], found.next_offset)
        return found.status

    def clean(self, later_ms: int) -> DiskError | None:
        """A round of retention by a clock that is ahead; what it removed is no longer asked for."""
        before = self.ledger.retained_min
        # While it is under way, anything up to the last file may be gone.
        self.ledger.retained_min = max(before, self.store.log.sequence.last)
        error = run_guarded(lambda: self._clean(later_ms))
        self.ledger.retained_min = max(before, self.store.log.min_position)
        if self.history:
            self.history.retain(self.store)
        return error

    def _clean(self, later_ms: int) -> None:
        self.store.retention.clean(self.now_ms + later_ms)

    # Looking

    @property
    def is_troubled(self) -> bool:
        """Whether a dispatch failed and was not repeated: some of its stretch can be read already."""
        return self.store.dispatch_error is not None

    def check(self) -> None:
        """Everything is as the ledger says; while a dispatch is half done, only the log is."""
        if self.is_troubled:
            check_log(self.store, self.ledger)
        else:
            check_store(self.store, self.ledger)

    def check_ends(self) -> None:
        """Every queue ends where dispatch is, and never behind what may be read."""
        store = self.store
        end = store.log.flushed if self.ledger.is_sync else store.log.end
        for name in self.ledger.names():
            queue, entries = store.queue(*name), list(self.ledger.of_queue(name))
            least = [entry.record.queue_offset for entry in entries if entry.position < store.reput_position]
            most = [entry.record.queue_offset for entry in entries if entry.position < end]
            least_end, most_end = max(least, default=-1) + 1, max(most, default=-1) + 1
            assert queue.min_offset <= queue.max_offset, f"{name} begins behind its end"
            assert least_end <= queue.max_offset <= (most_end if self.is_troubled else least_end), f"{name}"
