"""Offsets: of groups, of delay levels, of the members that shall be moved.

The first two tables are at once bodies and files (`consumerOffset.json`, `delayOffset.json`).
"""

from collections.abc import Mapping
from dataclasses import field

from spec.broker.topic import DataVersion
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId, QueueOffset
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.fastjson import parse_fastjson


@json_record
class ConsumerOffsetTable(JsonRecord):
    """Committed offsets by `topic@group`, then by queue id; the version is of 5.x."""

    offset_table: Mapping[str, Mapping[QueueId, QueueOffset]] = field(default_factory=dict)
    data_version: DataVersion | None = None


@json_record
class DelayOffsetTable(JsonRecord):
    """The next message to deliver, by delay level, counted from 1; the version is of 5.x."""

    offset_table: Mapping[int, QueueOffset] = field(default_factory=dict)
    data_version: DataVersion | None = None


@json_record
class CorrectionOffsetTable(JsonRecord):
    """Offsets by queue id."""

    correction_offsets: Mapping[QueueId, QueueOffset] = field(default_factory=dict)


@json_record
class ConsumerStatusBody(JsonRecord):
    """What a client has consumed, or what each of several clients has."""

    message_queue_table: Mapping[MessageQueue, QueueOffset] = field(default_factory=dict)
    consumer_table: Mapping[str, Mapping[MessageQueue, QueueOffset]] = field(default_factory=dict)


@json_record
class OffsetMovedEvent(JsonRecord):
    """The body of a message that a broker stores when it sends a consumer to another offset."""

    consumer_group: str
    message_queue: MessageQueue
    offset_request: QueueOffset
    offset_new: QueueOffset


@json_record
class ResetOffsetBody(JsonRecord):
    """Where a group shall go on, by queue."""

    offset_table: Mapping[MessageQueue, QueueOffset] = field(default_factory=dict)


@json_record
class QueueOffsetEntry(JsonRecord):
    """One queue of the list form."""

    broker_name: str
    queue_id: QueueId
    topic: str
    offset: QueueOffset


@json_record
class ResetOffsetList(JsonRecord):
    """The same for clients without a map keyed by objects: a list, asked for by C++ callers."""

    offset_table: tuple[QueueOffsetEntry, ...] = ()


def decode_reset_offset(data: bytes) -> ResetOffsetBody:
    """Where a group shall go on, from either form.

    Clause: wire.body.reset-offset-forms
    """
    tree = parse_fastjson(data)
    if not (isinstance(tree, dict) and isinstance(tree.get("offsetTable"), list)):
        return ResetOffsetBody.decode_tree(tree)
    entries = ResetOffsetList.decode_tree(tree).offset_table
    return ResetOffsetBody(
        {MessageQueue(entry.topic, entry.broker_name, entry.queue_id): entry.offset for entry in entries}
    )


def derive_reset_offset_list(body: ResetOffsetBody) -> ResetOffsetList:
    """The list form of the table.

    Clause: wire.body.reset-offset-forms
    """
    return ResetOffsetList(
        tuple(
            QueueOffsetEntry(queue.broker_name, queue.queue_id, queue.topic, offset)
            for queue, offset in body.offset_table.items()
        )
    )
