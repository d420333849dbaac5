"""Orderly consumption: the gate, the tables, the limits."""

import pytest

from spec.broker.lock_lease import LEASE_MS
from spec.group.consumption import MessageModel
from spec.group.orderly import (
    LOCK_RENEW_MS,
    LOCK_TRUST_MS,
    UNLOCKED,
    BatchAction,
    Gate,
    Lock,
    OrderlySequel,
    OrderlyStatus,
    apply_lock_answer,
    derive_attempts,
    derive_relock_delay,
    derive_relock_wait,
    derive_removal_unlock_ms,
    derive_sequel,
    derive_suspend_ms,
    is_lock_trusted,
    is_sent_away,
    judge_start,
)
from spec.values.units import Milliseconds

FRESH = Lock(is_locked=True, answered_at_ms=Milliseconds(0))
CLUSTERING, BROADCASTING = MessageModel.CLUSTERING, MessageModel.BROADCASTING


@pytest.mark.clause(
    "group.orderly.start-gate", "group.orderly.yields", "group.orderly.broadcasting-takes-no-lock"
)
@pytest.mark.parametrize(
    ("model", "lock", "now", "running", "is_live", "gate"),
    [
        (CLUSTERING, FRESH, 30_000, 0, True, Gate.TAKE),
        (CLUSTERING, FRESH, 30_001, 0, True, Gate.RELOCK),
        (CLUSTERING, UNLOCKED, 0, 0, True, Gate.RELOCK),
        (CLUSTERING, Lock(is_locked=True), 0, 0, True, Gate.RELOCK),
        (CLUSTERING, FRESH, 0, 0, False, Gate.STOP),
        (CLUSTERING, FRESH, 0, 60_000, True, Gate.TAKE),
        (CLUSTERING, FRESH, 0, 60_001, True, Gate.YIELD),
        (BROADCASTING, UNLOCKED, 99_999, 0, True, Gate.TAKE),
        (BROADCASTING, UNLOCKED, 0, 0, False, Gate.STOP),
    ],
)
def test_gate_of_the_next_call(
    model: MessageModel, lock: Lock, now: int, running: int, *, is_live: bool, gate: Gate
) -> None:
    assert judge_start(model, lock, now, is_tenure_live=is_live, running_ms=running) is gate


@pytest.mark.clause("group.orderly.start-gate")
@pytest.mark.parametrize(("now", "gate"), [(10, Gate.TAKE), (11, Gate.RELOCK)])
def test_gate_follows_the_trust_it_is_given(now: int, gate: Gate) -> None:
    assert judge_start(CLUSTERING, FRESH, now, is_tenure_live=True, trust_ms=10) is gate


@pytest.mark.clause("group.orderly.exclusive-starts")
def test_trust_ends_well_before_the_lease_of_the_broker() -> None:
    lock_request_limit_ms = 1000
    assert LOCK_RENEW_MS < LOCK_TRUST_MS
    assert LOCK_TRUST_MS + lock_request_limit_ms < LEASE_MS


@pytest.mark.clause("group.orderly.lock-answer")
def test_grant_renews_and_refusal_unlocks() -> None:
    granted = apply_lock_answer(UNLOCKED, is_granted=True, now_ms=Milliseconds(5))
    renewed = apply_lock_answer(granted, is_granted=True, now_ms=Milliseconds(20_005))
    refused = apply_lock_answer(renewed, is_granted=False, now_ms=Milliseconds(20_006))
    assert granted == Lock(is_locked=True, answered_at_ms=Milliseconds(5))
    assert renewed == Lock(is_locked=True, answered_at_ms=Milliseconds(20_005))
    assert refused == Lock(is_locked=False, answered_at_ms=Milliseconds(20_005))
    assert [is_lock_trusted(lock, 40_000) for lock in (granted, renewed, refused)] == [False, True, False]


@pytest.mark.clause("group.orderly.relock-delays")
def test_granted_request_comes_back_sooner() -> None:
    assert (derive_relock_delay(is_granted=True), derive_relock_delay(is_granted=False)) == (10, 3000)
    assert (derive_relock_wait(has_begun=True), derive_relock_wait(has_begun=False)) == (10, 100)


@pytest.mark.clause("group.orderly.suspend-clamp")
@pytest.mark.parametrize(
    ("asked", "pause"),
    [(-1, 1000), (-2, 10), (0, 10), (10, 10), (777, 777), (30_000, 30_000), (30_001, 30_000)],
)
def test_pause_is_clamped(asked: int, pause: int) -> None:
    assert derive_suspend_ms(asked) == pause


COMMIT = OrderlySequel(BatchAction.COMMIT, goes_on=True)
KEEP = OrderlySequel(BatchAction.KEEP, goes_on=True)
WAIT = OrderlySequel(BatchAction.PUT_BACK, goes_on=False)
ROLL_BACK = OrderlySequel(BatchAction.ROLL_BACK, goes_on=False)


@pytest.mark.clause("group.orderly.auto-commit-table", "group.orderly.manual-commit-table")
@pytest.mark.parametrize(
    ("status", "has_to_wait", "automatic", "manual"),
    [
        (OrderlyStatus.SUCCESS, False, COMMIT, KEEP),
        (OrderlyStatus.COMMIT, False, COMMIT, COMMIT),
        (OrderlyStatus.ROLLBACK, False, COMMIT, ROLL_BACK),
        (OrderlyStatus.SUSPEND, True, WAIT, WAIT),
        (OrderlyStatus.SUSPEND, False, COMMIT, KEEP),
    ],
)
def test_sequel_of_each_answer(
    status: OrderlyStatus, *, has_to_wait: bool, automatic: OrderlySequel, manual: OrderlySequel
) -> None:
    assert derive_sequel(status, auto_commit=True, has_to_wait=has_to_wait) == automatic
    assert derive_sequel(status, auto_commit=False, has_to_wait=has_to_wait) == manual


@pytest.mark.clause("group.orderly.retry-limit")
@pytest.mark.parametrize(
    ("attempts", "limit", "is_away"),
    [(15, 16, False), (16, 16, True), (0, 0, True), (10**6, -1, False), (2**31 - 1, -1, True)],
)
def test_message_is_sent_away_at_its_limit(attempts: int, limit: int, *, is_away: bool) -> None:
    assert is_sent_away(attempts, limit) is is_away


@pytest.mark.clause("group.orderly.retry-limit")
def test_attempts_count_while_the_message_stays() -> None:
    assert (derive_attempts(3, is_taken_over=False), derive_attempts(3, is_taken_over=True)) == (4, 3)


@pytest.mark.clause("group.orderly.unlock-after-drop")
def test_unlock_waits_for_buffered_messages() -> None:
    assert (derive_removal_unlock_ms(has_pending=False), derive_removal_unlock_ms(has_pending=True)) == (
        0,
        20_000,
    )
