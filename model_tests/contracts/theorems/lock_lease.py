"""Theorems on the queue lock: one holder at a time, and exactly how long."""

from spec.broker.lock_lease import LEASE_MS, Lease, grant, is_held_by, release

CLIENTS = ("a", "b", "c")


def live_lease_is_never_granted_to_another(holder: int, asker: int, renewed_ms: int, now_ms: int) -> bool:
    """While a lease lasts, whoever else asks changes nothing.

    clause: broker.lock.one-holder
    pre: 0 <= holder <= 2
    pre: 0 <= asker <= 2
    pre: holder != asker
    pre: 0 <= renewed_ms <= now_ms <= renewed_ms + 60000
    post: __return__
    """
    entry = Lease(CLIENTS[holder], renewed_ms)
    return grant(entry, CLIENTS[asker], now_ms) == entry


def at_most_one_client_holds(holder: int, first: int, second: int, renewed_ms: int, now_ms: int) -> bool:
    """After any request, no two different clients hold the queue.

    clause: broker.lock.one-holder
    pre: 0 <= holder <= 2
    pre: 0 <= first <= 2
    pre: 0 <= second <= 2
    pre: first != second
    pre: 0 <= renewed_ms <= now_ms <= 10**15
    post: __return__
    """
    entry = grant(Lease(CLIENTS[holder], renewed_ms), CLIENTS[first], now_ms)
    return not (is_held_by(entry, CLIENTS[first], now_ms) and is_held_by(entry, CLIENTS[second], now_ms))


def expired_lease_is_taken_over(asker: int, renewed_ms: int, silence_ms: int) -> bool:
    """One millisecond past the lease, whoever asks gets the queue, with a full lease.

    clause: broker.lock.expired-is-taken-over
    pre: 0 <= asker <= 2
    pre: 0 <= renewed_ms <= 10**15
    pre: 60000 < silence_ms <= 10**12
    post: __return__
    """
    now_ms = renewed_ms + silence_ms
    return grant(Lease("a", renewed_ms), CLIENTS[asker], now_ms) == Lease(CLIENTS[asker], now_ms)


def lease_lasts_to_its_last_millisecond(renewed_ms: int, silence_ms: int) -> bool:
    """A lease is held exactly while at most 60 000 ms have passed.

    clause: broker.lock.expiry-is-strict
    pre: 0 <= renewed_ms <= 10**15
    pre: 0 <= silence_ms <= 10**12
    post: __return__
    """
    return is_held_by(Lease("a", renewed_ms), "a", renewed_ms + silence_ms) == (silence_ms <= LEASE_MS)


def renewal_keeps_the_holder(renewed_ms: int, now_ms: int, later_ms: int) -> bool:
    """A holder that renews in time still holds a whole lease after the renewal.

    clause: broker.lock.renewal
    pre: 0 <= renewed_ms <= now_ms <= renewed_ms + 60000
    pre: now_ms <= later_ms <= now_ms + 60000
    post: __return__
    """
    renewed = grant(Lease("a", renewed_ms), "a", now_ms)
    return grant(renewed, "b", later_ms) == Lease("a", now_ms)


def free_queue_is_granted(asker: int, now_ms: int) -> bool:
    """A queue that nobody holds is granted to whoever asks.

    clause: broker.lock.one-holder
    pre: 0 <= asker <= 2
    pre: 0 <= now_ms <= 10**15
    post: __return__
    """
    return is_held_by(grant(None, CLIENTS[asker], now_ms), CLIENTS[asker], now_ms)


def unlock_by_another_changes_nothing(holder: int, asker: int, renewed_ms: int) -> bool:
    """Only the holder frees a queue; for anybody else the entry stays as it is.

    clause: broker.lock.unlock-by-holder
    pre: 0 <= holder <= 2
    pre: 0 <= asker <= 2
    post: __return__
    """
    entry = Lease(CLIENTS[holder], renewed_ms)
    return release(entry, CLIENTS[asker]) == (None if holder == asker else entry)
