"""Reading a queue: which messages one pull returns, and where the next one goes on.

The rules are those of `spec.broker.pull_outcome` and `spec.broker.pull_scan`. The scan runs for
every message that is read, so it is written out here on plain numbers; a test keeps it equal to
the fold in the specification. Messages that stand one behind the other in the log are read with
one call.
"""

import struct
from collections.abc import Container
from typing import Final, NamedTuple

from refimpl.store.commit_log import CommitLog
from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.settings import StoreSettings
from spec.broker.pull_outcome import Bounds, OffsetCheck, PullStatus, decide_without_scan
from spec.broker.pull_scan import (
    DISK_BYTES_LIMIT,
    DISK_COUNT_LIMIT,
    MEMORY_BYTES_LIMIT,
    MEMORY_COUNT_LIMIT,
    derive_scan_limit,
)
from spec.layout.commit_log_file import derive_next_file_start
from spec.values.units import ByteCount, Count, QueueOffset

MEMORY_RATIO: Final = 40
"""Apache's `accessMessageInMemoryMaxRatio`: the percentage of memory that counts as cached."""


_UNIT: Final = struct.Struct(">qiq")
_IN_MEMORY: Final = MEMORY_COUNT_LIMIT, MEMORY_BYTES_LIMIT
_ON_DISK: Final = DISK_COUNT_LIMIT, DISK_BYTES_LIMIT
"""Limits of one answer, as `is_full` has them."""


class Found(NamedTuple):
    """What a pull found."""

    status: PullStatus
    next_offset: QueueOffset
    min_offset: QueueOffset
    max_offset: QueueOffset
    message_count: Count = Count(0)
    byte_count: ByteCount = ByteCount(0)
    pieces: tuple[bytes, ...] = ()
    """The records, back to back."""
    suggests_slave: bool = False

    @property
    def body(self) -> bytes:
        """The body of a pull answer."""
        return b"".join(self.pieces)


class _Run(NamedTuple):
    """Records that stand one behind the other in one file."""

    position: int
    end: int


class _Scan(NamedTuple):
    status: PullStatus
    consumed: int
    message_count: int
    byte_count: int
    runs: list[_Run]
    last_position: int


class MessageReader:
    """Reads queues of one store."""

    def __init__(self, log: CommitLog, settings: StoreSettings) -> None:
        self._log = log
        self._settings = settings
        self._cached_bytes = settings.memory_bytes * MEMORY_RATIO // 100

    def read(
        self,
        queue: ConsumeQueue | None,
        offset: int,
        max_messages: int,
        wanted_codes: Container[int] | None = None,
        check: OffsetCheck = OffsetCheck.CORRECTED,
    ) -> Found:
        """The messages from an offset on; `wanted_codes` are the tag codes, None for all.

        Clauses: broker.pull.one-status, broker.pull.scan-limit, store.queue.read-ends-with-file
        """
        bounds = None if queue is None else Bounds(queue.min_offset, queue.max_offset)
        is_inside = bounds is not None and bounds.minimum <= offset < bounds.maximum
        units = queue.read_units(offset, derive_scan_limit(max_messages)) if queue and is_inside else None
        outcome = decide_without_scan(
            offset,
            bounds,
            has_units=bool(units),
            check=check,
            overflow=self._settings.overflow,
            units_per_file=self._settings.units_per_file,
        )
        low, high = bounds or (0, 0)
        if outcome is not None or not units:
            status, next_offset = outcome or (PullStatus.OFFSET_FOUND_NULL, QueueOffset(offset))
            return Found(status, next_offset, QueueOffset(low), QueueOffset(high))
        scan = self._scan(units, max_messages, wanted_codes)
        pieces = tuple(self._log.sequence.read(run.position, run.end - run.position) for run in scan.runs)
        return Found(
            scan.status,
            QueueOffset(offset + scan.consumed),
            QueueOffset(low),
            QueueOffset(high),
            Count(scan.message_count),
            ByteCount(scan.byte_count),
            pieces,
            self._log.end - scan.last_position > self._cached_bytes,
        )

    def _scan(self, units: bytes, max_messages: int, wanted: Container[int] | None) -> _Scan:
        """The units that are returned, as `scan_unit` chooses them.

        Clauses: broker.pull.next-passes-nothing-unseen, broker.pull.removed-file-skipped,
        broker.pull.batch-limits, broker.pull.first-message-always
        """
        sequence, log_end = self._log.sequence, self._log.end
        log_min, file_size = sequence.first, sequence.file_size
        disk_end = log_end - self._cached_bytes
        consumed = count = byte_count = resume_at = position = run_start = run_end = 0
        status = PullStatus.NO_MATCHED_MESSAGE
        runs: list[_Run] = []
        for position, size, tag_code in _UNIT.iter_unpack(units):
            if position >= resume_at:
                count_limit, bytes_limit = _ON_DISK if position < disk_end else _IN_MEMORY
                if count and (
                    count >= max_messages or count >= count_limit or byte_count + size > bytes_limit
                ):
                    break
                if wanted is not None and tag_code not in wanted:
                    status = status if count else PullStatus.NO_MATCHED_MESSAGE
                elif position < log_min or position + size > log_end:
                    status = status if count else PullStatus.MESSAGE_WAS_REMOVING
                    resume_at = derive_next_file_start(position, file_size)
                else:
                    count, byte_count, resume_at = count + 1, byte_count + size, 0
                    status = PullStatus.FOUND
                    if position != run_end or position % file_size == 0:
                        runs.append(_Run(run_start, run_end))
                        run_start = position
                    run_end = position + size
            consumed += 1
        runs.append(_Run(run_start, run_end))
        return _Scan(status, consumed, count, byte_count, [run for run in runs if run.end], position)
