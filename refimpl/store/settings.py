"""How a store is configured; the defaults are Apache's."""

from dataclasses import dataclass
from typing import Final

from spec.broker.pull_outcome import Overflow
from spec.broker.schedule import DELAY_LEVELS
from spec.layout.commit_log_file import FILE_SIZE
from spec.layout.consume_queue import UNIT_SIZE, UNITS_PER_FILE
from spec.layout.index_file import ENTRIES_PER_FILE, SLOTS_PER_FILE, derive_file_size
from spec.layout.record_limit import MESSAGE_SIZE_LIMIT, SizeRule
from spec.recovery.log_walk import REFERENCE, Scrutiny
from spec.recovery.state import StoreShape
from spec.store.flush import LOG_TIMING, QUEUE_TIMING, SYNC_WAIT_MS, FlushMode, FlushTiming
from spec.store.retention import DELETE_HOURS, RESERVED_MS
from spec.values.units import ByteCount

DEFAULT_MEMORY: Final = ByteCount(8 * 1024**3)
"""The memory size that the 40 % rule takes when nobody says how much there is."""


@dataclass(frozen=True, slots=True)
class StoreSettings:
    """One store's configuration."""

    log_file_size: int = FILE_SIZE
    units_per_file: int = UNITS_PER_FILE
    index_slots: int = SLOTS_PER_FILE
    index_entries: int = ENTRIES_PER_FILE
    delays_ms: tuple[int, ...] = DELAY_LEVELS
    flush_mode: FlushMode = FlushMode.ASYNC
    log_timing: FlushTiming = LOG_TIMING
    queue_timing: FlushTiming = QUEUE_TIMING
    sync_wait_ms: int = SYNC_WAIT_MS
    message_size_limit: ByteCount = MESSAGE_SIZE_LIMIT
    size_rule: SizeRule = SizeRule.WHOLE_RECORD
    memory_bytes: ByteCount = DEFAULT_MEMORY
    reserved_ms: int = RESERVED_MS
    delete_hours: tuple[int, ...] = DELETE_HOURS
    overflow: Overflow = Overflow.TO_MAXIMUM
    scrutiny: Scrutiny = REFERENCE
    """How closely recovery looks at a record."""

    def __post_init__(self) -> None:
        """Entry 0 of an index file is never used, so one entry is none."""
        if min(self.log_file_size, self.units_per_file, self.index_slots) < 1 or self.index_entries <= 1:
            raise ValueError("log files, queue files and slots need a size of 1 at least, index entries of 2")

    @property
    def queue_file_size(self) -> int:
        """The bytes of a consume-queue file."""
        return self.units_per_file * UNIT_SIZE

    @property
    def index_file_size(self) -> int:
        """The bytes of an index file."""
        return derive_file_size(self.index_slots, self.index_entries)

    def shape(self) -> StoreShape:
        """The sizes as recovery names them."""
        return StoreShape(self.log_file_size, self.units_per_file, self.index_file_size, self.delays_ms)
