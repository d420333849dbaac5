"""The offsets of a broadcasting client, kept on the client's own disk.

    <root>/<client id>/<group>/offsets.json

The client id has to be the same after a restart, or the client begins anew; that is why a
broadcasting client keeps the instance name DEFAULT. In 4.9.3 a write holds only the queues that
the client has at that moment, so the offset of a queue that was away is lost; the reference
keeps the entries of the file that it does not replace.
"""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from spec.layout.directory import check_folder_name
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueOffset
from spec.wire.body.record import JsonRecord, json_record


@json_record
class LocalOffsetTable(JsonRecord):
    """Offsets by queue."""

    offset_table: Mapping[MessageQueue, QueueOffset] = field(default_factory=dict)


class MergeRule(Enum):
    """What becomes of entries whose queue the client does not have now."""

    KEEP = "they stay"
    REPLACE = "they go: 4.9.3"


def derive_local_path(client_id: str, group: str) -> tuple[str, str, str]:
    """The parts of the file's path below the root; refuses names that would leave it.

    Clause: store.config.local-offset-path
    """
    clause = "store.config.local-offset-path"
    return check_folder_name(client_id, clause), check_folder_name(group, clause), "offsets.json"


def merge_local_offsets(
    stored: LocalOffsetTable, current: LocalOffsetTable, *, rule: MergeRule = MergeRule.KEEP
) -> LocalOffsetTable:
    """The table that is written: the client's offsets, and those of queues that are away.

    Clause: store.config.local-offsets-stay
    """
    match rule:
        case MergeRule.KEEP:
            return LocalOffsetTable({**stored.offset_table, **current.offset_table})
        case MergeRule.REPLACE:
            return current
