"""Lists of topics: those of units, and those that exist because a cluster exists.

A unit is a part of an installation that can serve its users alone. Topics carry two flags about it,
and three requests ask for the topics by these flags.

System topics are named after clusters and brokers. A name server knows those names, but not the
other system topics; the address that it tells is that of a broker which does.
"""

from collections.abc import Mapping
from enum import Enum

from spec.broker.topic import UNIT_FLAG, UNIT_SUBSCRIBED_FLAG
from spec.nameserver.registration import BrokerEntry


class UnitList(Enum):
    """Which topics are asked for."""

    UNIT = "topics of a unit"
    SUBSCRIBED = "topics that a unit subscribes"
    SUBSCRIBED_ONLY = "topics that a unit subscribes and that belong to none"


def is_listed(asked: UnitList, system_flag: int) -> bool:
    """Whether a topic whose queues carry this flag is in the list.

    Clause: nameserver.topic-list.unit-flags
    """
    is_unit = bool(system_flag & UNIT_FLAG)
    is_subscribed = bool(system_flag & UNIT_SUBSCRIBED_FLAG)
    match asked:
        case UnitList.UNIT:
            return is_unit
        case UnitList.SUBSCRIBED:
            return is_subscribed
        case UnitList.SUBSCRIBED_ONLY:
            return is_subscribed and not is_unit


def derive_system_topics(entries: Mapping[str, BrokerEntry]) -> frozenset[str]:
    """The topics that are named after clusters and brokers.

    Clause: nameserver.topic-list.system-topics
    """
    return frozenset(entries) | {entry.cluster for entry in entries.values()}


def derive_any_address(entries: Mapping[str, BrokerEntry]) -> str | None:
    """The address of the first broker by name and id, None without brokers.

    Clause: nameserver.topic-list.system-topics
    """
    if not entries:
        return None
    addresses = entries[min(entries)].addresses
    return addresses[min(addresses)]
