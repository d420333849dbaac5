"""The one state in which a stopped store comes back.

The log is the truth; consume queues and index follow from it. Recovery reads the end of the log
again and finds where it ends, cuts off what lies behind, keeps the older units of the queues and
makes the later ones anew, and says how far the index has to be built again. The result is the
same whether the store was stopped or killed; only the place where reading begins differs.

The checkpoint decides where reading begins, and a checkpoint can claim too much: a queue may end
before the place where the log is read again. Then units are missing in between. Apache appends
at the wrong offset; the reference notices the gap and begins again at the first file of the log.
"""

import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from spec.layout.checkpoint import Checkpoint, derive_safe_time
from spec.layout.consume_queue import UNIT_SIZE, Unit
from spec.layout.queue_append import GapRule, Put
from spec.layout.record import decode_record
from spec.layout.record_head import RecordHead
from spec.layout.record_walk import StopKind
from spec.recovery.index import check_index_file, derive_index_start, derive_indexed_keys
from spec.recovery.log_start import derive_clean_start, derive_crash_start, read_file_head
from spec.recovery.log_walk import LogEnd, Scrutiny, TornText, walk_file, walk_log
from spec.recovery.queue import (
    NO_UNITS,
    QueueContent,
    QueueRebuild,
    cut_queue,
    derive_min_offset,
    drop_foreign_tail,
    is_filler,
    read_queue,
)
from spec.recovery.state import (
    REFERENCE_RULE,
    QueueName,
    RecoveredQueue,
    RecoveredStore,
    RecoveryRule,
    StoppedStore,
    StoreShape,
)
from spec.recovery.store_file import LoadedFile, arrange_files
from spec.rejection import Rejection
from spec.values.message import derive_tag_code
from spec.values.system_flag import has_queue_entry
from spec.values.units import CommitLogPosition, Index, QueueOffset

_PLACE: Final = struct.Struct(">i8xi4xqq")
"""Of the start of a record: its size, queue id, queue offset and position."""


def derive_unit(record: RecordHead, delays_ms: tuple[int, ...]) -> Unit | None:
    """The unit that follows from a record; None for prepared and rolled-back halves.

    Clauses: store.queue.tag-code, store.queue.transaction-halves-have-no-unit
    """
    if not has_queue_entry(record.system_flag):
        return None
    tag_code = derive_tag_code(record.topic, record.properties(), record.stored_at_ms, delays_ms)
    return Unit(record.position, record.size, tag_code)


def has_own_message(
    name: QueueName, queue_offset: QueueOffset, unit: Unit, files: Sequence[LoadedFile]
) -> bool:
    """Whether a unit leads to the message that has this offset of this queue.

    What a record says about itself is compared before the record is read whole. Damaged units name
    any size; with every one of them believed, the log would be read once a unit.

    Clause: recovery.queue.ends-with-its-own-message
    """
    file = next((file for file in files if file.start <= unit.position < file.end), None)
    if file is None:
        return False
    at = unit.position - file.start
    stated = _PLACE.unpack(file.read(at, _PLACE.size).ljust(_PLACE.size, b"\0"))
    if stated != (unit.size, name.queue_id, queue_offset, unit.position):
        return False
    try:
        record = decode_record(file.read(at, min(unit.size, file.size - at)), accept_v2=True)
    except Rejection:
        return False
    return record.topic == name.topic


def derive_walk_start(files: Sequence[LoadedFile], checkpoint: Checkpoint, *, is_clean_stop: bool) -> Index:
    """The number of the file at which the log is read again.

    Clauses: recovery.start.clean-stop, recovery.start.crash
    """
    if is_clean_stop:
        return derive_clean_start(len(files))
    return derive_crash_start([read_file_head(file) for file in files], derive_safe_time(checkpoint))


def iter_whole_files(files: Sequence[LoadedFile], scrutiny: Scrutiny) -> Iterator[RecordHead]:
    """The records of files that lie before the end of the log; damage costs the rest of its file only."""
    for file in files:
        for item in walk_file(file, scrutiny):
            if isinstance(item, RecordHead):
                yield item


class _QueueTable:
    """All queues of a store while the log is read again."""

    def __init__(self, kept: Mapping[QueueName, QueueContent], shape: StoreShape, gap: GapRule) -> None:
        self._shape = shape
        self._gap = gap
        self._queues = {
            name: QueueRebuild(content, shape.units_per_file, gap) for name, content in kept.items()
        }
        self.had_gap = False

    def dispatch(self, record: RecordHead) -> None:
        """The record has its unit, if records of its kind have one."""
        unit = derive_unit(record, self._shape.delays_ms)
        if unit is None:
            return
        name = QueueName(record.topic, record.queue_id)
        if name not in self._queues:
            self._queues[name] = QueueRebuild(NO_UNITS, self._shape.units_per_file, self._gap)
        put = self._queues[name].dispatch(unit, record.queue_offset)
        self.had_gap |= put in (Put.BEGIN, Put.FILL)

    def dispatch_log(
        self, files: Sequence[LoadedFile], first: int, scrutiny: Scrutiny, synced_ms: int
    ) -> LogEnd:
        """The end of the log; all records from file number `first` up to it are dispatched."""
        end = LogEnd(files[first].start, StopKind.END, None)
        for item in walk_log(files, first, scrutiny, synced_ms):
            if isinstance(item, LogEnd):
                end = item
            else:
                self.dispatch(item)
        return end

    def contents(self) -> dict[QueueName, QueueContent]:
        """The queues as they are now."""
        return {name: queue.content() for name, queue in self._queues.items()}


