"""Which producer of a group is asked about a transaction: any live one that can take a request.

Every producer of a group can answer for every transaction of the group, so the broker takes them
in turn. A congested connection is passed over, but not for ever: after three looks the last live
one is used, because a check that is not sent at all would still be counted as done.
"""

from typing import Final, NamedTuple

from spec.values.units import Index

LOOK_LIMIT: Final = 3
"""Apache's `GET_AVAILABLE_CHANNEL_RETRY_COUNT`."""


class ProducerConnection(NamedTuple):
    """What the choice needs to know of one connection."""

    is_active: bool = True
    is_writable: bool = True


def choose_producer(connections: tuple[ProducerConnection, ...], counter: int) -> Index | None:
    """The connection to ask, starting at `counter`; the last live one if none can write, None if none lives.

    Clause: broker.transaction.producer-in-turn
    """
    last_active: Index | None = None
    for look in range(LOOK_LIMIT if connections else 0):
        index = Index((counter + look) % len(connections))
        connection = connections[index]
        if connection.is_active and connection.is_writable:
            return index
        if connection.is_active:
            last_active = index
    return last_active
