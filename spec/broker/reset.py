"""Moving a group to an instant: when a broker refuses, and which offset a queue gets.

The promise: a reset either names an offset for every queue of the topic and reaches every member
that is online, or it changes nothing.

Why it can fail: the broker moves groups, not queues. One queue without a committed offset means
that the group does not consume the topic here, and one member that does not understand the
request would go on from where it was and undo the reset for its queues.

What is allowed: without force a reset only goes back. A queue whose group is already behind the
instant stays where it is, and its members begin again there.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from spec.values.units import QueueId, QueueOffset
from spec.wire.code import ResponseCode
from spec.wire.version import is_offset_reset_possible

TO_THE_END: Final = -1
"""The timestamp that stands for the end of each queue."""


class ResetRefusal(NamedTuple):
    """Why a reset is not carried out."""

    code: ResponseCode
    reason: str


def check_reset(
    committed: Mapping[QueueId, QueueOffset | None] | None, versions: Iterable[int]
) -> ResetRefusal | None:
    """The refusal by the first check that fails, or None when every member is told.

    `committed` has every write queue of the topic and is None for a topic that is missing;
    `versions` are those of the members that are online.

    Clause: broker.admin.reset-refused
    """
    if committed is None:
        return ResetRefusal(ResponseCode.SYSTEM_ERROR, "the topic is not on this broker")
    unknown = [queue_id for queue_id, offset in committed.items() if offset is None]
    if unknown:
        return ResetRefusal(
            ResponseCode.SYSTEM_ERROR, f"the group has committed no offset of queue {unknown[0]}"
        )
    online = tuple(versions)
    if not online:
        return ResetRefusal(ResponseCode.CONSUMER_NOT_ONLINE, "no consumer of the group is online")
    if not all(map(is_offset_reset_possible, online)):
        return ResetRefusal(
            ResponseCode.SYSTEM_ERROR, f"a consumer of the group has version {min(online)}, which is too old"
        )
    return None


def derive_reset_offset(found: int, committed: int, *, is_forced: bool) -> QueueOffset:
    """Where the group goes on: at the offset found for the instant, or where it is if that is earlier.

    Clause: broker.admin.reset-target
    """
    return QueueOffset(max(0, found if is_forced else min(found, committed)))


NEVER: Final = QueueOffset(2**63 - 1)
"""Java's largest long: the offset of a queue that must not be corrected."""


def derive_corrections(
    groups: Iterable[Mapping[QueueId, QueueOffset]], compared: Mapping[QueueId, QueueOffset]
) -> dict[QueueId, QueueOffset]:
    """The lowest offset of some groups by queue; `NEVER` where the compared group is lower still.

    A queue of which only the compared group has an offset has no lowest one and is left out.

    Clause: broker.admin.correction-lowest
    """
    lowest: dict[QueueId, QueueOffset] = {}
    for offsets in groups:
        for queue_id, offset in offsets.items():
            lowest[queue_id] = min(offset, lowest.get(queue_id, offset))
    return {
        queue_id: NEVER if offset > compared.get(queue_id, offset) else offset
        for queue_id, offset in sorted(lowest.items())
    }
