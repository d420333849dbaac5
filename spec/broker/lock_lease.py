"""The lock of one queue for one consumer group: a lease that its holder renews.

The promise: within one life of a master, at most one client of a group holds an unexpired
lease of a queue, so ordered listeners of different clients do not start side by side.

Why it can fail: the lease has no fencing token and lives in memory only. A client that stands
still for longer than the lease, or a master that restarts, lets a second client in while the
first still believes in its grant; that is why a client trusts a grant for half the lease only.

What is allowed: an entry that has expired still belongs to its client until somebody else asks;
the client may take it again or release it. Nobody checks that the client is a group member.
"""

from dataclasses import dataclass
from typing import Final

from spec.values.units import Milliseconds

LEASE_MS: Final = Milliseconds(60_000)
"""Apache's `rocketmq.broker.rebalance.lockMaxLiveTime`. Clause: broker.lock.expiry-is-strict."""


@dataclass(frozen=True, slots=True)
class Lease:
    """Who holds a queue, and since when at the latest."""

    client: str
    renewed_at_ms: int


def is_expired(entry: Lease, now_ms: int, lease_ms: int = LEASE_MS) -> bool:
    """Whether more than a lease has passed since the last grant or renewal.

    Clause: broker.lock.expiry-is-strict
    """
    return now_ms - entry.renewed_at_ms > lease_ms


def is_held_by(entry: Lease | None, client: str, now_ms: int, lease_ms: int = LEASE_MS) -> bool:
    """Whether this client holds an unexpired lease."""
    return entry is not None and entry.client == client and not is_expired(entry, now_ms, lease_ms)


def grant(entry: Lease | None, client: str, now_ms: int, lease_ms: int = LEASE_MS) -> Lease:
    """The entry after `client` asked for the queue; it was granted when the entry is now the client's.

    Clauses: broker.lock.one-holder, broker.lock.renewal, broker.lock.expired-is-taken-over
    """
    if entry is None or entry.client == client or is_expired(entry, now_ms, lease_ms):
        return Lease(client, now_ms)
    return entry


def release(entry: Lease | None, client: str) -> Lease | None:
    """The entry after `client` gave the queue back; only the holder can, expired or not.

    Clause: broker.lock.unlock-by-holder
    """
    return None if entry is not None and entry.client == client else entry
