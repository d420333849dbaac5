"""The fields of everything that asks for, or moves, a position in a queue."""

from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.header.codec import CustomHeader, wire_header


@wire_header
class QueryConsumerOffsetHeader(CustomHeader):
    """Which group's committed offset of which queue; the last field is of 5.x."""

    consumer_group: str
    topic: str
    queue_id: QueueId
    set_zero_if_not_found: bool | None = None


@wire_header
class UpdateConsumerOffsetHeader(CustomHeader):
    """A commit: the group will go on from here."""

    consumer_group: str
    topic: str
    queue_id: QueueId
    commit_offset: QueueOffset


@wire_header
class SearchOffsetHeader(CustomHeader):
    """The offset at an instant; the boundary is of 5.x."""

    topic: str
    queue_id: QueueId
    timestamp: Milliseconds
    boundary_type: str | None = None


@wire_header
class QueueHeader(CustomHeader):
    """One queue of a topic: whose bounds, or whose earliest store time, is asked for."""

    topic: str
    queue_id: QueueId


@wire_header
class OffsetResponseHeader(CustomHeader):
    """One offset, whatever it was that was asked."""

    offset: QueueOffset


@wire_header
class TimestampResponseHeader(CustomHeader):
    """One instant; -1 when the queue is empty."""

    timestamp: Milliseconds


@wire_header
class ResetOffsetHeader(CustomHeader):
    """Move a group to an instant; -1 is the end."""

    topic: str
    group: str
    timestamp: Milliseconds
    is_force: bool


@wire_header
class ConsumerStatusHeader(CustomHeader):
    """How far the members of a group are; `client_addr` is a client id, blank for all."""

    topic: str
    group: str
    client_addr: str | None = None


@wire_header
class CorrectionOffsetHeader(CustomHeader):
    """The lowest offsets of some groups, compared with those of one."""

    topic: str
    compare_group: str
    filter_groups: str | None = None


@wire_header
class CloneGroupOffsetHeader(CustomHeader):
    """Give one group the offsets of another."""

    src_group: str
    dest_group: str
    topic: str | None = None
    offline: bool = False
