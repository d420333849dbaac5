"""Concurrent consumption: a message leaves custody by success or by acknowledged return."""

from spec.group.concurrent import (
    ConcurrentStatus,
    derive_ack_index,
    derive_disposal,
    derive_stuck_count,
    is_position_stored,
)
from spec.group.consumption import MessageModel


def ack_index_stays_in_the_batch(status: ConcurrentStatus, asked: int, size: int) -> bool:
    """The ack index is -1 or a position of the batch, and -1 after a failure.

    clause: group.concurrent.ack-index
    pre: 1 <= size <= 1024
    post: __return__
    """
    index = derive_ack_index(status, asked, size)
    return -1 <= index < size and (status is ConcurrentStatus.SUCCESS or index == -1)


def unset_ack_index_acks_all(size: int) -> bool:
    """A listener that names no index and succeeds has finished the whole batch.

    clause: group.concurrent.ack-index
    pre: 1 <= size <= 1024
    post: __return__
    """
    return derive_ack_index(ConcurrentStatus.SUCCESS, 2**31 - 1, size) == size - 1


def disposal_conserves_the_batch(
    model: MessageModel, ack_index: int, size: int, returned: tuple[int, ...]
) -> bool:
    """Every message is either finished or retried here.

    clause: group.concurrent.custody-until-returned
    pre: 1 <= size <= 4
    pre: -1 <= ack_index < size
    pre: len(returned) <= 2
    post: __return__
    """
    disposal = derive_disposal(model, ack_index, size, returned)
    return sorted(disposal.finished + disposal.retried) == list(range(size))


def failed_message_leaves_only_when_returned(ack_index: int, size: int, returned: tuple[int, ...]) -> bool:
    """In a clustered group a finished message was good or its copy was acknowledged.

    clause: group.concurrent.custody-until-returned
    pre: 1 <= size <= 4
    pre: -1 <= ack_index < size
    pre: len(returned) <= 2
    post: __return__
    """
    disposal = derive_disposal(MessageModel.CLUSTERING, ack_index, size, returned)
    return all(at <= ack_index or at in returned for at in disposal.finished)


def broadcasting_retries_nothing(ack_index: int, size: int) -> bool:
    """A broadcasting member finishes every message, good or failed.

    clause: group.concurrent.broadcasting-drops-failed
    pre: 1 <= size <= 4
    pre: -1 <= ack_index < size
    post: __return__
    """
    disposal = derive_disposal(MessageModel.BROADCASTING, ack_index, size, ())
    return disposal.finished == tuple(range(size))


def position_of_a_dropped_tenure_is_not_stored(position: int) -> bool:
    """Nothing is stored for a tenure that is over, and never "no position".

    clause: group.concurrent.position-of-live-tenure
    post: __return__
    """
    dropped = is_position_stored(position, is_tenure_live=False)
    return not dropped and is_position_stored(position, is_tenure_live=True) == (position >= 0)


def scan_stops_at_the_first_message_in_time(starts: tuple[int, ...], now: int) -> bool:
    """Everything a scan sends back is too old, and it stops at the first that is not, or at the limit.

    clause: group.concurrent.expired-cleaning
    pre: len(starts) <= 4
    pre: all(0 <= start <= now for start in starts)
    post: __return__
    """
    count = derive_stuck_count(starts, now, 900_000, 3)
    is_old = [now - start > 900_000 for start in starts]
    return count <= 3 and all(is_old[:count]) and (count == min(3, len(starts)) or not is_old[count])
