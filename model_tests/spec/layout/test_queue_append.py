import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.consume_queue import Unit
from spec.layout.queue_append import GapRule, Put, PutStep, QueueTail, derive_put, put_unit
from spec.values.units import ByteCount, CommitLogPosition, Count, QueueOffset, TagCode

EMPTY = QueueTail(is_empty=True, next_offset=QueueOffset(0), covered=CommitLogPosition(0))
TAIL = QueueTail(is_empty=False, next_offset=QueueOffset(5), covered=CommitLogPosition(1_000))


def _unit(position: int, size: int = 100) -> Unit:
    return Unit(CommitLogPosition(position), ByteCount(size), TagCode(0))


@pytest.mark.clause("store.queue.dispatch-is-idempotent", "store.queue.offset-is-place")
@pytest.mark.parametrize(
    ("tail", "end", "offset", "put"),
    [
        (TAIL, 1_000, 5, Put.KNOWN),
        (TAIL, 999, 9, Put.KNOWN),
        (TAIL, 1_001, 4, Put.DUPLICATE),
        (TAIL, 1_001, 5, Put.APPEND),
        (TAIL, 1_001, 6, Put.FILL),
        (EMPTY, 1, 0, Put.APPEND),
        (EMPTY, 1, 3, Put.BEGIN),
    ],
)
def test_what_becomes_of_a_dispatched_message(tail: QueueTail, end: int, offset: int, put: Put) -> None:
    assert derive_put(tail, end, offset) is put


@pytest.mark.clause("store.queue.offset-is-place")
def test_apache_appends_behind_a_gap_at_the_wrong_offset_and_the_reference_fills_it() -> None:
    assert put_unit(TAIL, _unit(2_000), 8, 10) == PutStep(
        Put.FILL,
        Count(3),
        QueueTail(is_empty=False, next_offset=QueueOffset(9), covered=CommitLogPosition(2_100)),
    )
    assert put_unit(TAIL, _unit(2_000), 8, 10, gap=GapRule.APPEND_ANYWAY) == PutStep(
        Put.MISPLACE,
        Count(0),
        QueueTail(is_empty=False, next_offset=QueueOffset(6), covered=CommitLogPosition(2_100)),
    )


@pytest.mark.clause("store.queue.filler")
def test_queue_that_begins_late_is_filled_from_the_start_of_its_file() -> None:
    step = put_unit(EMPTY, _unit(50), 23, 10)
    assert step == PutStep(
        Put.BEGIN,
        Count(3),
        QueueTail(is_empty=False, next_offset=QueueOffset(24), covered=CommitLogPosition(150)),
    )


@pytest.mark.clause("store.queue.dispatch-is-idempotent")
@given(st.integers(0, 20), st.integers(0, 2_000), st.integers(1, 300))
def test_dispatching_again_changes_nothing(offset: int, position: int, size: int) -> None:
    for tail in (EMPTY, TAIL):
        after = put_unit(tail, _unit(position, size), offset, 10).tail
        again = put_unit(after, _unit(position, size), offset, 10)
        assert (again.writes, again.tail) == (False, after)
