import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.recovery.sample import queue_files
from spec.layout.consume_queue import BLANK, FILLER, Unit
from spec.layout.queue_append import GapRule, Put
from spec.recovery.queue import (
    NO_UNITS,
    QueueContent,
    QueueRebuild,
    cut_queue,
    derive_min_offset,
    drop_foreign_tail,
    read_queue,
)
from spec.recovery.store_file import arrange_files
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition, QueueOffset, TagCode

FILE_SIZE = 80


def _unit(position: int) -> Unit:
    return Unit(CommitLogPosition(position), ByteCount(100), TagCode(0))


def _content(*positions: int, first: int = 0) -> QueueContent:
    return QueueContent(QueueOffset(first), tuple(map(_unit, positions)))


@pytest.mark.clause("recovery.queue.ends-at-first-unwritten")
@given(st.integers(0, 10), st.integers(0, 10), st.integers(0, 3))
def test_queue_is_read_up_to_its_first_hole(before: int, after: int, first_file: int) -> None:
    units = [_unit(100 * number) for number in range(before)]
    later = [_unit(100 * number) for number in range(20, 20 + after)]
    files = arrange_files(queue_files([*units, BLANK, *later], first_file * 4), FILE_SIZE)
    assert read_queue(files) == QueueContent(QueueOffset(first_file * 4), tuple(units))


def test_queue_without_files_is_empty() -> None:
    assert read_queue(()) == NO_UNITS


@pytest.mark.clause("recovery.queue.cut-with-the-log")
def test_units_at_or_behind_the_position_are_cut() -> None:
    content = _content(0, 100, 200, 300, first=4)
    assert cut_queue(content, 200) == _content(0, 100, first=4)
    assert cut_queue(content, 201) == _content(0, 100, 200, first=4)
    assert cut_queue(content, 0) == NO_UNITS
    assert cut_queue(_content(0, 500, 100), 200) == _content(0)


@pytest.mark.clause("recovery.queue.ends-with-its-own-message")
def test_tail_that_leads_to_foreign_messages_is_dropped() -> None:
    content = _content(0, 100, 200, 300, first=4)
    assert drop_foreign_tail(content, lambda offset, _: offset < 6) == _content(0, 100, first=4)
    assert drop_foreign_tail(content, lambda _offset, _unit: False) == NO_UNITS


@pytest.mark.clause("recovery.queue.min-offset")
def test_min_offset_is_the_first_message_that_is_still_in_the_log() -> None:
    content = QueueContent(QueueOffset(8), (FILLER, FILLER, _unit(100), _unit(200)))
    assert [derive_min_offset(content, log_min) for log_min in (0, 100, 101, 201)] == [10, 10, 11, 12]
    assert derive_min_offset(NO_UNITS, 0) == 0


@pytest.mark.clause("store.queue.offset-is-place", "store.queue.filler")
def test_rebuilt_queue_begins_fills_and_skips() -> None:
    queue = QueueRebuild(NO_UNITS, 4, GapRule.FILL)
    assert queue.dispatch(_unit(100), QueueOffset(6)) is Put.BEGIN
    assert queue.dispatch(_unit(100), QueueOffset(6)) is Put.KNOWN
    assert queue.dispatch(_unit(200), QueueOffset(8)) is Put.FILL
    assert queue.dispatch(_unit(300), QueueOffset(9)) is Put.APPEND
    content = queue.content()
    assert content == QueueContent(
        QueueOffset(4), (FILLER, FILLER, _unit(100), FILLER, _unit(200), _unit(300))
    )
    assert content.max_offset == 10


@pytest.mark.clause("recovery.queue.gap-limit")
def test_offset_far_behind_the_end_is_refused_instead_of_filled() -> None:
    queue = QueueRebuild(_content(0), 4, GapRule.FILL)
    assert queue.dispatch(_unit(100), QueueOffset(5)) is Put.FILL
    with pytest.raises(Rejection, match="stands 1152921504606846970 behind") as refusal:
        queue.dispatch(_unit(200), QueueOffset(2**60))
    assert refusal.value.clause == "recovery.queue.gap-limit"
