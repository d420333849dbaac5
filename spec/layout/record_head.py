"""A record without its body: what dispatch and recovery have to know of it.

Queues and index follow from the log, and most of what is in the log is bodies. To dispatch a
message, its queue, offset, place, time, topic and properties are enough; the body is looked at
only to see whether its CRC is right, and is never copied.
"""

from typing import NamedTuple

from spec.layout.record import check_body, decode_hosts, decode_text, locate_parts
from spec.layout.stored_message import StoredMessage
from spec.values.property import decode_properties
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds, QueueId, QueueOffset


class RecordHead(NamedTuple):
    """The fields of a record that dispatch looks at, named as in `StoredMessage`."""

    size: ByteCount
    queue_id: QueueId
    queue_offset: QueueOffset
    position: CommitLogPosition
    system_flag: int
    stored_at_ms: Milliseconds
    topic: str
    property_text: str

    @property
    def end(self) -> CommitLogPosition:
        """The position of the byte behind this record."""
        return CommitLogPosition(self.position + self.size)

    def properties(self) -> dict[str, str]:
        """The properties, parsed anew at every call."""
        return decode_properties(self.property_text)


def decode_record_head(
    data: memoryview, at: int = 0, *, check_crc: bool = True, accept_v2: bool = False
) -> RecordHead:
    """What the record at `at` says, without its body; refuses what `decode_record` refuses.

    Clauses: store.record.layout, store.record.body-crc
    """
    fields, body_at, topic_at, topic_start, topic_end, end = locate_parts(data, at, accept_v2=accept_v2)
    if check_crc:
        check_body(data[body_at:topic_at], fields[2], at)
    decode_hosts(fields, at, body_at)
    return RecordHead(
        fields[0],
        fields[3],
        fields[5],
        fields[6],
        fields[7],
        fields[10],
        decode_text(data, topic_start, topic_end, "topic"),
        decode_text(data, topic_end + 2, end, "property string"),
    )


def derive_record_head(record: StoredMessage) -> RecordHead:
    """What `decode_record_head` reads from the bytes of this record."""
    return RecordHead(*(getattr(record, name) for name in RecordHead._fields))
