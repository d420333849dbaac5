"""Intervals and their inequalities."""

from dataclasses import fields

import pytest

from spec.broker.lock_lease import LEASE_MS
from spec.group.concurrent import CONSUME_TIMEOUT_MS, LOCAL_RETRY_MS
from spec.group.flow_control import PAUSE_MS
from spec.group.orderly import LOCK_RENEW_MS, LOCK_TRUST_MS, UNLOCK_DELAY_MS
from spec.group.pull_result import CORRECTION_DELAY_MS
from spec.group.rebalance import PULL_IDLE_LIMIT_MS
from spec.group.timing import (
    Disturbance,
    Timing,
    check_timing,
    derive_broken,
    derive_divergence_limit_ms,
    scale_timing,
)
from spec.rejection import Rejection


def test_defaults_are_those_of_the_rules() -> None:
    timing = Timing()
    assert (timing.lock_renew_ms, timing.lock_trust_ms, timing.lock_lease_ms) == (
        LOCK_RENEW_MS,
        LOCK_TRUST_MS,
        LEASE_MS,
    )
    assert (timing.unlock_delay_ms, timing.correction_delay_ms) == (UNLOCK_DELAY_MS, CORRECTION_DELAY_MS)
    assert (timing.consume_timeout_ms, timing.local_retry_ms) == (CONSUME_TIMEOUT_MS, LOCAL_RETRY_MS)
    assert (timing.flow_control_ms, timing.pull_idle_ms) == (PAUSE_MS, PULL_IDLE_LIMIT_MS)
    assert derive_broken(timing) == ()


@pytest.mark.parametrize(
    ("timing", "clause", "reason"),
    [
        (Timing(lock_renew_ms=30_000), "group.timing.lock-inequalities", "lock_renew < lock_trust"),
        (Timing(lock_trust_ms=60_000), "group.timing.lock-inequalities", "lock_trust < lock_lease"),
        (
            Timing(lock_trust_ms=59_000),
            "group.timing.lock-inequalities",
            "lock_trust + lock_request < lock_lease",
        ),
        (Timing(persist_ms=20_000), "group.timing.persist-before-rebalance", "persist < rebalance"),
        (Timing(hold_check_ms=15_000), "group.timing.long-poll-inequalities", "hold_check < hold_limit"),
        (Timing(pull_timeout_ms=15_000), "group.timing.long-poll-inequalities", "hold_limit < pull_timeout"),
    ],
)
@pytest.mark.clause(
    "group.timing.lock-inequalities",
    "group.timing.persist-before-rebalance",
    "group.timing.long-poll-inequalities",
)
def test_broken_inequality_is_refused_by_its_clause(timing: Timing, clause: str, reason: str) -> None:
    with pytest.raises(Rejection) as refusal:
        check_timing(timing)
    assert (refusal.value.clause, refusal.value.reason) == (clause, f"not true: {reason}")


@pytest.mark.parametrize("name", [part.name for part in fields(Timing)])
def test_interval_of_zero_is_refused(name: str) -> None:
    with pytest.raises(Rejection, match="every interval > 0"):
        check_timing(Timing(**{name: 0}))


@pytest.mark.clause("group.timing.scaled-keeps-order")
def test_scaled_timing_keeps_the_inequalities_or_is_refused() -> None:
    assert scale_timing(Timing(), 100).lock_lease_ms == 600
    with pytest.raises(Rejection):
        scale_timing(Timing(), 100_000)


@pytest.mark.clause("group.timing.divergence-limit")
def test_divergence_after_each_disturbance() -> None:
    limits = {
        disturbance.name: derive_divergence_limit_ms(Timing(), disturbance) for disturbance in Disturbance
    }
    assert limits == {
        "JOIN_OR_LEAVE": 20_000,
        "SILENT_CRASH": 150_000,
        "NEW_QUEUES": 80_000,
        "SILENT_BROKER_LOSS": 180_000,
    }
