"""Committed offsets: one number for each topic, group and queue.

The promise: a commit is remembered, and a query answers what was remembered. Nothing more: the
broker applies any value that it is told, even a lower one, because it cannot know which of two
clients is right. Safety lies with the client, which commits only what it has finished.

Why it can fail: "no offset" is not "an error". A client that starts at the tail after an error
skips everything in between, so the answer has exactly three kinds: a value, zero for a queue
that still has its first message in memory, and an explicit "not found".

What is allowed: a decrease, if it can be explained. The reference keeps the carrier and the
tenure of the last commit beside the value; neither is visible on the wire.

One thing the broker does know: that it moved the group itself. After a reset, what a member still
commits comes from before, until the member has asked where to go on or has committed the very
offset that it was told. Such a commit is stale; applying it would undo the decision.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.values.pull_flag import PullFlag
from spec.values.units import QueueOffset

KEY_SEPARATOR: Final = "@"


def derive_key(topic: str, group: str) -> str:
    """The key under which a topic's offsets of a group are kept and persisted.

    Clause: broker.offset.key
    """
    return topic + KEY_SEPARATOR + group


def is_key_of_group(key: str, group: str) -> bool:
    """Whether the key belongs to exactly this group; a longer name that ends alike does not.

    Clause: broker.offset.delete-exact-group
    """
    _, separator, owner = key.partition(KEY_SEPARATOR)
    return bool(separator) and owner == group


class Carrier(Enum):
    """Which request brought a commit."""

    PULL = "pull"
    UPDATE = "update"
    RESET = "reset"
    CORRECTION = "correction"
    REPLICATION = "replication"


@dataclass(frozen=True, slots=True)
class Commit:
    """A committed offset and where it came from."""

    offset: QueueOffset
    carrier: Carrier
    client: str = ""
    tenure: int = 0


def apply_commit(current: Commit | None, new: Commit) -> Commit:  # noqa: ARG001 - that it is not asked is the rule
    """The commit that counts afterwards: the new one, whatever was there.

    Clause: broker.offset.commit-overwrites
    """
    return new


@dataclass(frozen=True, slots=True)
class Fence:
    """A reset that some members have not taken up yet."""

    offset: QueueOffset
    unaware: frozenset[str]
    """Client ids whose commits may still come from before the reset."""


def is_stale(fence: Fence | None, new: Commit) -> bool:
    """Whether the commit comes from before a reset and must not undo it.

    Clause: broker.offset.reset-fences
    """
    return (
        fence is not None
        and new.carrier in (Carrier.PULL, Carrier.UPDATE)
        and new.client in fence.unaware
        and new.offset != fence.offset
    )


def lift_fence(fence: Fence | None, client: str) -> Fence | None:
    """The fence after a member asked for the offset, or committed it; None when all have taken it up.

    Clause: broker.offset.reset-fences
    """
    if fence is None:
        return None
    unaware = fence.unaware - {client}
    return Fence(fence.offset, unaware) if unaware else None


class Explanation(Enum):
    """Why an applied commit is lower than the one before."""

    NO_DECREASE = "no decrease"
    DECISION = "reset, correction or replication"
    OTHER_TENURE = "another tenure"
    OTHER_CARRIER = "two carriers of one tenure overtook each other"
    UNEXPLAINED = "unexplained"


def explain_decrease(current: Commit | None, new: Commit) -> Explanation:
    """The reason that makes a lower commit legal, if there is one.

    Clause: broker.offset.decrease-explained
    """
    if current is None or new.offset >= current.offset:
        return Explanation.NO_DECREASE
    if new.carrier in (Carrier.RESET, Carrier.CORRECTION, Carrier.REPLICATION):
        return Explanation.DECISION
    if (current.client, current.tenure) != (new.client, new.tenure):
        return Explanation.OTHER_TENURE
    return Explanation.OTHER_CARRIER if current.carrier != new.carrier else Explanation.UNEXPLAINED


def answer_query(
    stored: int | None,
    queue_minimum: int,
    *,
    is_first_message_on_disk: bool,
    zero_for_young_queue: bool = True,
) -> QueueOffset | None:
    """The offset a group is told to resume at; None is the explicit "not found".

    A queue is young while its minimum is 0 and its first message, if there is one, is in memory.
    `zero_for_young_queue=False` is the 5.x request that asks for "not found" instead.

    Clauses: broker.offset.query-stored, broker.offset.young-queue-zero, broker.offset.query-not-found
    """
    if stored is not None and stored >= 0:
        return QueueOffset(stored)
    if zero_for_young_queue and queue_minimum <= 0 and not is_first_message_on_disk:
        return QueueOffset(0)
    return None


def is_commit_of_pull(sys_flag: int, *, is_slave: bool, is_first_pass: bool) -> bool:
    """Whether the commit offset in a pull is applied: asked for, on a master, and once.

    Clause: broker.offset.pull-commits-once
    """
    return bool(sys_flag & PullFlag.COMMIT) and not is_slave and is_first_pass
