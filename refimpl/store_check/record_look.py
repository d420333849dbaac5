"""The few fields of a record that the checks compare, read quickly.

A log of ten gigabytes holds a hundred million records, and decoding each one to the last field
takes most of the time. So a record is first looked at by a short path that accepts only what is
surely good and has IPv4 hosts; everything else goes to the specification's decoder, which judges
alone: the short path never refuses anything.
"""

import struct
from typing import Final
from zlib import crc32

from spec.layout.record import TOPIC_BYTES_LIMIT
from spec.layout.record_head import RecordHead, decode_record_head
from spec.layout.stored_message import SMALLEST_RECORD, Magic
from spec.rejection import Rejection
from spec.values.checksum import CHECKSUM_MASK
from spec.values.host import PORT_LIMIT
from spec.values.property import ENTRY_END, NAME_END, decode_properties
from spec.values.system_flag import BORN_HOST_IPV6, STORE_HOST_IPV6

_FIXED: Final = struct.Struct(">iIii4xqqi8x4xiq4xi12xi")
"""Size, magic, CRC, queue id, queue offset, position, system flag, port, store time, port, body length."""
_MESSAGE: Final = int(Magic.MESSAGE)
_HOST_BITS: Final = BORN_HOST_IPV6 | STORE_HOST_IPV6
_TOPICS_LIMIT: Final = 100_000
"""How many topics are remembered; a decision: damaged bytes must not fill the memory with names."""


def make_marker(name: str) -> str:
    """What stands before the value of a property that is not the first."""
    return f"{ENTRY_END}{name}{NAME_END}"


def find_property(text: str, marker: str) -> str | None:
    """The value of the property of a marker, as the specification's parser gives it."""
    at = text.rfind(marker)
    if at >= 0:
        start = at + len(marker)
    elif text.startswith(marker[1:]):
        start = len(marker) - 1
    else:
        return None
    end = text.find(ENTRY_END, start)
    value = text[start:] if end < 0 else text[start:end]
    # An entry without a value does not count, and an earlier one of the same name then does.
    return value or decode_properties(text).get(marker[1:-1])


class RecordReader:
    """Looks at records; remembers the texts of topics."""

    def __init__(self) -> None:
        """Know no topic yet."""
        self._topics: dict[bytes, str] = {}

    def _remember(self, name: bytes) -> str | None:
        try:
            topic = name.decode("utf-8")
        except UnicodeDecodeError:
            return None
        if len(self._topics) < _TOPICS_LIMIT:
            self._topics[name] = topic
        return topic

    def look_quickly(self, data: bytes, at: int, position: int) -> RecordHead | None:
        """The record at `at` of the bytes, if it is surely good and stands at `position` of the log."""
        if len(data) - at < SMALLEST_RECORD:
            return None
        size, magic, crc, queue_id, queue_offset, stated, flag, born_port, stored_at_ms, port, length = (
            _FIXED.unpack_from(data, at)
        )
        end = at + size
        topic_at = at + 88 + length
        if (
            magic != _MESSAGE
            or flag & _HOST_BITS
            or end > len(data)
            or stated != position
            or queue_id < 0
            or queue_offset < 0
            or length < 0
            or topic_at + 3 > end
            or not 0 <= born_port <= PORT_LIMIT
            or not 0 <= port <= PORT_LIMIT
        ):
            return None
        topic_end = topic_at + 1 + data[topic_at]
        properties_at = topic_end + 2
        if (
            properties_at > end
            or not topic_at + 1 < topic_end <= topic_at + 1 + TOPIC_BYTES_LIMIT
            or data[topic_end] << 8 | data[topic_end + 1] != end - properties_at
            or data[topic_end] & 0x80
            or crc32(data[at + 88 : topic_at]) & CHECKSUM_MASK != crc
        ):
            return None
        name = data[topic_at + 1 : topic_end]
        topic = self._topics.get(name) or self._remember(name)
        if topic is None:
            return None
        try:
            text = data[properties_at:end].decode("utf-8")
        except UnicodeDecodeError:
            return None
        return RecordHead(size, queue_id, queue_offset, stated, flag, stored_at_ms, topic, text)

    def look(self, data: bytes, at: int, position: int) -> RecordHead:
        """The record at `at`; refuses what the specification refuses, at the byte of `data`."""
        quick = self.look_quickly(data, at, position)
        if quick is not None:
            return quick
        record = decode_record_head(memoryview(data), at, accept_v2=True)
        reason = None
        if record.position != position:
            reason = f"the record states position {record.position} and stands at {position}"
        elif record.queue_id < 0 or record.queue_offset < 0:
            reason = f"the record states queue {record.queue_id} and offset {record.queue_offset}"
        if reason is not None:
            raise Rejection("recovery.log.record-states-its-place", at, reason)
        return record
