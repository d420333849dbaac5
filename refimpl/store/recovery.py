"""How a stopped store comes back: what `spec.recovery` says, on files instead of values.

First everything is looked at and nothing is changed; a file that is not this store's ends the
start there. Then the log is read again from where the checkpoint says, queues are cut to what is
surely theirs and made anew from the log, the log is cut at its end, and the index is built again
behind the last file that can be trusted. At the end everything that was read is on disk: what a
killed process left in the system's memory would otherwise be readable before it is durable.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from refimpl.ports import Disk, DiskError, Entry
from refimpl.store.checkpoint_file import CheckpointFile
from refimpl.store.commit_log import CommitLog
from refimpl.store.consume_queue import EMPTY_TAIL, ConsumeQueue
from refimpl.store.file_sequence import FileReader
from refimpl.store.key_index import KeyIndex
from refimpl.store.open_files import OpenFiles
from refimpl.store.queue_table import QueueTable
from refimpl.store.reput import Reput
from refimpl.store.settings import StoreSettings
from refimpl.store.unit_scan import count_written
from spec.layout.checkpoint import Checkpoint
from spec.layout.commit_log_file import POSITION_LIMIT, derive_next_file_start
from spec.layout.consume_queue import UNIT_SIZE
from spec.layout.directory import (
    ABORT_FILE,
    COMMIT_LOG_FOLDER,
    INDEX_FOLDER,
    QUEUE_FOLDER,
    parse_queue_folder,
)
from spec.layout.index_file import IndexHeader
from spec.layout.queue_append import Put, QueueTail
from spec.layout.record_head import RecordHead
from spec.layout.record_walk import StopKind
from spec.recovery.index import check_index_file, derive_index_start
from spec.recovery.log_walk import LogEnd, TornText, walk_log
from spec.recovery.queue import is_filler
from spec.recovery.state import QueueName
from spec.recovery.store import derive_walk_start, has_own_message, iter_whole_files
from spec.recovery.store_file import FoundFile, LoadedFile
from spec.rejection import Rejection
from spec.values.units import CommitLogPosition, Count, Milliseconds, QueueOffset

RECORDS_AT_ONCE: Final = 4096
"""How many records are dispatched before their units are written: what memory has to hold."""


@dataclass(frozen=True, slots=True)
class StoreParts:
    """The parts of a store that recovery brings into agreement."""

    files: OpenFiles
    settings: StoreSettings
    log: CommitLog
    queues: QueueTable
    index: KeyIndex
    reput: Reput
    checkpoint: CheckpointFile

    @property
    def disk(self) -> Disk:
        """Where everything is."""
        return self.files.disk


class Recovered(NamedTuple):
    """What recovery found and did, for people and for the history."""

    is_clean_stop: bool
    log_min: CommitLogPosition
    log_end: LogEnd
    walk_start: CommitLogPosition
    records: Count
    """How many records were read again."""
    began_again: bool
    """A queue lacked units before the place where reading began, so the whole log was read."""
    dropped_index_files: tuple[Rejection, ...]
    damaged_checkpoint: Rejection | None


def _files_in(disk: Disk, folder: str) -> tuple[Entry, ...]:
    entries = disk.list_folder(folder)
    for entry in entries:
        if entry.is_folder:
            raise Rejection("store.directory.names", 0, f"{folder}/{entry.name} is a folder, not a file")
    return entries


def _in_folder(folder: str, refusal: Rejection) -> Rejection:
    return Rejection(refusal.clause, refusal.position, f"{folder}: {refusal.reason}")


class Recovery:
    """One start of a store."""

    def __init__(self, parts: StoreParts) -> None:
        self._parts = parts
        self._is_clean = not parts.disk.has(ABORT_FILE)
        self._records = 0
        self._unsynced_from = POSITION_LIMIT
        """Where the first record stands that the checkpoint does not vouch for."""

    def run(self) -> Recovered:
        """The parts agree, and all of them are on disk; refuses files that are not this store's.

        Clauses: recovery.state.follows-from-log, recovery.start.abort-file
        """
        parts = self._parts
        damaged_checkpoint = parts.checkpoint.load()
        log_files = self._load_log()
        queues = self._load_queues()
        index_files = self._find_index_files()
        self._drop_empty_files(queues)
        checkpoint = parts.checkpoint.latest
        first = derive_walk_start(log_files, checkpoint, is_clean_stop=self._is_clean) if log_files else 0
        walk_start = log_files[first].start if log_files else CommitLogPosition(0)
        kept = {queue: self._keep(queue, log_files, walk_start) for queue in queues}
        dropped = self._keep_index(index_files, checkpoint)
        self._index_again(walk_start)
        end, began_again = self._rebuild_queues(kept, log_files, first, checkpoint)
        self._settle_log(end)
        self._cut_index(index_files, end.position)
        self._settle_queues()
        return Recovered(
            self._is_clean,
            parts.log.min_position,
            end,
            walk_start,
            Count(self._records),
            began_again,
            dropped,
            damaged_checkpoint,
        )

    def _load_log(self) -> tuple[LoadedFile, ...]:
        try:
            return self._parts.log.sequence.load(_files_in(self._parts.disk, COMMIT_LOG_FOLDER))
        except Rejection as refusal:
            raise _in_folder(COMMIT_LOG_FOLDER, refusal) from None

    def _load_queues(self) -> list[ConsumeQueue]:
        """All queues that have a folder.

        Clause: store.directory.queue-folders
        """
        queues: list[ConsumeQueue] = []
        for topic in self._parts.disk.list_folder(QUEUE_FOLDER):
            for entry in self._parts.disk.list_folder(f"{QUEUE_FOLDER}/{topic.name}"):
                queue_id = parse_queue_folder(entry.name)
                if not entry.is_folder or queue_id is None or entry.name != str(queue_id):
                    continue
                queue = self._parts.queues.get(QueueName(topic.name, queue_id))
                try:
                    queue.sequence.load(_files_in(self._parts.disk, queue.sequence.folder))
                except Rejection as refusal:
                    raise _in_folder(queue.sequence.folder, refusal) from None
                queues.append(queue)
        return queues

    def _find_index_files(self) -> list[FoundFile]:
        """The index files; another size than the configured one is refused.

        Clause: recovery.load.file-size
        """
        found: list[FoundFile] = []
        expected = self._parts.settings.index_file_size
        for entry in _files_in(self._parts.disk, INDEX_FOLDER):
            path = f"{INDEX_FOLDER}/{entry.name}"
            if not entry.name.isdigit():
                raise Rejection("store.index.file-name", 0, f"{path} is not a file of the index")
            if entry.size not in (0, expected):
                reason = f"{path} has {entry.size} bytes, {expected} are expected"
                raise Rejection("recovery.load.file-size", entry.size, reason)
            found.append(FoundFile(entry.name, entry.size, FileReader(self._parts.files, path)))
        return found

    def _keep(self, queue: ConsumeQueue, log_files: tuple[LoadedFile, ...], walk_start: int) -> QueueTail:
        """Where the units that are taken over as they are end.

        Clauses: recovery.queue.ends-at-first-unwritten, recovery.queue.cut-with-the-log,
        recovery.queue.ends-with-its-own-message
        """
        if not log_files:
            return EMPTY_TAIL
        first = queue.sequence.first // UNIT_SIZE
        count = first + _count_written(queue)
        # Reading units needs an end to read up to.
        queue.set_tail(QueueTail(is_empty=False, next_offset=QueueOffset(count), covered=EMPTY_TAIL.covered))
        low, high = first, count
        while low < high:
            middle = (low + high) // 2
            unit = queue.read_unit(middle)
            is_before = unit is not None and unit.position < walk_start
            low, high = (middle + 1, high) if is_before else (low, middle)
        while low > first:
            unit = queue.read_unit(low - 1)
            if unit is None:
                break
            is_retired = unit.position < log_files[0].start and not is_filler(unit)
            if is_retired or has_own_message(queue.name, QueueOffset(low - 1), unit, log_files):
                return QueueTail(is_empty=False, next_offset=QueueOffset(low), covered=unit.end)
            low -= 1
        return EMPTY_TAIL

    def _rebuild_queues(
        self,
        kept: Mapping[ConsumeQueue, QueueTail],
        log_files: tuple[LoadedFile, ...],
        first: int,
        checkpoint: Checkpoint,
    ) -> tuple[LogEnd, bool]:
        """The end of the log, and whether it was read from its beginning after all.

        Clause: recovery.start.gap-starts-over
        """
        if not log_files:
            for queue in kept:
                self._cut_queue(queue, EMPTY_TAIL)
            return LogEnd(CommitLogPosition(0), StopKind.END, None), False
        for is_whole in (first == 0, True):
            for queue in self._parts.queues:
                self._cut_queue(queue, kept.get(queue, EMPTY_TAIL))
            if is_whole:
                self._dispatch(
                    iter_whole_files(log_files[:first], self._parts.settings.scrutiny), is_whole=True
                )
            end = self._dispatch_log(log_files, first, checkpoint, is_whole=is_whole)
            if end is not None:
                return end, is_whole and first > 0
        raise AssertionError("a whole log has no gap to begin again for")

    def _cut_queue(self, queue: ConsumeQueue, tail: QueueTail) -> None:
        """Nothing stands behind the tail: neither a later file nor an old unit."""
        queue.set_tail(tail)
        queue.sequence.cut(-1 if tail.is_empty else tail.next_offset * UNIT_SIZE)

    def _dispatch_log(
        self, log_files: tuple[LoadedFile, ...], first: int, checkpoint: Checkpoint, *, is_whole: bool
    ) -> LogEnd | None:
        """The end of the log; None if a unit is missing before the place where reading began."""
        scrutiny = self._parts.settings.scrutiny
        if self._is_clean:
            # Nothing was being written, so zeros in a text are what somebody sent.
            scrutiny = scrutiny._replace(torn_text=TornText.NO_RECORD)
        ends: list[LogEnd] = []

        def iter_records() -> Iterable[RecordHead]:
            for item in walk_log(log_files, first, scrutiny, synced_ms=checkpoint.log_ms):
                if isinstance(item, LogEnd):
                    ends.append(item)
                else:
                    yield item

        return ends[0] if self._dispatch(iter_records(), is_whole=is_whole) else None

    def _dispatch(self, records: Iterable[RecordHead], *, is_whole: bool) -> bool:
        """All records have their units; False as soon as a unit before them is missing."""
        reput, log = self._parts.reput, self._parts.log
        waiting = 0
        for record in records:
            properties = record.properties()
            put = reput.put_unit(record, properties)
            if put in (Put.BEGIN, Put.FILL) and not is_whole:
                reput.forget_dispatched()
                return False
            reput.put_keys(record, properties)
            if record.stored_at_ms > self._parts.checkpoint.latest.log_ms:
                self._unsynced_from = min(self._unsynced_from, record.position)
            log.stored_at_ms = Milliseconds(max(log.stored_at_ms, record.stored_at_ms))
            waiting += 1
            self._records += 1
            if waiting == RECORDS_AT_ONCE:
                reput.write_dispatched()
                waiting = 0
        reput.write_dispatched()
        return True

    def _settle_log(self, end: LogEnd) -> None:
        """The log ends where its last record ends, and all that was read again is on disk.

        Clauses: recovery.log.cut-files, recovery.log.tail-is-zeroed
        """
        log = self._parts.log
        log.end = end.position
        if self._is_clean and end.kind is not StopKind.DAMAGED:
            log.sequence.drop_behind(end.position)
        else:
            log.sequence.cut(end.position)
            # After a failed sync the system counts what it lost as clean, so syncing is not enough.
            log.sequence.write_again(min(self._unsynced_from, end.position), end.position)
            log.sequence.doubt_names()
        log.sequence.sync()
        log.flushed = log.end
        log.flushed_at_ms = log.stored_at_ms
        self._parts.reput.position = log.end
        self._parts.reput.stored_at_ms = log.stored_at_ms

    def _drop_empty_files(self, queues: Iterable[ConsumeQueue]) -> None:
        """What a crash left between creating a file and giving it its size is gone.

        Clause: recovery.load.empty-last-file
        """
        for folder in (COMMIT_LOG_FOLDER, *(queue.sequence.folder for queue in queues)):
            for entry in self._parts.disk.list_folder(folder):
                if entry.size == 0:
                    self._parts.files.remove(f"{folder}/{entry.name}")

    def _keep_index(self, found: list[FoundFile], checkpoint: Checkpoint) -> tuple[Rejection, ...]:
        """The index consists of files that were on disk; why others were dropped.

        Clause: recovery.index.drops-unsafe-file
        """
        kept: list[tuple[str, IndexHeader]] = []
        dropped: list[Rejection] = []
        for file in found:
            verdict = check_index_file(
                file,
                self._parts.settings.index_file_size,
                checkpoint.index_ms,
                POSITION_LIMIT,
                is_clean_stop=self._is_clean,
            )
            if verdict.header is not None and not dropped:
                kept.append((file.name, verdict.header))
            else:
                dropped.append(verdict.refusal or _behind_dropped(file.name))
                self._parts.files.remove(f"{INDEX_FOLDER}/{file.name}")
        self._parts.index.load(kept)
        return tuple(dropped)

    def _cut_index(self, found: list[FoundFile], log_end: CommitLogPosition) -> None:
        """Nothing in the index leads behind the log, whose end was not known when files were kept.

        Clause: recovery.index.within-the-log
        """
        index = self._parts.index
        old_names = {file.name for file in found}
        old = [(file.name, file.header) for file in index.files if file.name in old_names]
        within = [(name, header) for name, header in old if header.end_position < max(log_end, 1)]
        if within != old:
            for file in index.files[len(within) :]:
                self._parts.files.remove(file.path)
            index.load(within)
            self._index_again(log_end)

    def _index_again(self, end: CommitLogPosition) -> None:
        """The keys of all messages before `end` are in the index; a damaged file costs its rest.

        Clause: recovery.index.rebuilt-from-last-kept
        """
        reput, log = self._parts.reput, self._parts.log
        headers = [file.header for file in self._parts.index.files]
        position = derive_index_start(headers, log.min_position, 0)
        while position < end:
            try:
                heads, position = reput.read_stretch(position, end)
            except DiskError:
                position = derive_next_file_start(position, log.sequence.file_size)
                continue
            for head in heads:
                reput.put_keys(head, head.properties())
            self._parts.index.write_waiting()

    def _settle_queues(self) -> None:
        """Queues begin with the first message that the log still has, and are on disk."""
        parts = self._parts
        for queue in parts.queues:
            queue.correct_min_offset(parts.log.min_position)
            if queue.sequence.is_dirty and not self._is_clean:
                queue.sequence.doubt_names()
            if queue.sequence.is_dirty:
                queue.sequence.sync()
        parts.queues.set_next_offsets()
        parts.reput.dirty.clear()


def _behind_dropped(name: str) -> Rejection:
    return Rejection("recovery.index.rebuilt-from-last-kept", 0, f"{name} stands behind a dropped file")


def _count_written(queue: ConsumeQueue) -> int:
    """The written units of a queue, up to the first that is not; one file in memory at a time."""
    count = 0
    for start in queue.sequence.starts:
        of_file = count_written(queue.sequence.read(start, queue.sequence.file_size))
        count += of_file
        if of_file < queue.units_per_file:
            break
    return count
