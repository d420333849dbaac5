"""Concurrent consumption: what a listener's answer means for each message of its batch.

A listener answers once for a batch. With success it may name the last good message (the ack
index); everything behind it failed, and with a later-please everything did. In a clustered group a
failed message goes back to the broker, which keeps a copy for another attempt; only when the broker
has acknowledged that copy does the message leave custody. If it cannot be sent back it stays, is
given to the listener again after a while, and holds the position back until it is done. A
broadcasting member has no retry topic: a failed message is dropped, by design.

A message whose listener call takes longer than the consume timeout is sent back as well and
removed, so that one stuck call cannot hold the position for ever. The call may still succeed
later: this is one of the few ways in which a message can be consumed twice without a rebalance.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.group.consumption import MessageModel
from spec.values.units import Milliseconds

ACK_ALL: Final = 2**31 - 1
"""The ack index of a listener that does not set one."""

NOTHING_ACKED: Final = -1

LOCAL_RETRY_MS: Final = Milliseconds(5000)
"""When a message that could not be sent back is given to the listener again."""

REJECTED_RETRY_MS: Final = Milliseconds(5000)
"""When a batch that the thread pool refused is offered again."""

CONSUME_TIMEOUT_MS: Final = Milliseconds(15 * 60_000)
"""Apache's `consumeTimeout`; also the period of the scan."""

EXPIRED_PER_ROUND: Final = 16
"""How many stuck messages one scan of a queue sends back at most."""

EXPIRED_DELAY_LEVEL: Final = 3
"""The delay level with which a stuck message is sent back."""


class ConcurrentStatus(Enum):
    """What a listener answers; an exception or no answer counts as RECONSUME_LATER."""

    SUCCESS = "CONSUME_SUCCESS"
    LATER = "RECONSUME_LATER"


def derive_ack_index(status: ConcurrentStatus, asked: int, batch_size: int) -> int:
    """The position of the last good message of the batch, -1 if there is none.

    Clause: group.concurrent.ack-index
    """
    if status is ConcurrentStatus.LATER:
        return NOTHING_ACKED
    return max(NOTHING_ACKED, min(asked, batch_size - 1))


@dataclass(frozen=True, slots=True)
class Disposal:
    """Positions of a batch: finished (leave custody), and retried here (stay in custody)."""

    finished: tuple[int, ...]
    retried: tuple[int, ...]


def derive_failed(ack_index: int, batch_size: int) -> range:
    """The positions that failed: all behind the ack index."""
    return range(ack_index + 1, batch_size)


def derive_disposal(
    model: MessageModel, ack_index: int, batch_size: int, returned: frozenset[int] | tuple[int, ...]
) -> Disposal:
    """Who leaves custody; `returned` are the failed positions whose copy the broker acknowledged.

    Clauses: group.concurrent.custody-until-returned, group.concurrent.broadcasting-drops-failed
    """
    if model is MessageModel.BROADCASTING:
        return Disposal(tuple(range(batch_size)), ())
    retried = tuple(at for at in derive_failed(ack_index, batch_size) if at not in returned)
    return Disposal(tuple(at for at in range(batch_size) if at not in retried), retried)


def is_position_stored(position: int, *, is_tenure_live: bool) -> bool:
    """Whether the position after a removal goes to the offset store (increase only).

    Clauses: group.concurrent.position-of-live-tenure, group.tenure.fence
    """
    return is_tenure_live and position >= 0


def is_stuck(started_at_ms: int | None, now_ms: int, timeout_ms: int = CONSUME_TIMEOUT_MS) -> bool:
    """Whether the call that has the message is too old; a message that no call has is not stuck.

    Clause: group.concurrent.expired-cleaning
    """
    return started_at_ms is not None and now_ms - started_at_ms > timeout_ms


def derive_stuck_count(
    started_at_ms: tuple[int | None, ...],
    now_ms: int,
    timeout_ms: int = CONSUME_TIMEOUT_MS,
    limit: int = EXPIRED_PER_ROUND,
) -> int:
    """How many messages at the front one scan sends back: up to the first that is not stuck.

    Clause: group.concurrent.expired-cleaning
    """
    front = started_at_ms[:limit]
    return next((at for at, start in enumerate(front) if not is_stuck(start, now_ms, timeout_ms)), len(front))
