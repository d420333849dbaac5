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
    assert refusal.value == Rejection(clause, 0, f"not true: {reason}")


@pytest.mark.clause("group.timing.positive")
@pytest.mark.parametrize("name", [part.name for part in fields(Timing)])
def test_interval_of_zero_is_refused(name: str) -> None:
    assert derive_broken(Timing(**{name: 0}))[0] == "every interval > 0"
    with pytest.raises(Rejection) as refusal:
        check_timing(Timing(**{name: 0}))
    assert refusal.value == Rejection("group.timing.positive", 0, "not true: every interval > 0")


@pytest.mark.clause("group.timing.scaled-keeps-order")
def test_scaled_timing_keeps_the_inequalities_or_is_refused() -> None:
    assert scale_timing(Timing(), 100).lock_lease_ms == 600
    with pytest.raises(Rejection) as refusal:
        scale_timing(Timing(), 100_000)
    assert refusal.value == Rejection(
        "group.timing.lock-inequalities", 0, "not true: lock_renew < lock_trust"
    )


@pytest.mark.clause("group.timing.scaled-keeps-order")
def test_scaled_intervals_are_whole_milliseconds_rounded_down_but_at_least_one() -> None:
    assert scale_timing(Timing(), 300) == Timing(
        rebalance_ms=66,
        heartbeat_ms=100,
        member_expiry_ms=400,
        member_scan_ms=33,
        route_poll_ms=100,
        broker_registration_ms=100,
        broker_expiry_ms=400,
        broker_scan_ms=33,
        lock_renew_ms=66,
        lock_trust_ms=100,
        lock_lease_ms=200,
        lock_request_ms=3,
        unlock_delay_ms=66,
        persist_ms=16,
        pull_idle_ms=400,
        hold_check_ms=16,
        hold_limit_ms=50,
        pull_timeout_ms=100,
        consume_timeout_ms=3000,
        correction_delay_ms=33,
        local_retry_ms=16,
        flow_control_ms=1,
    )


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