def keep_units(
    name: QueueName, content: QueueContent, files: Sequence[LoadedFile], walk_start: int
) -> QueueContent:
    """The units of a queue that recovery takes over as they are.

    A unit whose message is no longer in the log cannot be checked and is kept: it holds the
    queue's place in the sequence of offsets.

    Clauses: recovery.queue.cut-with-the-log, recovery.queue.ends-with-its-own-message
    """

    def is_own(queue_offset: QueueOffset, unit: Unit) -> bool:
        if unit.position < files[0].start and not is_filler(unit):
            return True
        return has_own_message(name, queue_offset, unit, files)

    return drop_foreign_tail(cut_queue(content, walk_start), is_own)


def _rebuild_queues(
    stopped: StoppedStore, shape: StoreShape, rule: RecoveryRule, files: Sequence[LoadedFile], first: int
) -> tuple[LogEnd, dict[QueueName, QueueContent]]:
    """The end of the log, and the queues that follow from it.

    Clause: recovery.start.gap-starts-over
    """
    walk_start, synced_ms = files[first].start, stopped.checkpoint.log_ms
    kept: dict[QueueName, QueueContent] = {}
    for name, found in stopped.queues.items():
        loaded = arrange_files(
            found, shape.units_per_file * UNIT_SIZE, drops_empty_last=rule.drops_empty_last
        )
        content = read_queue(loaded)
        kept[name] = (
            keep_units(name, content, files, walk_start)
            if rule.verifies_queue_tail
            else cut_queue(content, walk_start)
        )
    table = _QueueTable(kept, shape, rule.gap)
    end = table.dispatch_log(files, first, rule.scrutiny, synced_ms)
    if first and table.had_gap and rule.gap is GapRule.FILL:
        table = _QueueTable(kept, shape, rule.gap)
        for record in iter_whole_files(files[:first], rule.scrutiny):
            table.dispatch(record)
        end = table.dispatch_log(files, first, rule.scrutiny, synced_ms)
    return end, table.contents()


def _index_records(
    files: Sequence[LoadedFile], first: int, index_start: int, scrutiny: Scrutiny, synced_ms: int
) -> Iterator[RecordHead]:
    """The records from a position on, wherever reading the log again began."""
    for record in iter_whole_files([file for file in files[:first] if file.end > index_start], scrutiny):
        if record.position >= index_start:
            yield record
    for item in walk_log(files, first, scrutiny, synced_ms):
        if isinstance(item, RecordHead) and item.position >= index_start:
            yield item


def recover_store(
    stopped: StoppedStore, shape: StoreShape, *, rule: RecoveryRule = REFERENCE_RULE
) -> RecoveredStore:
    """The state in which the store comes back; refuses files that are not this store's.

    Clauses: recovery.state.follows-from-log, recovery.state.no-log-no-queues, recovery.log.cut-files
    """
    if stopped.is_clean_stop:
        # Nothing was being written, so zeros in a text are what somebody sent.
        rule = rule._replace(scrutiny=rule.scrutiny._replace(torn_text=TornText.NO_RECORD))
    files = arrange_files(stopped.log, shape.log_file_size, drops_empty_last=rule.drops_empty_last)
    if not files:
        nothing = CommitLogPosition(0)
        return RecoveredStore(
            nothing, LogEnd(nothing, StopKind.END, None), nothing, (), (), {}, (), nothing, ()
        )
    first = derive_walk_start(files, stopped.checkpoint, is_clean_stop=stopped.is_clean_stop)
    log_min, walk_start = files[0].start, files[first].start
    end, contents = _rebuild_queues(stopped, shape, rule, files, first)
    verdicts = tuple(
        check_index_file(
            file,
            shape.index_file_size,
            stopped.checkpoint.index_ms,
            end.position,
            is_clean_stop=stopped.is_clean_stop,
        )
        for file in sorted(stopped.index_files, key=lambda file: file.name)
    )
    kept_headers = [verdict.header for verdict in verdicts if verdict.header is not None]
    index_start = derive_index_start(kept_headers, log_min, walk_start, start=rule.index_start)
    return RecoveredStore(
        log_min=log_min,
        log_end=end,
        walk_start=walk_start,
        kept_files=tuple(file.start for file in files if file.start <= end.position),
        dropped_files=tuple(file.start for file in files if file.start > end.position),
        queues={
            name: RecoveredQueue(content, derive_min_offset(content, log_min), content.max_offset)
            for name, content in contents.items()
        },
        index_files=verdicts,
        index_start=index_start,
        indexed_keys=derive_indexed_keys(
            _index_records(files, first, index_start, rule.scrutiny, stopped.checkpoint.log_ms)
        ),
    )
