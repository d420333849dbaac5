"""Theorems on flushing: nothing stays dirty for ever, nothing is promised or shown too early."""

from spec.store.flush import (
    FlushMode,
    FlushTiming,
    Promise,
    derive_dirty_pages,
    derive_promise,
    derive_readable_end,
    is_flush_due,
)
from spec.values.units import CommitLogPosition, Count, Milliseconds


def anything_dirty_is_flushed_after_the_thorough_interval(
    flushed: int, written: int, last_ms: int, thorough_ms: int
) -> bool:
    """However few bytes are dirty, they are due after the thorough interval; clean bytes never are.

    clause: store.flush.timing
    pre: 0 <= flushed <= written < 2**40
    pre: 0 <= last_ms < 2**40
    pre: 0 < thorough_ms < 2**30
    post: __return__
    """
    timing = FlushTiming(Milliseconds(500), Count(4), Milliseconds(thorough_ms))
    now_ms = last_ms + thorough_ms
    return is_flush_due(flushed, written, now_ms, last_ms, now_ms, timing) == (flushed < written)


def few_pages_wait_for_the_thorough_interval(flushed: int, dirty: int, since_ms: int) -> bool:
    """Before the thorough interval a flush is due exactly if pages and interval are enough.

    clause: store.flush.timing
    pre: 0 <= flushed < 2**20
    pre: 0 <= dirty < 2**20
    pre: 0 <= since_ms < 10_000
    post: __return__
    """
    timing = FlushTiming(Milliseconds(500), Count(4), Milliseconds(10_000))
    is_due = is_flush_due(flushed, flushed + dirty, 0, 0, since_ms, timing)
    return is_due == (derive_dirty_pages(flushed, flushed + dirty) >= 4 and since_ms >= 500)


def dirty_pages_are_whole_pages_give_or_take_one(flushed: int, dirty: int) -> bool:
    """The count differs from the dirty bytes by less than one page.

    clause: store.flush.timing
    pre: 0 <= flushed < 2**20
    pre: 0 <= dirty < 2**20
    post: __return__
    """
    return abs(derive_dirty_pages(flushed, flushed + dirty) * 4096 - dirty) < 4096


def readable_is_durable_as_the_mode_promises(mode: FlushMode, written: int, flushed: int) -> bool:
    """Nothing unwritten is ever readable, and in synchronous mode nothing that a crash could take back.

    clause: store.flush.readable-is-durable
    pre: 0 <= flushed <= written < 2**62
    post: __return__
    """
    end = derive_readable_end(mode, CommitLogPosition(written), CommitLogPosition(flushed))
    return end == (flushed if mode is FlushMode.SYNC else written)


def acknowledged_message_is_flushed(end: int, flushed: int, now_ms: int, deadline_ms: int) -> bool:
    """In synchronous mode the promise is kept exactly when the whole message is flushed.

    clause: store.flush.acknowledged-is-stored
    pre: 0 <= end < 2**62
    pre: 0 <= flushed < 2**62
    pre: 0 <= now_ms < 2**62
    pre: 0 <= deadline_ms < 2**62
    post: __return__
    """
    promise = derive_promise(FlushMode.SYNC, end, flushed, now_ms, deadline_ms, waits=True)
    return (promise is Promise.KEPT) == (flushed >= end)


def nobody_waits_past_the_deadline(
    mode: FlushMode, end: int, flushed: int, deadline_ms: int, late_ms: int, *, waits: bool
) -> bool:
    """At the deadline and after it there is an answer, and a late flush still counts as kept.

    clause: store.flush.timeout-keeps-message
    pre: 0 <= end < 2**62
    pre: 0 <= flushed < 2**62
    pre: 0 <= deadline_ms < 2**62
    pre: 0 <= late_ms < 2**62
    post: __return__
    """
    promise = derive_promise(mode, end, flushed, deadline_ms + late_ms, deadline_ms, waits=waits)
    later = derive_promise(mode, end, end, deadline_ms + late_ms, deadline_ms, waits=waits)
    return promise is not Promise.PENDING and later is Promise.KEPT


def nobody_is_told_of_a_timeout_early(end: int, flushed: int, now_ms: int, deadline_ms: int) -> bool:
    """Before the deadline a message is stored or waited for.

    clause: store.flush.timeout-keeps-message
    pre: 0 <= end < 2**62
    pre: 0 <= flushed < 2**62
    pre: 0 <= now_ms < deadline_ms < 2**62
    post: __return__
    """
    promise = derive_promise(FlushMode.SYNC, end, flushed, now_ms, deadline_ms, waits=True)
    return promise is not Promise.TIMED_OUT
