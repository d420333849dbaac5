"""Heartbeats: how the brokers know who is there.

Each broker keeps its own list of members, and a member asks one broker, chosen at random, for the
list. So a member must be known to every broker of its topics, slaves included; a producer alone
writes to masters only and needs no more. An address that no route mentions any more is forgotten
before the round, or a client would greet a dead broker for ever.
"""

from collections.abc import Collection, Mapping

from spec.nameserver.registration import MASTER_ID
from spec.values.java_text import utf16_key

AddressBook = Mapping[str, Mapping[int, str]]
"""Broker name to broker id to address."""


def derive_heartbeat_targets(
    book: AddressBook, *, has_producers: bool, has_consumers: bool
) -> tuple[str, ...]:
    """The addresses that are greeted, by broker name and id.

    Clauses: client.heartbeat.all-brokers, client.heartbeat.producer-masters-only
    """
    if not has_producers and not has_consumers:
        return ()
    return tuple(
        book[name][broker_id]
        for name in sorted(book, key=utf16_key)
        for broker_id in sorted(book[name])
        if has_consumers or broker_id == MASTER_ID
    )


def forget_offline(book: AddressBook, routed: Collection[str]) -> dict[str, dict[int, str]]:
    """The book with only those addresses that some route still mentions; names without any are gone.

    Clause: client.heartbeat.forgets-offline
    """
    kept = {
        name: {broker_id: address for broker_id, address in replicas.items() if address in routed}
        for name, replicas in book.items()
    }
    return {name: replicas for name, replicas in kept.items() if replicas}
