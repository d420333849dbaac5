"""What a broker hands to the store, and how it becomes the bytes of a record.

Everything but queue offset, place and time is known before the append, so the record is encoded
first and finished when the log has said where it stands.
"""

from typing import Final, NamedTuple

from spec.broker.schedule import clamp_level, derive_schedule_queue, is_scheduled
from spec.broker.transaction import derive_half_properties
from spec.layout.record import encode_sized
from spec.layout.record_limit import SizeRule, check_size
from spec.layout.record_text import check_texts
from spec.layout.stored_message import Magic, StoredMessage
from spec.rejection import Rejection
from spec.values import property as known
from spec.values.checksum import derive_checksum
from spec.values.host import Host
from spec.values.message import parse_delay_level
from spec.values.name import SCHEDULE_TOPIC
from spec.values.property import decode_properties, encode_properties
from spec.values.system_flag import has_queue_entry, with_host_bits
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds, QueueId, QueueOffset

_UNKNOWN_OFFSET: Final = QueueOffset(0)
_UNKNOWN_POSITION: Final = CommitLogPosition(0)
_UNKNOWN_TIME: Final = Milliseconds(0)
_UNKNOWN_SIZE: Final = ByteCount(0)
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
    born_at_ms: Milliseconds = _UNKNOWN_TIME
    reconsume_times: int = 0
    prepared_position: CommitLogPosition = _NO_HALF
    waits: bool = True
    """Whether the sender waits for the flush: it does unless it said `WAIT=false`."""

    @property
    def has_queue_entry(self) -> bool:
        """Whether the message gets a unit and moves its queue on."""
        return has_queue_entry(self.system_flag)


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


def encode_new(new: NewMessage, limit: ByteCount, rule: SizeRule) -> bytes:
    """The record's bytes, with zeros where offset, place and time will stand; refuses what cannot be stored.

    Clauses: store.record.size-limit, store.record.no-zero-in-texts, store.flag.host-bits
    """
    check_texts(new.topic, new.property_text)
    flag = with_host_bits(new.system_flag, born_ipv6=new.born_host.is_ipv6, store_ipv6=new.store_host.is_ipv6)
    data = encode_sized(
        StoredMessage(
            _UNKNOWN_SIZE,
            Magic.MESSAGE,
            derive_checksum(new.body),
            new.queue_id,
            new.flag,
            _UNKNOWN_OFFSET,
            _UNKNOWN_POSITION,
            flag,
            new.born_at_ms,
            new.born_host,
            _UNKNOWN_TIME,
            new.store_host,
            new.reconsume_times,
            new.prepared_position,
            new.body,
            new.topic,
            new.property_text,
        )
    )
    check_size(len(data), len(new.body), limit=limit, rule=rule)
    return data
