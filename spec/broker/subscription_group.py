"""Consumer groups as a broker keeps them: what they may do and how often they may fail.

A group comes into being by its first heartbeat or pull, if the broker allows that; its settings
then decide retries (how many queues, how many attempts), broadcasting, and which broker a slow
consumer is sent to.
"""

from dataclasses import dataclass
from typing import Final

from spec.values.name import SYSTEM_GROUP_PREFIX, is_group_legal

RETRY_LIMIT: Final = 16
"""Apache's `retryMaxTimes`: retries after the first delivery."""

BUILT_IN_GROUPS: Final = (
    "TOOLS_CONSUMER",
    "FILTERSRV_CONSUMER",
    "SELF_TEST_C_GROUP",
    "CID_ONS-HTTP-PROXY",
    "CID_ONSAPI_PULL",
    "CID_ONSAPI_PERMISSION",
    "CID_ONSAPI_OWNER",
)
"""The groups that exist from the first start. Clause: broker.group.built-in."""


@dataclass(frozen=True, slots=True)
class GroupConfig:
    """One group; the defaults are Apache's.

    Clause: broker.group.defaults
    """

    name: str
    is_consume_enabled: bool = True
    is_consume_from_minimum_enabled: bool = True
    is_broadcast_enabled: bool = True
    retry_queue_count: int = 1
    retry_limit: int = RETRY_LIMIT
    broker_id: int = 0
    slow_broker_id: int = 1
    is_change_notified: bool = True


def derive_created_group(name: str, *, is_auto_create_enabled: bool = True) -> GroupConfig | None:
    """The group that a first use creates, or None when it may not.

    Clause: broker.group.auto-create
    """
    is_allowed = is_auto_create_enabled or name.startswith(SYSTEM_GROUP_PREFIX)
    return GroupConfig(name) if is_allowed else None


RETRY_QUEUE_LIMIT: Final = 1_024
"""Queues that a group's retry topic may be given; a decision."""


def explain_bad_group(group: GroupConfig) -> str | None:
    """Why a group cannot be as it is asked for; None if it can.

    Clause: broker.admin.group-limits
    """
    if not is_group_legal(group.name):
        limit = "1 to 255 characters of ^[%|a-zA-Z0-9_-]+$"
        return f"the group {group.name[:40]!r} is not legal: a name has {limit}"
    if not 0 <= group.retry_queue_count <= RETRY_QUEUE_LIMIT:
        return f"{group.retry_queue_count} retry queues are not within 0 to {RETRY_QUEUE_LIMIT}"
    return None
