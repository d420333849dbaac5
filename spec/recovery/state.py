"""What a start finds on disk, and what recovery makes of it: the values on both sides."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from spec.layout.checkpoint import Checkpoint
from spec.layout.queue_append import GapRule
from spec.recovery.index import IndexedKey, IndexStart, IndexVerdict
from spec.recovery.log_walk import APACHE, REFERENCE, LogEnd, Scrutiny
from spec.recovery.queue import QueueContent
from spec.recovery.store_file import FoundFile
from spec.values.units import CommitLogPosition, QueueId, QueueOffset


class QueueName(NamedTuple):
    """A queue of this store."""

    topic: str
    queue_id: QueueId


class StoppedStore(NamedTuple):
    """What a start finds: the files, the checkpoint, and whether the last stop was clean."""

    log: Sequence[FoundFile]
    queues: Mapping[QueueName, Sequence[FoundFile]]
    index_files: Sequence[FoundFile]
    checkpoint: Checkpoint
    is_clean_stop: bool
    """No abort file was found. Clause: recovery.start.abort-file."""


class StoreShape(NamedTuple):
    """The sizes and delays with which a store was configured."""

    log_file_size: int
    units_per_file: int
    index_file_size: int
    delays_ms: tuple[int, ...]


class RecoveryRule(NamedTuple):
    """Where the reference is stricter than Apache 4.9.x."""

    scrutiny: Scrutiny = REFERENCE
    gap: GapRule = GapRule.FILL
    index_start: IndexStart = IndexStart.LAST_KEPT
    verifies_queue_tail: bool = True
    drops_empty_last: bool = True


class RecoveredQueue(NamedTuple):
    """A queue after recovery."""

    content: QueueContent
    min_offset: QueueOffset
    max_offset: QueueOffset


class RecoveredStore(NamedTuple):
    """The store after recovery."""

    log_min: CommitLogPosition
    log_end: LogEnd
    walk_start: CommitLogPosition
    """Where the log was read again from."""
    kept_files: tuple[CommitLogPosition, ...]
    dropped_files: tuple[CommitLogPosition, ...]
    """Log files that lie wholly behind the end."""
    queues: Mapping[QueueName, RecoveredQueue]
    index_files: tuple[IndexVerdict, ...]
    index_start: CommitLogPosition
    indexed_keys: tuple[IndexedKey, ...]
    """What has to be in the index from `index_start` on."""


REFERENCE_RULE: Final = RecoveryRule()

APACHE_RULE: Final = RecoveryRule(
    scrutiny=APACHE,
    gap=GapRule.APPEND_ANYWAY,
    index_start=IndexStart.LOG_START,
    verifies_queue_tail=False,
    drops_empty_last=False,
)
"""As Apache 4.9.x judges records, queue tails, gaps and the start of the index."""
