"""Orderly consumption: no call begins without a fresh lock."""

from spec.group.consumption import MessageModel
from spec.group.orderly import (
    BatchAction,
    Gate,
    Lock,
    OrderlyStatus,
    apply_lock_answer,
    derive_attempts,
    derive_sequel,
    derive_suspend_ms,
    is_sent_away,
    judge_start,
)
from spec.values.units import Milliseconds


def call_begins_only_under_a_trusted_lock(
    answered_at: int, now: int, running: int, *, is_locked: bool, is_live: bool
) -> bool:
    """In a clustered group a call begins only if live, locked, and the answer is at most 30 s old.

    clause: group.orderly.start-gate
    pre: 0 <= answered_at <= now
    pre: 0 <= running
    post: __return__
    """
    lock = Lock(is_locked, Milliseconds(answered_at))
    gate = judge_start(MessageModel.CLUSTERING, lock, now, is_tenure_live=is_live, running_ms=running)
    return gate is not Gate.TAKE or (is_live and is_locked and now - answered_at <= 30_000)


def trusted_lock_lets_the_call_begin(answered_at: int, now: int) -> bool:
    """With a lock answer of at most 30 s a live tenure may take.

    clause: group.orderly.start-gate
    pre: 0 <= answered_at <= now <= answered_at + 30_000
    post: __return__
    """
    lock = Lock(is_locked=True, answered_at_ms=Milliseconds(answered_at))
    return judge_start(MessageModel.CLUSTERING, lock, now, is_tenure_live=True) is Gate.TAKE


def two_leases_never_overlap_in_starts(
    granted_at: int, answer_delay: int, start_delay: int, taken_at: int
) -> bool:
    """If answers take at most 1 s, nobody starts after the broker could grant the queue to another.

    clause: group.orderly.exclusive-starts
    pre: 0 <= granted_at
    pre: 0 <= answer_delay <= 1000
    pre: 0 <= start_delay
    pre: granted_at + 60_000 < taken_at
    post: __return__
    """
    answered_at = granted_at + answer_delay
    lock = Lock(is_locked=True, answered_at_ms=Milliseconds(answered_at))
    start_at = answered_at + start_delay
    gate = judge_start(MessageModel.CLUSTERING, lock, start_at, is_tenure_live=True)
    return gate is not Gate.TAKE or start_at < taken_at


def dropped_tenure_never_starts(model: MessageModel, answered_at: int, now: int, *, is_locked: bool) -> bool:
    """After the end of a tenure the gate only stops.

    clause: group.orderly.start-gate
    pre: 0 <= answered_at <= now
    post: __return__
    """
    lock = Lock(is_locked, Milliseconds(answered_at))
    return judge_start(model, lock, now, is_tenure_live=False) is Gate.STOP


def broadcasting_needs_no_lock(now: int) -> bool:
    """A broadcasting member starts without any lock.

    clause: group.orderly.broadcasting-takes-no-lock
    pre: 0 <= now
    post: __return__
    """
    return judge_start(MessageModel.BROADCASTING, Lock(), now, is_tenure_live=True) is Gate.TAKE


def refusal_closes_the_gate(answered_at: int, now: int, *, was_locked: bool) -> bool:
    """After a refused renewal no call begins, however fresh the last grant.

    clause: group.orderly.lock-answer
    pre: 0 <= answered_at <= now
    post: __return__
    """
    refused = apply_lock_answer(
        Lock(was_locked, Milliseconds(answered_at)), is_granted=False, now_ms=Milliseconds(now)
    )
    return judge_start(MessageModel.CLUSTERING, refused, now, is_tenure_live=True) is Gate.RELOCK


def suspend_time_is_clamped(asked: int) -> bool:
    """Pauses lie between 10 ms and 30 s; what lies between is kept.

    clause: group.orderly.suspend-clamp
    post: __return__
    """
    pause = derive_suspend_ms(asked)
    return 10 <= pause <= 30_000 and (pause == asked or not 10 <= asked <= 30_000)


def waiting_batch_is_never_committed(status: OrderlyStatus, *, auto_commit: bool) -> bool:
    """A failed batch that stays here is put back, and the loop stops.

    clause: group.orderly.auto-commit-table
    pre: status is OrderlyStatus.SUSPEND
    post: __return__
    """
    sequel = derive_sequel(status, auto_commit=auto_commit, has_to_wait=True)
    return sequel.action is BatchAction.PUT_BACK and not sequel.goes_on


def manual_commit_only_when_asked(status: OrderlyStatus, *, has_to_wait: bool) -> bool:
    """Without auto-commit nothing but COMMIT commits.

    clause: group.orderly.manual-commit-table
    post: __return__
    """
    sequel = derive_sequel(status, auto_commit=False, has_to_wait=has_to_wait)
    return (sequel.action is BatchAction.COMMIT) == (status is OrderlyStatus.COMMIT)


def attempts_rise_by_one_unless_taken_over(attempts: int, limit: int, *, is_acknowledged: bool) -> bool:
    """A message leaves only at the limit and with the broker's word; otherwise it counts one more.

    clause: group.orderly.retry-limit
    pre: 0 <= attempts < 2 ** 31 - 1
    pre: -1 <= limit <= 64
    post: __return__
    """
    is_away = is_sent_away(attempts, limit) and is_acknowledged
    after = derive_attempts(attempts, is_taken_over=is_away)
    return (after == attempts) == is_away and (limit != -1 or after == attempts + 1)
