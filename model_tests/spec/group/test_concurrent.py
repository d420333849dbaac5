"""Concurrent consumption: who leaves custody."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.group.concurrent import (
    ACK_ALL,
    ConcurrentStatus,
    Disposal,
    derive_ack_index,
    derive_disposal,
    derive_failed,
    derive_stuck_count,
    is_position_stored,
)
from spec.group.consumption import MessageModel
from spec.group.process_queue import ProcessQueue
from spec.values.units import QueueOffset


@pytest.mark.clause("group.concurrent.ack-index")
@pytest.mark.parametrize(
    ("status", "asked", "index"),
    [
        (ConcurrentStatus.SUCCESS, ACK_ALL, 3),
        (ConcurrentStatus.SUCCESS, 3, 3),
        (ConcurrentStatus.SUCCESS, 1, 1),
        (ConcurrentStatus.SUCCESS, -1, -1),
        (ConcurrentStatus.SUCCESS, -9, -1),
        (ConcurrentStatus.LATER, ACK_ALL, -1),
        (ConcurrentStatus.LATER, 2, -1),
    ],
)
def test_ack_index_of_a_batch_of_four(status: ConcurrentStatus, asked: int, index: int) -> None:
    assert derive_ack_index(status, asked, 4) == index


@pytest.mark.clause("group.concurrent.custody-until-returned")
def test_message_that_could_not_be_sent_back_stays_and_holds_the_position() -> None:
    queue: ProcessQueue[None] = ProcessQueue()
    queue.put((QueueOffset(offset), 1, None) for offset in (10, 11, 12))
    disposal = derive_disposal(MessageModel.CLUSTERING, -1, 3, (0, 2))
    assert disposal == Disposal(finished=(0, 2), retried=(1,))
    assert queue.remove([QueueOffset(10 + at) for at in disposal.finished]) == 11


@pytest.mark.clause("group.concurrent.ack-index")
@pytest.mark.parametrize(
    ("ack_index", "failed"), [(-1, [0, 1, 2, 3]), (0, [1, 2, 3]), (1, [2, 3]), (2, [3]), (3, [])]
)
def test_everything_behind_the_ack_index_failed(ack_index: int, failed: list[int]) -> None:
    assert list(derive_failed(ack_index, 4)) == failed


@pytest.mark.clause("group.concurrent.custody-until-returned")
def test_first_failed_message_stays_when_nothing_was_returned() -> None:
    assert derive_disposal(MessageModel.CLUSTERING, 0, 4, ()) == Disposal(finished=(0,), retried=(1, 2, 3))


@pytest.mark.clause("group.concurrent.broadcasting-drops-failed")
def test_broadcasting_drops_what_failed() -> None:
    assert derive_disposal(MessageModel.BROADCASTING, 0, 3, ()) == Disposal((0, 1, 2), ())


@pytest.mark.clause("group.concurrent.custody-until-returned")
@given(st.integers(1, 8), st.integers(-1, 7), st.frozensets(st.integers(0, 7)))
def test_batch_is_divided_without_loss(size: int, ack: int, returned: frozenset[int]) -> None:
    disposal = derive_disposal(MessageModel.CLUSTERING, min(ack, size - 1), size, returned)
    kept = tuple(at for at in range(size) if at > ack and at not in returned)
    assert disposal == Disposal(tuple(at for at in range(size) if at not in kept), kept)


@pytest.mark.clause("group.concurrent.position-of-live-tenure")
def test_position_is_stored_for_a_live_tenure_only() -> None:
    assert is_position_stored(0, is_tenure_live=True)
    assert not is_position_stored(-1, is_tenure_live=True)
    assert not is_position_stored(7, is_tenure_live=False)


@pytest.mark.clause("group.concurrent.expired-cleaning")
@pytest.mark.parametrize(
    ("starts", "count"),
    [
        ((), 0),
        ((0, 0), 2),
        ((1, 0), 0),
        ((0, None, 0), 1),
        ((0,) * 16, 16),
        ((0,) * 17, 16),
    ],
)
def test_scan_sends_back_stuck_messages_at_the_front_sixteen_at_most(
    starts: tuple[int | None, ...], count: int
) -> None:
    assert derive_stuck_count(starts, 900_001) == count


@pytest.mark.clause("group.concurrent.expired-cleaning")
def test_scan_follows_the_timeout_and_the_limit_it_is_given() -> None:
    assert [derive_stuck_count((0, 0, 0), now, timeout_ms=10) for now in (10, 11)] == [0, 3]
    assert derive_stuck_count((0, 0, 0), 900_001, limit=2) == 2
