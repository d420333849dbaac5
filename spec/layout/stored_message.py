"""A message as it stands in the log: what the broker added to what the user sent.

The broker gives a message a queue offset, a place in the log, a store time and both hosts; size
and CRC follow from the rest. Which byte each of these is, is said in `spec.layout.record`.
"""

from enum import IntEnum
from typing import Final, NamedTuple

from spec.values.checksum import derive_checksum
from spec.values.host import IPV4_HOST_SIZE, IPV6_HOST_SIZE, Host
from spec.values.message import Message
from spec.values.property import decode_properties, encode_properties
from spec.values.system_flag import with_host_bits
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds, QueueId, QueueOffset


class Magic(IntEnum):
    """What the second field of a record says it is."""

    MESSAGE = 0xDAA320A7
    MESSAGE_V2 = 0xDAA320AB
    """Written by 5.x for topics over 127 bytes; 4.x cannot read it."""
    BLANK = 0xCBD43194
    """The rest of the file holds nothing; the next record starts the next file."""


SMALLEST_RECORD: Final = ByteCount(91)
"""All fields with IPv4 hosts, and nothing in body, topic and properties."""

BLANK_SIZE: Final = ByteCount(8)
"""Size and magic: what a blank record needs."""

IPV6_EXTRA: Final = IPV6_HOST_SIZE - IPV4_HOST_SIZE

_FIRST_QUEUE_OFFSET: Final = QueueOffset(0)
_LOG_START: Final = CommitLogPosition(0)
_NO_TIME: Final = Milliseconds(0)


class StoredMessage(NamedTuple):
    """A message as it stands in the log."""

    size: ByteCount
    magic: int
    body_crc: int
    queue_id: QueueId
    flag: int
    queue_offset: QueueOffset
    position: CommitLogPosition
    system_flag: int
    born_at_ms: Milliseconds
    born_host: Host
    stored_at_ms: Milliseconds
    store_host: Host
    reconsume_times: int
    prepared_position: CommitLogPosition
    body: bytes
    topic: str
    property_text: str

    @property
    def end(self) -> CommitLogPosition:
        """The position of the byte behind this record."""
        return CommitLogPosition(self.position + self.size)

    def properties(self) -> dict[str, str]:
        """The properties, parsed anew at every call."""
        return decode_properties(self.property_text)

    def message(self) -> Message:
        """What user code sees of it; the body stays compressed if it is."""
        return Message(self.topic, self.body, self.flag, self.properties())


def derive_record_size(
    body_length: int,
    topic_length: int,
    property_length: int,
    *,
    born_ipv6: bool = False,
    store_ipv6: bool = False,
    is_v2: bool = False,
) -> ByteCount:
    """The size of a record whose parts have these lengths in bytes.

    Clause: store.record.size-formula
    """
    extra = IPV6_EXTRA * (born_ipv6 + store_ipv6) + is_v2
    return ByteCount(SMALLEST_RECORD + extra + body_length + topic_length + property_length)


def make_record(
    message: Message,
    *,
    queue_id: QueueId,
    born_host: Host,
    store_host: Host,
    queue_offset: QueueOffset = _FIRST_QUEUE_OFFSET,
    position: CommitLogPosition = _LOG_START,
    system_flag: int = 0,
    born_at_ms: Milliseconds = _NO_TIME,
    stored_at_ms: Milliseconds = _NO_TIME,
    reconsume_times: int = 0,
    prepared_position: CommitLogPosition = _LOG_START,
    magic: Magic = Magic.MESSAGE,
) -> StoredMessage:
    """The stored form of a message: size, CRC and host bits follow from the rest.

    Clauses: store.record.size-formula, store.record.body-crc, store.flag.host-bits
    """
    property_text = encode_properties(message.properties)
    size = derive_record_size(
        len(message.body),
        len(message.topic.encode("utf-8", "surrogatepass")),
        len(property_text.encode("utf-8", "surrogatepass")),
        born_ipv6=born_host.is_ipv6,
        store_ipv6=store_host.is_ipv6,
        is_v2=magic is Magic.MESSAGE_V2,
    )
    return StoredMessage(
        size=size,
        magic=magic,
        body_crc=derive_checksum(message.body),
        queue_id=queue_id,
        flag=message.flag,
        queue_offset=queue_offset,
        position=position,
        system_flag=with_host_bits(system_flag, born_ipv6=born_host.is_ipv6, store_ipv6=store_host.is_ipv6),
        born_at_ms=born_at_ms,
        born_host=born_host,
        stored_at_ms=stored_at_ms,
        store_host=store_host,
        reconsume_times=reconsume_times,
        prepared_position=prepared_position,
        body=message.body,
        topic=message.topic,
        property_text=property_text,
    )
