"""Orderly consumption: one call at a time for a queue, in offset order, under the broker's lock.

A listener call may begin only while the tenure is live, marked locked, and the last positive lock
answer is young enough. The client trusts an answer for 30 s and renews every 20 s; the broker's
lease is 60 s. So a client stops starting calls well before somebody else can be granted the queue,
and two clients never start calls under the same lease. (A call that began in time may still run
when the lease ends: the gate is about starts.)

A failed batch is presented again, after a pause, until it succeeds or its messages have used up
their attempts and the broker has taken them over; nothing behind it is presented meanwhile. The
count of attempts lives in the client's memory. Without a limit, Apache's default, a message that
always fails holds its queue for ever.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.group.consumption import MessageModel
from spec.values.units import Milliseconds

LOCK_TRUST_MS: Final = Milliseconds(30_000)
"""Apache's client-side `lockMaxLiveTime`: how long a positive answer is trusted."""

LOCK_RENEW_MS: Final = Milliseconds(20_000)
"""Apache's `lockInterval`."""

RUN_LIMIT_MS: Final = Milliseconds(60_000)
"""How long one consume request runs before it yields its thread."""

RELOCK_WAIT_MS: Final = Milliseconds(100)
"""How long a request that has not begun waits before it asks for the lock."""
RELOCK_WAIT_WHILE_RUNNING_MS: Final = Milliseconds(10)
RELOCK_GRANTED_MS: Final = Milliseconds(10)
RELOCK_REFUSED_MS: Final = Milliseconds(3000)
YIELD_MS: Final = Milliseconds(10)

SUSPEND_DEFAULT: Final = -1
"""A listener that does not say how long to pause."""
SUSPEND_DEFAULT_MS: Final = Milliseconds(1000)
SUSPEND_LEAST_MS: Final = Milliseconds(10)
SUSPEND_MOST_MS: Final = Milliseconds(30_000)

UNLOCK_DELAY_MS: Final = Milliseconds(20_000)
"""How long a dropped queue with buffered messages stays locked, so that a late call can end."""
AT_ONCE_MS: Final = Milliseconds(0)

NO_LIMIT: Final = -1
INTEGER_MAXIMUM: Final = 2**31 - 1
"""What Apache's orderly consumer takes -1 attempts to mean: for ever, in practice."""


@dataclass(frozen=True, slots=True)
class Lock:
    """What a client believes about its lock of one queue."""

    is_locked: bool = False
    answered_at_ms: Milliseconds | None = None
    """When the last positive answer came; None before the first."""


UNLOCKED: Final = Lock()


def apply_lock_answer(lock: Lock, *, is_granted: bool, now_ms: Milliseconds) -> Lock:
    """A grant marks the queue locked from now; a refusal unmarks it. No answer changes nothing.

    Clause: group.orderly.lock-answer
    """
    return (
        Lock(is_locked=True, answered_at_ms=now_ms)
        if is_granted
        else Lock(answered_at_ms=lock.answered_at_ms)
    )


def is_lock_trusted(lock: Lock, now_ms: int, trust_ms: int = LOCK_TRUST_MS) -> bool:
    """Whether the last grant is at most `trust_ms` old.

    Clause: group.orderly.start-gate
    """
    return lock.is_locked and lock.answered_at_ms is not None and now_ms - lock.answered_at_ms <= trust_ms


class Gate(Enum):
    """What a consume request does next."""

    STOP = "the tenure is over"
    RELOCK = "ask for the lock, then come back"
    YIELD = "come back soon"
    TAKE = "take a batch and call the listener"


def judge_start(
    model: MessageModel,
    lock: Lock,
    now_ms: int,
    *,
    is_tenure_live: bool,
    running_ms: int = 0,
    trust_ms: int = LOCK_TRUST_MS,
) -> Gate:
    """Whether the next listener call of a queue may begin.

    Clauses: group.orderly.start-gate, group.orderly.exclusive-starts,
    group.orderly.broadcasting-takes-no-lock, group.orderly.yields
    """
    if not is_tenure_live:
        return Gate.STOP
    if model is MessageModel.CLUSTERING and not is_lock_trusted(lock, now_ms, trust_ms):
        return Gate.RELOCK
    return Gate.YIELD if running_ms > RUN_LIMIT_MS else Gate.TAKE


