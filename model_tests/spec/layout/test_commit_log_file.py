import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.commit_log_file import (
    AppendPlan,
    decode_file_name,
    derive_file_start,
    derive_files_ahead,
    derive_next_file_start,
    derive_remaining,
    encode_file_name,
    is_fitting,
    plan_append,
)
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition


@pytest.mark.clause("store.file.name")
@given(st.integers(0, 2**63 // 1_024 - 1))
def test_name_reads_back_and_sorts_as_its_position(number: int) -> None:
    start = number * 1_024
    name = encode_file_name(start)
    assert (len(name), decode_file_name(name, 1_024)) == (20, start)
    assert encode_file_name(start) <= encode_file_name(min(start + 1_024, 2**63 - 1))


@pytest.mark.clause("store.file.name", "store.file.starts-are-multiples")
@pytest.mark.parametrize(
    ("name", "clause"),
    [
        ("0000000000000001638", "store.file.name"),
        ("000000000000000016384", "store.file.name"),
        ("0000000000000001638x", "store.file.name"),
        ("\N{ARABIC-INDIC DIGIT ZERO}" * 20, "store.file.name"),
        ("99999999999999999999", "store.file.name"),
        (".DS_Store", "store.file.name"),
        ("00000000000000016385", "store.file.starts-are-multiples"),
    ],
)
def test_foreign_names_are_refused(name: str, clause: str) -> None:
    with pytest.raises(Rejection) as refusal:
        decode_file_name(name, 16_384)
    assert refusal.value.clause == clause


@pytest.mark.clause("store.file.name")
@pytest.mark.parametrize("start", [-1, 2**63])
def test_no_file_begins_outside_the_positions(start: int) -> None:
    with pytest.raises(Rejection, match="no file begins"):
        encode_file_name(start)


@pytest.mark.clause("store.file.starts-are-multiples")
@given(st.integers(0, 2**62), st.integers(1, 2**30))
def test_position_lies_in_its_file(position: int, size: int) -> None:
    start = derive_file_start(position, size)
    assert start <= position < derive_next_file_start(position, size) == start + size
    assert derive_remaining(position, size) == start + size - position


@pytest.mark.clause("store.file.keeps-room-for-blank", "store.blank.covers-the-rest")
@pytest.mark.parametrize(
    ("position", "size", "plan"),
    [
        (0, 92, AppendPlan(None, ByteCount(0), CommitLogPosition(0))),
        (100, 92, AppendPlan(None, ByteCount(0), CommitLogPosition(100))),
        (8, 92, AppendPlan(CommitLogPosition(8), ByteCount(92), CommitLogPosition(100))),
        (92, 92, AppendPlan(CommitLogPosition(92), ByteCount(8), CommitLogPosition(100))),
    ],
)
def test_record_goes_where_eight_bytes_stay_free(position: int, size: int, plan: AppendPlan) -> None:
    assert plan_append(CommitLogPosition(position), size, 100) == plan


@pytest.mark.clause("store.file.keeps-room-for-blank")
@pytest.mark.parametrize(("position", "size"), [(0, 93), (93, 50)])
def test_what_fits_nowhere_is_refused(position: int, size: int) -> None:
    with pytest.raises(Rejection) as refusal:
        plan_append(CommitLogPosition(position), size, 100)
    assert refusal.value.clause == "store.file.keeps-room-for-blank"


@pytest.mark.clause("store.file.keeps-room-for-blank", "store.batch.one-file")
@given(st.lists(st.integers(91, 992), max_size=30))
def test_log_of_any_sizes_always_leaves_room_for_its_blank_records(sizes: list[int]) -> None:
    end = CommitLogPosition(0)
    for size in sizes:
        plan = plan_append(end, size, 1_000)
        end = CommitLogPosition(plan.record_at + size)
        assert derive_file_start(plan.record_at, 1_000) == derive_file_start(end, 1_000)
        assert derive_remaining(end, 1_000) >= 8
        assert is_fitting(0, derive_remaining(end, 1_000))


@pytest.mark.clause("store.file.allocated-ahead")
def test_two_files_may_stand_ahead_of_the_one_being_written() -> None:
    assert derive_files_ahead(2_500, 1_000) == (3_000, 4_000)
