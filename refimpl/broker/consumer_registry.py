"""The consumer groups that are online at this broker: Apache's ConsumerManager.

What a heartbeat changes is decided by `spec.broker.membership`, for the one connection that it
came over; the table here finds that connection without looking at the others. Members are told of
a change by a oneway request before the heartbeat is answered.
"""

from collections.abc import Callable
from typing import TypeAlias

from refimpl.broker.client_info import ClientInfo
from refimpl.broker.config_table import Note
from refimpl.broker.recorder import Recorder
from refimpl.broker.settings import BrokerSettings
from refimpl.effect import Severity
from spec.broker.membership import (
    Cause,
    ConsumerGroup,
    Manner,
    Member,
    derive_notified,
    is_expired,
    register_member,
    register_subscriptions,
)
from spec.history.kind import Kind
from spec.rejection import Rejection
from spec.values.subscription import Subscription
from spec.wire.body.heartbeat import ConsumerData
from spec.wire.body.subscription import derive_subscription

Notify: TypeAlias = Callable[[int, str], None]
"""Tells a connection that the members of a group changed."""


def _member_of(client: ClientInfo) -> Member:
    return Member(client.connection, client.client_id, client.heartbeat_at_ms)


class _OnlineGroup:
    __slots__ = ("clients", "manner", "snapshot", "subscriptions")

    def __init__(self) -> None:
        self.clients: dict[int, ClientInfo] = {}
        self.subscriptions: dict[str, Subscription] = {}
        self.manner = Manner()
        self.snapshot: ConsumerGroup | None = None
        """What `find` answers, until something changes."""

    def view(self) -> ConsumerGroup:
        """The group as the rules know it."""
        if self.snapshot is None:
            members = tuple(map(_member_of, self.clients.values()))
            self.snapshot = ConsumerGroup(members, tuple(self.subscriptions.values()), self.manner)
        return self.snapshot


