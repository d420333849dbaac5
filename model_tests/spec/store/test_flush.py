import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.store.flush import (
    LOG_TIMING,
    PAGE_SIZE,
    QUEUE_TIMING,
    SYNC_WAIT_MS,
    FlushMode,
    FlushTiming,
    Promise,
    derive_dirty_pages,
    derive_promise,
    derive_readable_end,
    is_flush_due,
)
from spec.values.units import CommitLogPosition, Count, Milliseconds

positions = st.integers(0, 2**40)


def test_defaults_are_those_of_apache() -> None:
    assert FlushTiming(Milliseconds(500), Count(4), Milliseconds(10_000)) == LOG_TIMING
    assert FlushTiming(Milliseconds(1_000), Count(2), Milliseconds(60_000)) == QUEUE_TIMING
    assert (PAGE_SIZE, SYNC_WAIT_MS) == (4_096, 5_000)


@pytest.mark.clause("store.flush.timing")
def test_dirty_pages_are_page_boundaries_not_bytes() -> None:
    pairs = [(0, 0), (0, 4_095), (0, 4_096), (4_095, 4_096), (4_096, 8_191), (100, 16_384)]
    assert [derive_dirty_pages(flushed, written) for flushed, written in pairs] == [0, 0, 1, 1, 0, 4]


@pytest.mark.clause("store.flush.timing")
@pytest.mark.parametrize(
    ("dirty", "since_ms", "since_thorough_ms", "is_due"),
    [
        pytest.param(4 * 4_096, 500, 500, True, id="enough pages, interval over"),
        pytest.param(4 * 4_096, 499, 9_999, False, id="enough pages, interval not over"),
        pytest.param(4 * 4_096 - 1, 500, 9_999, False, id="too few pages"),
        pytest.param(1, 0, 10_000, True, id="one byte, thorough interval over"),
        pytest.param(1, 9_999, 9_999, False, id="one byte, thorough interval not over"),
        pytest.param(0, 10_000, 10_000, False, id="nothing dirty"),
    ],
)
def test_flush_is_due_by_pages_and_interval_or_by_the_thorough_interval(
    dirty: int,
    since_ms: int,
    since_thorough_ms: int,
    is_due: bool,  # noqa: FBT001 - a column
) -> None:
    now_ms, flushed = 1_000_000, 8_192
    assert (
        is_flush_due(
            flushed, flushed + dirty, now_ms - since_ms, now_ms - since_thorough_ms, now_ms, LOG_TIMING
        )
        is is_due
    )


@pytest.mark.clause("store.flush.timing")
@given(positions, st.integers(1, 2**30), st.integers(0, 2**40))
def test_nothing_stays_dirty_longer_than_the_thorough_interval(flushed: int, dirty: int, last: int) -> None:
    for timing in (LOG_TIMING, QUEUE_TIMING):
        now_ms = last + timing.thorough_ms
        assert is_flush_due(flushed, flushed + dirty, last, last, now_ms, timing)


@pytest.mark.clause("store.flush.readable-is-durable")
@given(positions, positions)
def test_log_is_readable_up_to_what_the_mode_calls_stored(one: int, other: int) -> None:
    flushed, written = CommitLogPosition(min(one, other)), CommitLogPosition(max(one, other))
    ends = [derive_readable_end(mode, written, flushed) for mode in (FlushMode.SYNC, FlushMode.ASYNC)]
    assert ends == [flushed, written]


@pytest.mark.clause("store.flush.acknowledged-is-stored", "store.flush.timeout-keeps-message")
@pytest.mark.parametrize(
    ("mode", "flushed", "now_ms", "waits", "promise"),
    [
        (FlushMode.SYNC, 500, 0, True, Promise.KEPT),
        (FlushMode.SYNC, 501, 9_999, True, Promise.KEPT),
        (FlushMode.SYNC, 499, 4_999, True, Promise.PENDING),
        (FlushMode.SYNC, 499, 5_000, True, Promise.TIMED_OUT),
        (FlushMode.SYNC, 0, 5_000, False, Promise.KEPT),
        (FlushMode.ASYNC, 0, 5_000, True, Promise.KEPT),
    ],
)
def test_message_is_acknowledged_when_the_promise_of_its_mode_holds(
    mode: FlushMode,
    flushed: int,
    now_ms: int,
    waits: bool,  # noqa: FBT001 - a column
    promise: Promise,
) -> None:
    assert derive_promise(mode, 500, flushed, now_ms, SYNC_WAIT_MS, waits=waits) is promise


@pytest.mark.clause("store.flush.acknowledged-is-stored", "store.flush.readable-is-durable")
@given(st.sampled_from(FlushMode), positions, positions, positions)
def test_message_that_is_waited_for_is_readable_when_it_is_acknowledged(
    mode: FlushMode, end: int, flushed: int, unsynced: int
) -> None:
    written = max(end, flushed) + unsynced
    promise = derive_promise(mode, end, flushed, 0, SYNC_WAIT_MS, waits=True)
    readable = derive_readable_end(mode, CommitLogPosition(written), CommitLogPosition(flushed))
    assert (promise is Promise.KEPT) == (end <= readable)
