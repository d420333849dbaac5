"""Who belongs to a consumer group: what heartbeats say, and who is told when it changes.

The promise: a member that heartbeats is in the list; one that closed its connection is out at
once, and one that fell silent is out after two minutes. Everybody who is left is told, except
after an expiry, which the others notice at their next rebalance.

Why it can fail: members are kept for each connection, not for each client id. Two processes with
one id appear twice, and both compute the slice of the first. Subscriptions are kept for each
group: a member that does not subscribe a topic removes it for all until the next heartbeat.

What is allowed: each broker has its own table, so two brokers may disagree for a while.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final, NamedTuple

from spec.broker.filter import is_replaced
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.values.subscription import Subscription
from spec.values.units import Milliseconds

EXPIRY_MS: Final = Milliseconds(120_000)
"""Apache's `CHANNEL_EXPIRED_TIMEOUT`, for consumers and producers."""

SCAN_MS: Final = Milliseconds(10_000)
"""How often expired connections are looked for."""


class Member(NamedTuple):
    """One connection of a group."""

    connection: int
    client_id: str
    heartbeat_at_ms: int


class Manner(NamedTuple):
    """How a member says that its group consumes."""

    consume_type: ConsumeType = ConsumeType.PUSH
    message_model: MessageModel = MessageModel.CLUSTERING
    start_policy: StartPolicy = StartPolicy.LAST_OFFSET


_PUSH: Final = Manner()


@dataclass(frozen=True, slots=True)
class ConsumerGroup:
    """The online members of a group, what the group subscribes, and how it consumes."""

    members: tuple[Member, ...] = ()
    subscriptions: tuple[Subscription, ...] = ()
    manner: Manner = _PUSH


def register_member(members: tuple[Member, ...], arrived: Member) -> tuple[tuple[Member, ...], bool]:
    """The members after a heartbeat, and whether that is a change: only a new connection is.

    Clauses: broker.member.new-connection-changes, broker.member.replaced-id-is-no-change
    """
    if all(member.connection != arrived.connection for member in members):
        return (*members, arrived), True
    kept = tuple(arrived if member.connection == arrived.connection else member for member in members)
    return kept, False


def register_subscriptions(
    known: tuple[Subscription, ...], arrived: tuple[Subscription, ...]
) -> tuple[tuple[Subscription, ...], bool]:
    """The group's subscriptions after a heartbeat, and whether a topic came or went.

    Clauses: broker.member.subscription-change, broker.filter.highest-version-counts
    """
    before = {subscription.topic: subscription for subscription in known}
    after: dict[str, Subscription] = {}
    for new in arrived:
        old = after.get(new.topic) or before.get(new.topic)
        after[new.topic] = new if old is None or is_replaced(old.version, new.version) else old
    return tuple(after.values()), before.keys() != after.keys()


def register(
    group: ConsumerGroup, arrived: Member, subscriptions: tuple[Subscription, ...], manner: Manner = _PUSH
) -> tuple[ConsumerGroup, bool]:
    """The group after one heartbeat, and whether its members have to be told.

    Members that consume differently overwrite each other; that is no change.

    Clause: broker.member.last-manner-counts
    """
    members, has_member_change = register_member(group.members, arrived)
    kept, has_topic_change = register_subscriptions(group.subscriptions, subscriptions)
    return ConsumerGroup(members, kept, manner), has_member_change or has_topic_change


def unregister(group: ConsumerGroup, connections: Iterable[int]) -> ConsumerGroup | None:
    """The group without these connections; None when nobody is left, which ends its subscriptions too.

    Clause: broker.member.empty-group-ends
    """
    gone = frozenset(connections)
    members = tuple(member for member in group.members if member.connection not in gone)
    return replace(group, members=members) if members else None


def is_expired(heartbeat_at_ms: int, now_ms: int, expiry_ms: int = EXPIRY_MS) -> bool:
    """Whether a connection has been silent for more than the expiry time.

    Clause: broker.member.expiry-is-strict
    """
    return now_ms - heartbeat_at_ms > expiry_ms


def derive_expired(members: tuple[Member, ...], now_ms: int, expiry_ms: int = EXPIRY_MS) -> tuple[int, ...]:
    """The connections that a scan closes."""
    return tuple(m.connection for m in members if is_expired(m.heartbeat_at_ms, now_ms, expiry_ms))


class Cause(Enum):
    """Why the members of a group are looked at."""

    REGISTERED = "registered"
    UNREGISTERED = "unregistered"
    CLOSED = "closed"
    EXPIRED = "expired"


def derive_notified(
    group: ConsumerGroup | None,
    cause: Cause,
    *,
    is_changed: bool = True,
    is_group_notified: bool = True,
    is_broker_notifying: bool = True,
) -> tuple[int, ...]:
    """The connections that are told of a change: all that are there afterwards, the sender included.

    A closed connection is told whatever the group's own setting; an expiry is not told at all.

    Clauses: broker.member.change-is-told-to-all, broker.member.close-is-told, broker.member.expiry-is-silent
    """
    if group is None or not is_changed or not is_broker_notifying or cause is Cause.EXPIRED:
        return ()
    if cause is not Cause.CLOSED and not is_group_notified:
        return ()
    return tuple(member.connection for member in group.members)


def list_client_ids(group: ConsumerGroup | None) -> tuple[str, ...] | None:
    """One id for each connection, duplicates included; None when nobody is online, which is an error.

    Clauses: broker.member.list-by-connection, broker.member.empty-list-is-an-error
    """
    members = () if group is None else group.members
    return tuple(member.client_id for member in members) or None
