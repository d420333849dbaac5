"""Timing: a usable timing keeps the inequalities that guarantees rest on."""

from spec.group.timing import Timing, derive_broken


def usable_lock_timing_keeps_starts_exclusive(renew: int, trust: int, lease: int, request: int) -> bool:
    """A timing is usable exactly if renew < trust and trust + request < lease.

    clause: group.timing.lock-inequalities
    pre: 1 <= renew and 1 <= trust and 1 <= lease and 1 <= request
    post: __return__
    """
    timing = Timing(lock_renew_ms=renew, lock_trust_ms=trust, lock_lease_ms=lease, lock_request_ms=request)
    return (not derive_broken(timing)) == (renew < trust and trust + request < lease)


def usable_timing_answers_held_pulls_in_time(check: int, limit: int, timeout: int) -> bool:
    """A timing is usable exactly if check < limit < time-out.

    clause: group.timing.long-poll-inequalities
    pre: 1 <= check and 1 <= limit and 1 <= timeout
    post: __return__
    """
    timing = Timing(hold_check_ms=check, hold_limit_ms=limit, pull_timeout_ms=timeout)
    return (not derive_broken(timing)) == (check < limit < timeout)


def usable_timing_persists_before_rebalance(persist: int, rebalance: int) -> bool:
    """A timing is usable exactly if persisting is more frequent than rebalancing.

    clause: group.timing.persist-before-rebalance
    pre: 1 <= persist and 1 <= rebalance
    post: __return__
    """
    return (not derive_broken(Timing(persist_ms=persist, rebalance_ms=rebalance))) == (persist < rebalance)
