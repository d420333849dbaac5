"""What a broker hands to the store, and how it becomes the bytes of a record.

Everything but queue offset, place and time is known before the append, so a message is prepared
first, and its record is made when the log has said where it will stand.
"""

from typing import Final, NamedTuple

from refimpl.store.settings import StoreSettings
from spec.broker.schedule import clamp_level, derive_schedule_queue, is_scheduled
from spec.broker.transaction import derive_half_properties
from spec.layout.record import RecordOrigin, encode_origin, encode_parts, encode_property_text
from spec.layout.record_head import RecordHead
from spec.layout.record_limit import check_size
from spec.layout.record_text import check_texts
from spec.layout.stored_message import Magic
from spec.rejection import Rejection
from spec.values import property as known
from spec.values.checksum import derive_checksum
from spec.values.host import Host
from spec.values.message import parse_delay_level
from spec.values.name import SCHEDULE_TOPIC
from spec.values.property import decode_properties, encode_properties
from spec.values.system_flag import BORN_HOST_IPV6, STORE_HOST_IPV6
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds, QueueId, QueueOffset

_MAGIC: Final = int(Magic.MESSAGE)
_NO_HOST_BITS: Final = ~(BORN_HOST_IPV6 | STORE_HOST_IPV6)
_NO_TIME: Final = Milliseconds(0)
_NO_HALF: Final = CommitLogPosition(0)


class NewMessage(NamedTuple):
    """A message that is to be stored; its properties are the text that will stand in the log."""

    topic: str
    queue_id: QueueId
    body: bytes
    born_host: Host
    store_host: Host
    property_text: str = ""
    flag: int = 0
    system_flag: int = 0
    born_at_ms: Milliseconds = _NO_TIME
    reconsume_times: int = 0
    prepared_position: CommitLogPosition = _NO_HALF
    waits: bool = True
    """Whether the sender waits for the flush: it does unless it said `WAIT=false`."""


def derive_delayed(new: NewMessage, level_count: int) -> NewMessage:
    """The message as it is really stored: in the schedule topic if it is delayed, itself otherwise.

    A level that cannot be read counts as none. Where the message goes later is kept in its properties.

    Clauses: broker.schedule.level-clamped, broker.schedule.only-plain-or-committed,
    broker.schedule.queue-of-level
    """
    if known.DELAY not in new.property_text:
        return new
    properties = decode_properties(new.property_text)
    try:
        asked = parse_delay_level(properties)
    except Rejection:
        return new
    level = clamp_level(asked, level_count)
    if not is_scheduled(level, new.system_flag):
        return new
    kept = derive_half_properties({**properties, known.DELAY: str(level)}, new.topic, new.queue_id)
    return new._replace(
        topic=SCHEDULE_TOPIC, queue_id=derive_schedule_queue(level), property_text=encode_properties(kept)
    )


class Prepared(NamedTuple):
    """A message whose record can be written as soon as its offset, place and time are known."""

    new: NewMessage
    origin: RecordOrigin
    system_flag: int
    properties: bytes
    size: ByteCount

    def head(
        self, queue_offset: QueueOffset, position: CommitLogPosition, stored_at_ms: Milliseconds
    ) -> RecordHead:
        """What the record will say about itself."""
        new = self.new
        return RecordHead(
            self.size,
            new.queue_id,
            queue_offset,
            position,
            self.system_flag,
            stored_at_ms,
            new.topic,
            new.property_text,
        )

    def encode(
        self, queue_offset: QueueOffset, position: CommitLogPosition, stored_at_ms: Milliseconds
    ) -> bytes:
        """The record's bytes.

        Clause: store.record.layout
        """
        new = self.new
        before_hosts = (
            self.size,
            _MAGIC,
            derive_checksum(new.body),
            new.queue_id,
            new.flag,
            queue_offset,
            position,
            self.system_flag,
            new.born_at_ms,
        )
        return encode_parts(
            self.origin,
            before_hosts,
            stored_at_ms,
            (new.reconsume_times, new.prepared_position),
            (new.body, self.properties),
        )


def prepare(new: NewMessage, settings: StoreSettings) -> Prepared:
    """The message with all that is known before its place; refuses what cannot be stored.

    Clauses: store.record.size-limit, store.record.no-zero-in-texts, store.flag.host-bits
    """
    check_texts(new.topic, new.property_text)
    origin = encode_origin(new.topic, new.born_host, new.store_host, _MAGIC)
    properties = encode_property_text(new.property_text)
    size = origin.derive_size(len(new.body), len(properties))
    if size > settings.message_size_limit:
        check_size(size, len(new.body), limit=settings.message_size_limit, rule=settings.size_rule)
    flag = new.system_flag & _NO_HOST_BITS | origin.host_bits
    return Prepared(new, origin, flag, properties, ByteCount(size))
