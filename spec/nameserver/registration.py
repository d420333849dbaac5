"""Registration: which addresses stand behind a broker name, and whose topics count.

The promise: a broker that registers is found under its name and id; one that says farewell removes
itself and nobody else.

Why it can fail: after a fail-over the new master has taken id 0 while the farewell of the old one is
still on its way. Removing by id alone would remove the new master. The strict reference removes an
entry only when address and id agree; Apache 4.9.3 looks at the id alone.

What is allowed: topics that a registration does not mention are kept. Only a master speaks for the
topics of its name, and only when its data version is another one than last time.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spec.broker.topic import DataVersion, TopicConfig

MASTER_ID: Final = 0


@dataclass(frozen=True, slots=True)
class BrokerEntry:
    """The addresses behind one broker name, by broker id."""

    cluster: str
    name: str
    addresses: Mapping[int, str]


def register(entry: BrokerEntry | None, cluster: str, name: str, broker_id: int, address: str) -> BrokerEntry:
    """The entry after a registration: the address stands under this id, and under no other.

    Clauses: nameserver.registration.one-id-per-address, nameserver.registration.latest-address-wins
    """
    known = {} if entry is None else entry.addresses
    kept = {other: where for other, where in known.items() if where != address}
    return BrokerEntry(cluster, name, {**kept, broker_id: address})


def unregister(
    entry: BrokerEntry, broker_id: int, address: str, *, fences_address: bool = True
) -> BrokerEntry | None:
    """The entry after a farewell; None when no address is left, which ends the name and its topics.

    `fences_address=False` is Apache 4.9.3: whatever stands under the id is removed.

    Clauses: nameserver.registration.farewell-removes-itself, nameserver.registration.empty-name-ends
    """
    is_own = entry.addresses.get(broker_id) == address or not fences_address
    kept = {other: where for other, where in entry.addresses.items() if not (other == broker_id and is_own)}
    return BrokerEntry(entry.cluster, entry.name, kept) if kept else None


def drop_address(entry: BrokerEntry, address: str) -> BrokerEntry | None:
    """The entry after the connection of an address was lost or fell silent."""
    kept = {other: where for other, where in entry.addresses.items() if where != address}
    return BrokerEntry(entry.cluster, entry.name, kept) if kept else None


def is_version_changed(known: DataVersion | None, arrived: DataVersion) -> bool:
    """Whether a broker whose tables have that version should register: it is new or has another one.

    Clause: nameserver.registration.version-query
    """
    return known is None or known != arrived


def is_topic_update(broker_id: int, known: DataVersion | None, arrived: DataVersion) -> bool:
    """Whether the topics of a registration are looked at: a master's, new or with another version.

    `known` is what this address registered last as a master: the version of a slave that has become
    master says nothing about topics, since they were not looked at.

    Clauses: nameserver.registration.master-speaks-for-topics, nameserver.registration.version-decides
    """
    return broker_id == MASTER_ID and is_version_changed(known, arrived)


def merge_topics(
    known: Mapping[str, TopicConfig], arrived: Mapping[str, TopicConfig]
) -> dict[str, TopicConfig]:
    """The topics of one broker name after an update; what the update does not name stays.

    Clause: nameserver.registration.missing-topics-stay
    """
    return {**known, **arrived}


def derive_master_address(entry: BrokerEntry, broker_id: int) -> str | None:
    """What the reply tells a slave: its master's address, if there is a master.

    Clause: nameserver.registration.slave-learns-master
    """
    return None if broker_id == MASTER_ID else entry.addresses.get(MASTER_ID)