def derive_relock_wait(*, has_begun: bool) -> Milliseconds:
    """When a request asks for the lock: soon if it lost it while running, a little later if it never had it.

    Clause: group.orderly.relock-delays
    """
    return RELOCK_WAIT_WHILE_RUNNING_MS if has_begun else RELOCK_WAIT_MS


def derive_relock_delay(*, is_granted: bool) -> Milliseconds:
    """When a request that had to ask for the lock comes back.

    Clause: group.orderly.relock-delays
    """
    return RELOCK_GRANTED_MS if is_granted else RELOCK_REFUSED_MS


def derive_suspend_ms(asked_ms: int, default_ms: int = SUSPEND_DEFAULT_MS) -> Milliseconds:
    """How long a queue pauses after a failure: what was asked, within 10 ms and 30 s.

    Clause: group.orderly.suspend-clamp
    """
    wanted = default_ms if asked_ms == SUSPEND_DEFAULT else asked_ms
    return Milliseconds(max(SUSPEND_LEAST_MS, min(wanted, SUSPEND_MOST_MS)))


class OrderlyStatus(Enum):
    """What a listener answers; an exception or no answer counts as SUSPEND."""

    SUCCESS = "SUCCESS"
    ROLLBACK = "ROLLBACK"
    COMMIT = "COMMIT"
    SUSPEND = "SUSPEND_CURRENT_QUEUE_A_MOMENT"


class BatchAction(Enum):
    """What happens to the messages in process."""

    COMMIT = "commit"
    KEEP = "keep in process"
    PUT_BACK = "put this batch back"
    ROLL_BACK = "put everything in process back"


@dataclass(frozen=True, slots=True)
class OrderlySequel:
    """The action, and whether the loop goes on at once (otherwise after the suspend time)."""

    action: BatchAction
    goes_on: bool


def derive_sequel(status: OrderlyStatus, *, auto_commit: bool, has_to_wait: bool) -> OrderlySequel:
    """What follows a listener's answer; `has_to_wait` is whether a failed message stays here.

    Clauses: group.orderly.auto-commit-table, group.orderly.manual-commit-table
    """
    if status is OrderlyStatus.SUSPEND and has_to_wait:
        return OrderlySequel(BatchAction.PUT_BACK, goes_on=False)
    if auto_commit:
        return OrderlySequel(BatchAction.COMMIT, goes_on=True)
    match status:
        case OrderlyStatus.COMMIT:
            return OrderlySequel(BatchAction.COMMIT, goes_on=True)
        case OrderlyStatus.ROLLBACK:
            return OrderlySequel(BatchAction.ROLL_BACK, goes_on=False)
        case OrderlyStatus.SUCCESS | OrderlyStatus.SUSPEND:
            return OrderlySequel(BatchAction.KEEP, goes_on=True)


def is_sent_away(attempts: int, limit: int) -> bool:
    """Whether a failed message has used up its attempts and goes to the broker.

    Clause: group.orderly.retry-limit
    """
    return attempts >= (INTEGER_MAXIMUM if limit == NO_LIMIT else limit)


def derive_attempts(attempts: int, *, is_taken_over: bool) -> int:
    """The attempt count of a failed message: one more, unless the broker took it over.

    Clause: group.orderly.retry-limit
    """
    return attempts if is_taken_over else attempts + 1


def derive_removal_unlock_ms(*, has_pending: bool) -> Milliseconds:
    """When a dropped queue is unlocked: at once if nothing waits in it, else after a while.

    Clause: group.orderly.unlock-after-drop
    """
    return UNLOCK_DELAY_MS if has_pending else AT_ONCE_MS
