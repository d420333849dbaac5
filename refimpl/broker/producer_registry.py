"""The producers that are online at this broker: Apache's ProducerManager.

A producer says who it is with every heartbeat. It is looked for in two ways: some producer of a
group, to be asked about a transaction; and one client by its id, to be handed a reply.
"""

from itertools import count

from refimpl.broker.client_info import ClientInfo
from refimpl.broker.settings import BrokerSettings
from spec.broker.membership import is_expired
from spec.broker.producer_choice import ProducerConnection, choose_producer


class ProducerRegistry:
    """Groups by name, and clients by id."""

    def __init__(self, settings: BrokerSettings) -> None:
        self._settings = settings
        self._groups: dict[str, dict[int, ClientInfo]] = {}
        self._groups_of: dict[int, dict[str, None]] = {}
        self._connections: dict[str, dict[int, None]] = {}
        """Client id to its connections, the one that came last at the end."""
        self._turns = count(1)

    def register(self, client: ClientInfo, group: str) -> None:
        """The group has heard of the client."""
        clients = self._groups.setdefault(group, {})
        known = clients.get(client.connection)
        clients[client.connection] = client
        self._groups_of.setdefault(client.connection, {})[group] = None
        self._connections.setdefault(client.client_id, {}).setdefault(client.connection)
        if known is not None and known.client_id != client.client_id:
            self._forget_id(known)

    def unregister(self, group: str, connection: int) -> None:
        """The connection is not in the group; a group without connections ends."""
        clients = self._groups.get(group)
        client = None if clients is None else clients.pop(connection, None)
        if clients is None or client is None:
            return
        if not clients:
            del self._groups[group]
        joined = self._groups_of[connection]
        del joined[group]
        if not joined:
            del self._groups_of[connection]
        self._forget_id(client)

    def drop_connection(self, connection: int) -> None:
        """The connection is in no group."""
        for group in tuple(self._groups_of.get(connection, ())):
            self.unregister(group, connection)

    def scan(self, now_ms: int) -> tuple[int, ...]:
        """Who was silent for too long is in the group no more; the connections to close.

        Clause: broker.member.expiry-is-strict
        """
        expiry_ms = self._settings.member_expiry_ms
        expired = [
            (group, connection)
            for group, clients in self._groups.items()
            for connection, client in clients.items()
            if is_expired(client.heartbeat_at_ms, now_ms, expiry_ms)
        ]
        for group, connection in expired:
            self.unregister(group, connection)
        return tuple(dict.fromkeys(connection for _, connection in expired))

    def _forget_id(self, client: ClientInfo) -> None:
        """The id leads to the connection only while some group knows it by that id."""
        for group in self._groups_of.get(client.connection, ()):
            if self._groups[group][client.connection].client_id == client.client_id:
                return
        connections = self._connections[client.client_id]
        del connections[client.connection]
        if not connections:
            del self._connections[client.client_id]

    def clients(self, group: str) -> tuple[ClientInfo, ...]:
        """The producers of the group, one for each connection."""
        return tuple(self._groups.get(group, {}).values())

    def groups(self) -> tuple[str, ...]:
        """The groups that are online."""
        return tuple(self._groups)

    def groups_of(self, connection: int) -> tuple[str, ...]:
        """The groups that the connection is in."""
        return tuple(self._groups_of.get(connection, ()))

    def choose(self, group: str) -> int | None:
        """The connection of the group whose turn it is; None if nobody is online.

        Clause: broker.transaction.producer-in-turn
        """
        connections = tuple(self._groups.get(group, ()))
        # A closed connection is not in the table, and how full an open one is nobody says here.
        index = choose_producer((ProducerConnection(),) * len(connections), next(self._turns))
        return None if index is None else connections[index]

    def connection_of_client(self, client_id: str) -> int | None:
        """The connection over which this client came last."""
        connections = self._connections.get(client_id)
        return None if connections is None else next(reversed(connections))
