"""Theorems on membership: who is in, who is out, and after how long."""

from spec.broker.filter import is_replaced, is_subscription_fresh
from spec.broker.membership import Member, derive_expired, is_expired, register_member
from spec.broker.producer_choice import ProducerConnection, choose_producer


def member_is_listed_once_by_connection(first: int, second: int, arrived: int) -> bool:
    """After a heartbeat its connection is listed exactly once, and everybody else is still there.

    clause: broker.member.new-connection-changes
    pre: first != second
    post: __return__
    """
    members = (Member(first, "a", 0), Member(second, "b", 0))
    after, is_changed = register_member(members, Member(arrived, "c", 1))
    connections = [member.connection for member in after]
    is_complete = first in connections and second in connections
    is_new = arrived not in (first, second)
    return connections.count(arrived) == 1 and is_complete and is_changed == is_new


def heartbeat_keeps_a_member_for_two_minutes(heartbeat_ms: int, silence_ms: int) -> bool:
    """A member is expired exactly when it was silent for more than 120 000 ms.

    clause: broker.member.expiry-is-strict
    pre: 0 <= heartbeat_ms <= 10**15
    pre: 0 <= silence_ms <= 10**12
    post: __return__
    """
    return is_expired(heartbeat_ms, heartbeat_ms + silence_ms) == (silence_ms > 120000)


def scan_closes_exactly_the_silent(first_ms: int, second_ms: int, now_ms: int) -> bool:
    """A scan names each connection that expired and no other.

    clause: broker.member.expiry-is-strict
    pre: 0 <= first_ms <= now_ms <= 10**15
    pre: 0 <= second_ms <= now_ms
    post: __return__
    """
    closed = derive_expired((Member(1, "a", first_ms), Member(2, "b", second_ms)), now_ms)
    return (1 in closed) == is_expired(first_ms, now_ms) and (2 in closed) == is_expired(second_ms, now_ms)


def kept_subscription_is_never_older(known: int, arrived: int, requested: int) -> bool:
    """Whichever subscription is kept, it may judge every pull that either of the two could.

    clause: broker.filter.highest-version-counts
    pre: 0 <= known <= 10**15
    pre: 0 <= arrived <= 10**15
    pre: 0 <= requested <= 10**15
    post: __return__
    """
    kept = arrived if is_replaced(known, arrived) else known
    is_fresh = is_subscription_fresh(known, requested) or is_subscription_fresh(arrived, requested)
    return is_subscription_fresh(kept, requested) == is_fresh


def writable_producer_among_three_is_chosen(active: int, writable: int, counter: int) -> bool:
    """With up to three connections: one that can take a request if there is one, else a live one.

    clause: broker.transaction.producer-in-turn
    pre: 0 <= active <= 7
    pre: 0 <= writable <= 7
    pre: 0 <= counter <= 5
    post: __return__
    """
    connections = tuple(ProducerConnection(bool(active >> i & 1), bool(writable >> i & 1)) for i in range(3))
    chosen = choose_producer(connections, counter)
    if active & writable:
        return chosen is not None and bool(active >> chosen & writable >> chosen & 1)
    return chosen is not None and bool(active >> chosen & 1) if active else chosen is None
