"""The messages of one queue, read from a store's files.

By the queue's units, as a broker would serve them; or, where the units are missing, by reading the
log from end to end and taking what states this queue.
"""

from base64 import b64encode
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from refimpl.store_check.log_walk import RECORD_LIMIT, find_record_behind, walk_piece
from refimpl.store_check.queue_units import QueueUnits
from refimpl.store_check.queues import HALF_BIT
from refimpl.store_check.record_look import RecordReader
from refimpl.store_check.shape import Piece
from refimpl.store_check.source import Source
from spec.layout.body import expand_body
from spec.layout.consume_queue import Unit
from spec.layout.record import decode_record
from spec.layout.record_head import RecordHead
from spec.layout.record_walk import Stop
from spec.layout.stored_message import StoredMessage
from spec.recovery.queue import is_filler
from spec.recovery.state import QueueName
from spec.rejection import Rejection
from spec.values.message_id import MessageId, encode_message_id
from spec.values.system_flag import is_compressed
from spec.wire.fastjson import JsonValue

Row: TypeAlias = dict[str, JsonValue]


class Span(NamedTuple):
    """Which offsets are asked for: from the first up to, not with, `to_offset`."""

    from_offset: int = 0
    to_offset: int | None = None

    def holds(self, offset: int) -> bool:
        """Whether the offset was asked for."""
        return self.from_offset <= offset and (self.to_offset is None or offset < self.to_offset)


class Unreadable(NamedTuple):
    """What cannot be shown: the message of a unit, units behind a hole, or a stretch of the log."""

    place: str
    clause: str
    reason: str


def _derive_body(record: StoredMessage) -> Row:
    """The body as text or base64, expanded where it can be."""
    body, note = record.body, None
    if is_compressed(record.system_flag):
        try:
            body = expand_body(record.body, record.system_flag)
            note = f"expanded from {len(record.body)} bytes to {len(body)}"
        except Rejection as refusal:
            note = f"compressed: {refusal.reason} [{refusal.clause}]"
    try:
        return {"bodyKind": "text", "bodyNote": note, "body": body.decode("utf-8")}
    except UnicodeDecodeError:
        return {"bodyKind": "base64", "bodyNote": note, "body": b64encode(body).decode("ascii")}


def derive_row(record: StoredMessage) -> Row:
    """A message for a program: one JSON object."""
    message = record.message()
    return {
        "queueOffset": record.queue_offset,
        "commitLogPosition": record.position,
        "size": record.size,
        "topic": record.topic,
        "queueId": record.queue_id,
        "offsetMessageId": encode_message_id(MessageId(record.store_host, record.position)),
        "bornAtMs": record.born_at_ms,
        "bornHost": str(record.born_host),
        "storedAtMs": record.stored_at_ms,
        "storeHost": str(record.store_host),
        "flag": record.flag,
        "sysFlag": record.system_flag,
        "reconsumeTimes": record.reconsume_times,
        "preparedPosition": record.prepared_position,
        "uniqueId": message.unique_id,
        "keys": list(message.keys),
        "tag": message.tag,
        "properties": {**message.properties},
        **_derive_body(record),
    }


def derive_place(offset: int, position: int) -> str:
    """Where a message should be, in words."""
    return f"offset {offset}, position {position}"


class QueueDump:
    """Reads messages of one queue out of the log's files."""

    def __init__(self, source: Source, name: QueueName, pieces: Sequence[Piece]) -> None:
        """Nothing was read yet."""
        self._source = source
        self._name = name
        self._pieces = pieces

    def iter_by_units(self, units: QueueUnits, span: Span) -> Iterator[StoredMessage | Unreadable]:
        """The messages to which the queue's units lead, up to the first unit that is not written."""
        start = max(span.from_offset, units.first_offset)
        end = units.find_end(start)
        if span.to_offset is not None:
            end = min(end, span.to_offset)
        for offset, unit in units.iter_units(start, end):
            if not is_filler(unit):
                yield self._read(offset, unit)
        stale = units.find_stale(end) if span.holds(end) else None
        if stale is not None:
            reason = f"the unit is not written, and behind it {stale[0]} goes on at byte {stale[1]}"
            yield Unreadable(f"offset {end}", "recovery.queue.ends-at-first-unwritten", reason)

    def iter_by_log(self, span: Span) -> Iterator[StoredMessage | Unreadable]:
        """The messages of the log that state this queue; damage costs one record, or the rest of its file."""
        reader = RecordReader()
        for piece in self._pieces:
            first: int | None = 0
            while first is not None:
                place, first = first, None
                for look in walk_piece(self._source, reader, piece, lambda _size: None, place):
                    if isinstance(look, Stop):
                        first = find_record_behind(self._source, reader, piece, look.at)
                        if look.refusal is not None and (first is not None or piece is not self._pieces[-1]):
                            yield self._lost(piece, look.at, look.refusal, first)
                    elif self._is_asked(look, span):
                        yield self._decode(look.queue_offset, look.position, look.size)

    def _is_asked(self, look: RecordHead, span: Span) -> bool:
        is_own = (look.topic, look.queue_id) == self._name and not look.system_flag & HALF_BIT
        return is_own and span.holds(look.queue_offset)

    def _lost(self, piece: Piece, at: int, refusal: Rejection, behind: int | None) -> Unreadable:
        """A stretch of the log that may hold messages of any queue."""
        end = piece.size if behind is None else behind
        place = f"{piece.path}, byte {at} to {end}"
        return Unreadable(place, refusal.clause, refusal.reason)

    def _read(self, offset: int, unit: Unit) -> StoredMessage | Unreadable:
        """The message of a unit, if the unit leads to it."""
        found = self._decode(offset, unit.position, unit.size)
        if isinstance(found, Unreadable):
            return found
        stated = (found.topic, found.queue_id, found.queue_offset)
        if stated == (*self._name, offset):
            return found
        reason = f"the unit leads to a message of queue {found.queue_id} of {found.topic}, offset {stated[2]}"
        place = derive_place(offset, unit.position)
        return Unreadable(place, "guarantee.sto.one-message-per-offset", reason)

    def _decode(self, offset: int, position: int, size: int) -> StoredMessage | Unreadable:
        place = derive_place(offset, position)
        piece = next((piece for piece in self._pieces if piece.start <= position < piece.end), None)
        if piece is None:
            reason = f"no log file holds position {position}"
            return Unreadable(place, "recovery.queue.min-offset", reason)
        data = self._source.read(piece.path, position - piece.start, min(size, RECORD_LIMIT))
        try:
            record = decode_record(data, accept_v2=True)
        except Rejection as refusal:
            return Unreadable(place, refusal.clause, refusal.reason)
        if record.position == position:
            return record
        reason = f"the record states position {record.position}"
        return Unreadable(place, "recovery.log.record-states-its-place", reason)
