"""Which brokers are there: their addresses by name and id, and when each was last heard of.

The address of every entry has its own record, and no record is without an entry. A name server
hears a broker over the connection of its latest registration; the end of an older one means nothing.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from spec.broker.topic import DataVersion
from spec.nameserver.liveness import is_expired
from spec.nameserver.registration import (
    BrokerEntry,
    derive_master_address,
    drop_address,
    register,
    unregister,
)

Key: TypeAlias = tuple[str, str]
"""Broker name and address: one broker process."""


class LiveBroker(NamedTuple):
    """What a broker process said last."""

    cluster: str
    name: str
    broker_id: int
    address: str
    replication_address: str
    """Where its replicas fetch the log (`haServerAddr`)."""
    filter_servers: tuple[str, ...]
    version: DataVersion
    connection: int
    heard_at_ms: int

    @property
    def key(self) -> Key:
        """Which process it is."""
        return self.name, self.address


class BrokerTable:
    """The brokers of one name server."""

    def __init__(self) -> None:
        self._entries: dict[str, BrokerEntry] = {}
        self._live: dict[Key, LiveBroker] = {}
        self._of_connection: dict[int, dict[Key, None]] = {}

    @property
    def count(self) -> int:
        """How many broker processes are registered."""
        return len(self._live)

    @property
    def entries(self) -> Mapping[str, BrokerEntry]:
        """The addresses behind each broker name, in order of their ids."""
        return self._entries

    def find(self, name: str, address: str) -> LiveBroker | None:
        """The broker of that name at that address."""
        return self._live.get((name, address))

    def names_in(self, cluster: str) -> frozenset[str]:
        """The broker names of a cluster."""
        return frozenset(name for name, entry in self._entries.items() if entry.cluster == cluster)

    def clusters(self) -> dict[str, frozenset[str]]:
        """The broker names of all clusters, sorted by cluster."""
        names: dict[str, list[str]] = {}
        for name, entry in self._entries.items():
            names.setdefault(entry.cluster, []).append(name)
        return {cluster: frozenset(names[cluster]) for cluster in sorted(names)}

    def master_of(self, broker: LiveBroker) -> LiveBroker | None:
        """The master of a slave, if it is registered.

        Clause: nameserver.registration.slave-learns-master
        """
        address = derive_master_address(self._entries[broker.name], broker.broker_id)
        return None if address is None else self._live.get((broker.name, address))

    def put(self, broker: LiveBroker) -> tuple[LiveBroker, ...]:
        """The broker stands under its name and id; what no longer stands anywhere, or there, is returned.

        Clauses: nameserver.registration.one-id-per-address, nameserver.registration.latest-address-wins
        """
        entry = self._entries.get(broker.name)
        before = (self._live.get(broker.key), self._holder(broker.name, broker.broker_id))
        self._store(register(entry, broker.cluster, broker.name, broker.broker_id, broker.address))
        ended = tuple(dict.fromkeys(other for other in before if other is not None))
        for other in ended:
            self._forget(other)
        self._live[broker.key] = broker
        self._of_connection.setdefault(broker.connection, {})[broker.key] = None
        place = broker.broker_id, broker.address
        return tuple(other for other in ended if (other.broker_id, other.address) != place)

    def touch(self, broker: LiveBroker, now_ms: int) -> None:
        """The broker has been heard of just now."""
        self._live[broker.key] = broker._replace(heard_at_ms=now_ms)

    def farewell(self, name: str, broker_id: int, address: str, *, is_fenced: bool) -> LiveBroker | None:
        """The broker that a farewell has removed, if it removed one.

        Clause: nameserver.registration.farewell-removes-itself
        """
        holder = self._holder(name, broker_id)
        if holder is None:
            return None
        entry = self._entries[name]
        left = unregister(entry, broker_id, address, fences_address=is_fenced)
        if left == entry:
            return None
        self._replace(name, left)
        self._forget(holder)
        return holder

    def drop(self, broker: LiveBroker) -> None:
        """The broker is gone, without having said so."""
        self._replace(broker.name, drop_address(self._entries[broker.name], broker.address))
        self._forget(broker)

    def on_connection(self, connection: int) -> tuple[LiveBroker, ...]:
        """The brokers that were last heard over this connection."""
        return tuple(self._live[key] for key in self._of_connection.get(connection, ()))

    def silent(self, now_ms: int, expiry_ms: int) -> tuple[LiveBroker, ...]:
        """The brokers that have said nothing for longer than the expiry time.

        Clause: nameserver.liveness.expiry-is-strict
        """
        brokers = self._live.values()
        return tuple(broker for broker in brokers if is_expired(broker.heard_at_ms, now_ms, expiry_ms))

    def _holder(self, name: str, broker_id: int) -> LiveBroker | None:
        entry = self._entries.get(name)
        address = None if entry is None else entry.addresses.get(broker_id)
        return None if address is None else self._live[name, address]

    def _replace(self, name: str, entry: BrokerEntry | None) -> None:
        """A name without an address ends.

        Clause: nameserver.registration.empty-name-ends
        """
        if entry is None:
            del self._entries[name]
        else:
            self._store(entry)

    def _store(self, entry: BrokerEntry) -> None:
        self._entries[entry.name] = replace(entry, addresses=dict(sorted(entry.addresses.items())))

    def _forget(self, broker: LiveBroker) -> None:
        del self._live[broker.key]
        keys = self._of_connection[broker.connection]
        del keys[broker.key]
        if not keys:
            del self._of_connection[broker.connection]