class ConsumerRegistry:
    """Groups by name, in the order in which they came online."""

    def __init__(self, settings: BrokerSettings, recorder: Recorder, notify: Notify, note: Note) -> None:
        self._settings = settings
        self._recorder = recorder
        self._notify = notify
        self._note = note
        self._groups: dict[str, _OnlineGroup] = {}
        self._groups_of: dict[int, dict[str, None]] = {}

    # What heartbeats, goodbyes and time change

    def register(
        self, client: ClientInfo, data: ConsumerData, now_ms: int, *, is_group_notified: bool
    ) -> bool:
        """The group has heard of the client; whether that changed it, of which its members were told.

        Clauses: broker.member.new-connection-changes, broker.member.change-is-told-to-all
        """
        name = data.group_name
        group = self._groups.setdefault(name, _OnlineGroup())
        # The rule asks only whether this connection is known: that it need not see the others is
        # what keeps a heartbeat cheap in a group of thousands.
        known = group.clients.get(client.connection)
        before = () if known is None else (_member_of(known),)
        _, is_new = register_member(before, _member_of(client))
        arrived = self._subscriptions(data, client, is_told=is_new)
        kept, has_topic_change = register_subscriptions(tuple(group.subscriptions.values()), arrived)
        group.clients[client.connection] = client
        group.subscriptions = {subscription.topic: subscription for subscription in kept}
        group.manner = Manner(data.consume_type, data.message_model, data.consume_from_where)
        group.snapshot = None
        self._groups_of.setdefault(client.connection, {})[name] = None
        self._record_arrival(name, known, client, now_ms)
        is_changed = is_new or has_topic_change
        self._tell(name, Cause.REGISTERED, is_changed=is_changed, is_group_notified=is_group_notified)
        return is_changed

    def _subscriptions(
        self, data: ConsumerData, client: ClientInfo, *, is_told: bool
    ) -> tuple[Subscription, ...]:
        """What can be understood; the rest is left out, and told when the member is new."""
        found: list[Subscription] = []
        for record in data.subscription_data_set:
            try:
                found.append(derive_subscription(record))
            except Rejection as refusal:
                if is_told:
                    who = f"{client.client_id[:80]!r} of group {data.group_name[:80]!r}"
                    what = f"{record.topic[:80]!r} by {record.sub_string[:80]!r}"
                    left_out = f"{who} subscribes {what}, which is left out: {refusal.reason}"
                    self._note(Severity.WARNING, left_out)
        return tuple(found)

    def unregister(self, group: str, connection: int, now_ms: int, *, is_group_notified: bool) -> None:
        """The connection is not in the group; the others have been told if it was."""
        if self._leave(group, connection, Cause.UNREGISTERED, now_ms):
            self._tell(group, Cause.UNREGISTERED, is_group_notified=is_group_notified)

    def drop_connection(self, connection: int, now_ms: int) -> None:
        """The connection is in no group; whoever is left in its groups has been told.

        Clause: broker.member.close-is-told
        """
        for group in tuple(self._groups_of.get(connection, ())):
            self._leave(group, connection, Cause.CLOSED, now_ms)
            self._tell(group, Cause.CLOSED)

    def scan(self, now_ms: int) -> tuple[int, ...]:
        """Who was silent for too long is in the group no more; the connections to close.

        Clauses: broker.member.expiry-is-strict, broker.member.expiry-is-silent
        """
        expiry_ms = self._settings.member_expiry_ms
        expired = [
            (name, connection)
            for name, group in self._groups.items()
            for connection, client in group.clients.items()
            if is_expired(client.heartbeat_at_ms, now_ms, expiry_ms)
        ]
        for name, connection in expired:
            self._leave(name, connection, Cause.EXPIRED, now_ms)
            self._tell(name, Cause.EXPIRED)
        return tuple(dict.fromkeys(connection for _, connection in expired))

    def _leave(self, name: str, connection: int, cause: Cause, now_ms: int) -> bool:
        """Whether the connection was in the group; it is not now.

        Clause: broker.member.empty-group-ends
        """
        group = self._groups.get(name)
        client = None if group is None else group.clients.pop(connection, None)
        if group is None or client is None:
            return False
        group.snapshot = None
        if not group.clients:
            del self._groups[name]
        joined = self._groups_of[connection]
        del joined[name]
        if not joined:
            del self._groups_of[connection]
        self._record(Kind.LEAVE, name, client.client_id, now_ms, cause.value)
        return True

    def _tell(
        self, name: str, cause: Cause, *, is_changed: bool = True, is_group_notified: bool = True
    ) -> None:
        group = self._groups.get(name)
        # Without a change nobody is told, so nobody needs to be listed.
        if group is None or not is_changed:
            return
        told = derive_notified(
            group.view(),
            cause,
            is_group_notified=is_group_notified,
            is_broker_notifying=self._settings.is_change_notified,
        )
        for connection in told:
            self._notify(connection, name)

    def _record_arrival(self, name: str, known: ClientInfo | None, client: ClientInfo, now_ms: int) -> None:
        if known is not None and known.client_id == client.client_id:
            return
        if known is not None:
            self._record(Kind.LEAVE, name, known.client_id, now_ms, "replaced")
        self._record(Kind.JOIN, name, client.client_id, now_ms)

    def _record(self, kind: Kind, group: str, client: str, now_ms: int, cause: str = "") -> None:
        if self._recorder.is_on:
            event = self._recorder.event(kind, now_ms)
            self._recorder.add(event._replace(group=group, client=client, cause=cause))

    # What others ask

    def find(self, group: str) -> ConsumerGroup | None:
        """The group with all its members; None if nobody is online."""
        found = self._groups.get(group)
        return None if found is None else found.view()

    def manner(self, group: str) -> Manner | None:
        """How the group consumes, by its last heartbeat; None if nobody is online."""
        found = self._groups.get(group)
        return None if found is None else found.manner

    def subscription(self, group: str, topic: str) -> Subscription | None:
        """What the group subscribes of the topic."""
        found = self._groups.get(group)
        return None if found is None else found.subscriptions.get(topic)

    def clients(self, group: str) -> tuple[ClientInfo, ...]:
        """The members of the group, one for each connection."""
        found = self._groups.get(group)
        return () if found is None else tuple(found.clients.values())

    def connection_of(self, group: str, client_id: str) -> int | None:
        """The first connection of this client in the group."""
        return next((one.connection for one in self.clients(group) if one.client_id == client_id), None)

    def client_id_of(self, group: str, connection: int) -> str:
        """The client behind a connection of the group; empty if it is none of its members."""
        found = self._groups.get(group)
        client = None if found is None else found.clients.get(connection)
        return "" if client is None else client.client_id

    def groups(self) -> tuple[str, ...]:
        """The groups that are online."""
        return tuple(self._groups)

    def groups_of_topic(self, topic: str) -> tuple[str, ...]:
        """The groups that are online and subscribe the topic."""
        return tuple(name for name, group in self._groups.items() if topic in group.subscriptions)

    def groups_of(self, connection: int) -> tuple[str, ...]:
        """The groups that the connection is in."""
        return tuple(self._groups_of.get(connection, ()))
