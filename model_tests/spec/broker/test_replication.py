import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.replication import (
    Frame,
    check_frame,
    check_report,
    derive_first_position,
    derive_frame_size,
    is_replicated,
    is_slave_available,
)
from spec.rejection import Rejection


@pytest.mark.clause("broker.replication.empty-slave-starts-at-current-file")
def test_empty_slave_begins_with_the_current_file() -> None:
    assert [derive_first_position(reported, 4_096) for reported in (0, 1, 9_000)] == [4_096, 1, 9_000]


@pytest.mark.clause("broker.replication.report-within-log")
@pytest.mark.parametrize("reported", [-1, 101])
def test_report_that_cannot_be_true_is_refused(reported: int) -> None:
    with pytest.raises(Rejection) as refused:
        check_report(reported, 100)
    reason = f"a slave reports {reported}, but the master's log ends at 100"
    assert refused.value == Rejection("broker.replication.report-within-log", 0, reason)
    assert [check_report(true, 100) for true in (0, 100)] == [0, 100]


@pytest.mark.clause("broker.replication.frame-continues-log")
@pytest.mark.parametrize(
    ("frame", "slave_end"),
    [(Frame(99, 5), 100), (Frame(101, 0), 100), (Frame(100, -1), 100), (Frame(-8, 0), 0), (Frame(9, 5), 1)],
)
def test_frame_that_leaves_a_hole_is_refused(frame: Frame, slave_end: int) -> None:
    with pytest.raises(Rejection) as refused:
        check_frame(frame, slave_end)
    reason = f"{frame.size} bytes at {frame.position} do not continue a log that ends at {slave_end}"
    assert refused.value == Rejection("broker.replication.frame-continues-log", 0, reason)


@pytest.mark.clause("broker.replication.frame-continues-log")
@pytest.mark.parametrize(
    ("frame", "slave_end", "end_afterwards"),
    [
        (Frame(100, 5), 100, 105),
        (Frame(100, 0), 100, 100),
        (Frame(0, 5), 0, 5),
        (Frame(0, 0), 0, 0),
        (Frame(4_096, 5), 0, 4_101),
    ],
)
def test_frame_at_the_end_of_the_log_or_the_first_of_an_empty_slave_is_taken(
    frame: Frame, slave_end: int, end_afterwards: int
) -> None:
    assert check_frame(frame, slave_end) == end_afterwards


@pytest.mark.clause("broker.replication.slave-available")
def test_slave_is_available_when_connected_and_close_enough() -> None:
    limit = 256 * 1024 * 1024
    assert [is_slave_available(limit + behind, 1, 1) for behind in (0, 1, 2)] == [True, False, False]
    assert not is_slave_available(0, 0, 0)
    assert [is_replicated(100, acknowledged) for acknowledged in (99, 100)] == [False, True]


@pytest.mark.clause("broker.replication.frame-size", "broker.replication.frame-continues-log")
@given(
    master_end=st.integers(1, 400_000), start=st.integers(1, 400_000), file_bytes=st.integers(10_000, 100_000)
)
def test_slave_catches_up_frame_by_frame(master_end: int, start: int, file_bytes: int) -> None:
    slave_end = min(start, master_end)
    while size := derive_frame_size(slave_end, master_end, file_bytes):
        assert size <= 32_768
        assert slave_end // file_bytes == (slave_end + size - 1) // file_bytes
        slave_end = check_report(check_frame(Frame(slave_end, size), slave_end), master_end)
    assert slave_end == master_end
