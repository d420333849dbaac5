"""Flushing: when written bytes are made durable, and what is promised before they are.

The promise is the setting's. With asynchronous flush a message is stored once it is written: a
crash of the process loses nothing, a crash of the machine the last half second. With synchronous
flush it is stored once it is on disk, and the answer to the producer waits for that.

The promise can fail in two ways. The disk may be slow: then the producer is told so in time, and
the message stays; it may well become durable later, so it is neither lost nor sure. And somebody
may read a message before it is durable: after a crash that message is gone, though a consumer has
seen it, has advanced past it, and finds another message under its offset. Apache 4.9.x allows
this, since dispatch follows what is written. Here dispatch goes as far as the setting's promise.

What is allowed: syncing more often, and sooner, than the timing asks for.
"""

from enum import Enum
from typing import Final, NamedTuple

from spec.values.units import ByteCount, CommitLogPosition, Count, Milliseconds

PAGE_SIZE: Final = ByteCount(4096)
"""What a flush counts in: Apache's MappedFile.OS_PAGE_SIZE."""

SYNC_WAIT_MS: Final = Milliseconds(5_000)
"""How long an answer waits for the disk: Apache's default of syncFlushTimeout."""


class FlushMode(Enum):
    """What "stored" means: Apache's flushDiskType."""

    ASYNC = "written"
    SYNC = "on disk"


class FlushTiming(NamedTuple):
    """How often a part of the store is flushed when nobody waits for it."""

    interval_ms: Milliseconds
    least_pages: Count
    """Fewer dirty pages than these wait for the thorough flush."""
    thorough_ms: Milliseconds
    """After this time anything dirty is flushed."""


LOG_TIMING: Final = FlushTiming(Milliseconds(500), Count(4), Milliseconds(10_000))
"""Apache's defaults of flushIntervalCommitLog, flushCommitLogLeastPages, ...ThoroughInterval."""

QUEUE_TIMING: Final = FlushTiming(Milliseconds(1_000), Count(2), Milliseconds(60_000))
"""The same for consume queues; their thorough flush also writes the checkpoint."""


def derive_dirty_pages(flushed: int, written: int) -> Count:
    """How many page boundaries lie between what is flushed and what is written.

    Clause: store.flush.timing
    """
    return Count(written // PAGE_SIZE - flushed // PAGE_SIZE)


def is_flush_due(  # noqa: PLR0917 - two positions, then three times in the order in which they pass
    flushed: int, written: int, last_ms: int, last_thorough_ms: int, now_ms: int, timing: FlushTiming
) -> bool:
    """Whether a background flush has to start now.

    Clause: store.flush.timing
    """
    if written <= flushed:
        return False
    is_enough = derive_dirty_pages(flushed, written) >= timing.least_pages
    if is_enough and now_ms - last_ms >= timing.interval_ms:
        return True
    return now_ms - last_thorough_ms >= timing.thorough_ms


def derive_readable_end(
    mode: FlushMode, written: CommitLogPosition, flushed: CommitLogPosition
) -> CommitLogPosition:
    """How far queues, index and consumers may see the log.

    Clause: store.flush.readable-is-durable
    """
    match mode:
        case FlushMode.ASYNC:
            return written
        case FlushMode.SYNC:
            return flushed


class Promise(Enum):
    """What can be said of a written message to whoever sent it."""

    KEPT = "it is stored as the mode promises"
    PENDING = "not yet, and there is time left"
    TIMED_OUT = "not in time; the message stays and may become durable later"


def derive_promise(
    mode: FlushMode, end: int, flushed: int, now_ms: int, deadline_ms: int, *, waits: bool
) -> Promise:
    """What is known of the message that ends at `end`; `waits` is false if its property WAIT is.

    Clauses: store.flush.acknowledged-is-stored, store.flush.timeout-keeps-message
    """
    if mode is FlushMode.ASYNC or not waits or flushed >= end:
        return Promise.KEPT
    return Promise.TIMED_OUT if now_ms >= deadline_ms else Promise.PENDING
