"""The intervals of a client and its brokers, and how they must stand to each other.

A simulation may shrink them, a deployment may change them, but some inequalities carry guarantees.
A lock must be renewed before it is distrusted, and distrusted before the broker gives it away, even
when the answer was slow. Offsets must be persisted more often than queues change hands. A held
pull must be looked at before it times out at the broker, and answered before the client gives up.
"""

from dataclasses import dataclass, fields
from enum import Enum

from spec.rejection import Rejection
from spec.values.units import Milliseconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Timing:
    """All intervals in milliseconds; defaults are Apache's, the letters those of the guarantees."""

    rebalance_ms: int = 20_000
    """R: the tick of rebalance passes."""
    heartbeat_ms: int = 30_000
    """H: heartbeat to all known brokers."""
    member_expiry_ms: int = 120_000
    """X: a broker forgets a silent member."""
    member_scan_ms: int = 10_000
    """S: how often it looks."""
    route_poll_ms: int = 30_000
    """P: a client polls routes."""
    broker_registration_ms: int = 30_000
    """G: a broker registers at the name servers."""
    broker_expiry_ms: int = 120_000
    """A name server forgets a silent broker."""
    broker_scan_ms: int = 10_000
    lock_renew_ms: int = 20_000
    """N: a client renews its locks."""
    lock_trust_ms: int = 30_000
    """V: it trusts a grant this long after the answer."""
    lock_lease_ms: int = 60_000
    """L: the broker keeps a grant this long."""
    lock_request_ms: int = 1000
    """The longest a lock request may take: its time limit."""
    unlock_delay_ms: int = 20_000
    """U: unlocking waits while dropped messages are still buffered."""
    persist_ms: int = 5000
    """C: a client persists offsets."""
    pull_idle_ms: int = 120_000
    """E: a pull is taken for dead."""
    hold_check_ms: int = 5000
    """How often a broker looks at held pulls."""
    hold_limit_ms: int = 15_000
    """How long it holds a pull."""
    pull_timeout_ms: int = 30_000
    """How long a client waits for a pull's answer."""
    consume_timeout_ms: int = 900_000
    correction_delay_ms: int = 10_000
    local_retry_ms: int = 5000
    flow_control_ms: int = 50


def _derive_rules(timing: Timing) -> tuple[tuple[str, str, bool], ...]:
    """Each inequality: its clause, its text, and whether it holds."""
    lock, hold = "group.timing.lock-inequalities", "group.timing.long-poll-inequalities"
    is_positive = all(getattr(timing, part.name) > 0 for part in fields(timing))
    return (
        ("group.timing.positive", "every interval > 0", is_positive),
        (lock, "lock_renew < lock_trust", timing.lock_renew_ms < timing.lock_trust_ms),
        (lock, "lock_trust < lock_lease", timing.lock_trust_ms < timing.lock_lease_ms),
        (lock, "lock_trust + lock_request < lock_lease", is_lock_safe(timing.lock_trust_ms, timing)),
        (
            "group.timing.persist-before-rebalance",
            "persist < rebalance",
            timing.persist_ms < timing.rebalance_ms,
        ),
        (hold, "hold_check < hold_limit", timing.hold_check_ms < timing.hold_limit_ms),
        (hold, "hold_limit < pull_timeout", timing.hold_limit_ms < timing.pull_timeout_ms),
    )


def derive_broken(timing: Timing) -> tuple[str, ...]:
    """The inequalities that do not hold, as texts; none for a usable timing.

    Clauses: group.timing.positive, group.timing.lock-inequalities,
    group.timing.persist-before-rebalance, group.timing.long-poll-inequalities
    """
    return tuple(text for _, text, holds in _derive_rules(timing) if not holds)


def is_lock_safe(trust_ms: int, timing: Timing) -> bool:
    """Whether a client that trusts a grant this long stops before the lease can end.

    Clause: group.timing.lock-inequalities
    """
    return trust_ms + timing.lock_request_ms < timing.lock_lease_ms


def check_timing(timing: Timing) -> Timing:
    """The timing itself, or a Rejection that names the first broken inequality."""
    for clause, text, holds in _derive_rules(timing):
        if not holds:
            raise Rejection(clause, 0, f"not true: {text}")
    return timing


def scale_timing(timing: Timing, divisor: int) -> Timing:
    """A faster timing, checked again: rounding may break an inequality.

    Clause: group.timing.scaled-keeps-order
    """
    parts = {part.name: max(1, getattr(timing, part.name) // divisor) for part in fields(timing)}
    return check_timing(Timing(**parts))


class Disturbance(Enum):
    """What changed, seen from the group."""

    JOIN_OR_LEAVE = "a member joined, left, or its connection closed"
    SILENT_CRASH = "a member fell silent"
    NEW_QUEUES = "queues or brokers were added"
    SILENT_BROKER_LOSS = "a broker fell silent"


def derive_divergence_limit_ms(timing: Timing, disturbance: Disturbance) -> Milliseconds:
    """D: how long members may see different views after a change, without further faults.

    Clause: group.timing.divergence-limit
    """
    route_ms = timing.route_poll_ms + timing.rebalance_ms
    match disturbance:
        case Disturbance.JOIN_OR_LEAVE:
            return Milliseconds(timing.rebalance_ms)
        case Disturbance.SILENT_CRASH:
            return Milliseconds(timing.member_expiry_ms + timing.member_scan_ms + timing.rebalance_ms)
        case Disturbance.NEW_QUEUES:
            return Milliseconds(timing.broker_registration_ms + route_ms)
        case Disturbance.SILENT_BROKER_LOSS:
            return Milliseconds(timing.broker_expiry_ms + timing.broker_scan_ms + route_ms)
