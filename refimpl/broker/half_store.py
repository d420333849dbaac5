"""Half messages: how they are stored, and what becomes of one that is decided.

Messages of the half topic are ordinary ones in an ordinary queue. A copy of a half message, made so
that the cursor of the checks may pass the old place, says where the first one stood, and so does an
operation record. By this a broker knows all copies of one half message as one, whatever place its
producer was told. It stands in the field of the prepared position, which Apache leaves zero there
and does not look at; as its complement, which is never zero.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from refimpl.broker.recorder import Recorder
from refimpl.broker.renewal import renew
from refimpl.message_identity import derive_identity
from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.message_store import MessageStore
from refimpl.store.new_message import NewMessage
from spec.broker.transaction import (
    OPERATION_TAG,
    Half,
    derive_half_properties,
    derive_undelayed,
    encode_operation,
)
from spec.history.kind import Kind
from spec.layout.record_head import RecordHead
from spec.layout.stored_message import StoredMessage
from spec.rejection import Rejection
from spec.values.host import Host
from spec.values.java_literal import decode_int32
from spec.values.message_id import MessageId, encode_message_id
from spec.values.name import CHECK_EXCEEDED_TOPIC, HALF_TOPIC, OPERATION_TOPIC
from spec.values.property import PRODUCER_GROUP, REAL_QUEUE_ID, REAL_TOPIC, TAGS, encode_properties
from spec.values.system_flag import TransactionType, with_transaction_type
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset

HALF_QUEUE: Final = QueueId(0)
"""The half topic, that of the operation records and that of exceeded checks have one queue each."""


def derive_family(half: StoredMessage) -> CommitLogPosition:
    """Where the first of all copies of this half message stands."""
    named = decode_family(half.prepared_position)
    return half.position if named is None else named


def encode_family(family: CommitLogPosition) -> CommitLogPosition:
    """The place of a first copy, as the field of the prepared position has it."""
    return CommitLogPosition(~family)


def decode_family(prepared_position: CommitLogPosition) -> CommitLogPosition | None:
    """The place of a first copy; None where the field names none."""
    return CommitLogPosition(~prepared_position) if prepared_position < 0 else None


def derive_place(half: StoredMessage) -> Half:
    """What a decision is compared with."""
    return Half(half.properties().get(PRODUCER_GROUP, ""), half.queue_offset, half.position)


def derive_half_identity(half: StoredMessage) -> str:
    """The name of a half message, which its copies share."""
    first_id = encode_message_id(MessageId(half.store_host, derive_family(half)))
    return derive_identity(half.properties(), 0, first_id).message


def derive_half_copy(half: StoredMessage, property_text: str) -> NewMessage:
    """The half message for a new place in its queue."""
    copy = renew(half, HALF_TOPIC, HALF_QUEUE, property_text)
    return copy._replace(prepared_position=encode_family(derive_family(half)))


def derive_exceeded(half: StoredMessage) -> NewMessage:
    """The half message for the topic of those that nobody decided."""
    return renew(half, CHECK_EXCEEDED_TOPIC, HALF_QUEUE)


def derive_final(half: StoredMessage) -> NewMessage:
    """The committed message for its real topic; refuses a half message that does not say where it belongs.

    Clause: broker.transaction.final-message
    """
    properties = half.properties()
    topic = properties.get(REAL_TOPIC)
    if topic is None:
        raise Rejection("broker.transaction.final-message", 0, "the half message names no real topic")
    final = renew(half, topic, decode_int32(properties.get(REAL_QUEUE_ID, "")))
    return final._replace(
        system_flag=with_transaction_type(half.system_flag, TransactionType.COMMIT),
        prepared_position=half.position,
    )


def derive_operation(half: StoredMessage, offset: int, kind: int, host: Host, now_ms: int) -> NewMessage:
    """The operation record for a half message whose newest copy has this queue offset.

    Two fields that nobody else reads say how it was decided, and where its first copy stands: so the
    record counts for every copy, also after a restart.

    Clause: broker.transaction.operation-record
    """
    return NewMessage(
        OPERATION_TOPIC,
        HALF_QUEUE,
        encode_operation(offset),
        host,
        host,
        encode_properties({TAGS: OPERATION_TAG}),
        flag=kind,
        born_at_ms=Milliseconds(now_ms),
        prepared_position=encode_family(derive_family(half)),
    )


class HalfStore:
    """The half topic of one broker."""

    def __init__(self, store: MessageStore, recorder: Recorder, host: Host) -> None:
        self._store = store
        self._recorder = recorder
        self._host = host
        self._copies: set[QueueOffset] = set()
        """Offsets of copies that nobody can read yet."""

    def prepare(self, new: NewMessage, properties: Mapping[str, str]) -> NewMessage:
        """The half message that is stored in place of a prepared one.

        Clauses: broker.transaction.half-is-hidden, broker.transaction.delay-is-ignored
        """
        kept = derive_half_properties(derive_undelayed(properties), new.topic, new.queue_id)
        return new._replace(
            topic=HALF_TOPIC,
            queue_id=HALF_QUEUE,
            property_text=encode_properties(kept),
            system_flag=with_transaction_type(new.system_flag, TransactionType.NONE),
        )

    def read(self, position: int) -> StoredMessage | None:
        """The half message at a position of the log; None if there is no message, or another one."""
        stored = self._store.query.by_position(position)
        return stored if stored is not None and stored.topic == HALF_TOPIC else None

    @property
    def queue(self) -> ConsumeQueue:
        """The queue of the half topic."""
        return self._store.queue(HALF_TOPIC, HALF_QUEUE)

    @property
    def end(self) -> QueueOffset:
        """The offset that the next half message gets, whether those before it can be read or not."""
        return self._store.queues.next_offsets.get((HALF_TOPIC, HALF_QUEUE), self.queue.max_offset)

    def expect_copy(self) -> QueueOffset:
        """The offset at which a copy will stand if it is stored now; it is no new half message."""
        self._copies.add(self.end)
        return self.end

    def forget_copy(self, offset: QueueOffset) -> None:
        """The copy was not stored."""
        self._copies.discard(offset)

    def on_arrivals(self, arrived: Sequence[RecordHead], now_ms: int) -> None:
        """The history knows the half messages that are stored, as durably as the store promises."""
        if not (self._copies or self._recorder.is_on):
            return
        for head in arrived:
            if head.topic != HALF_TOPIC:
                continue
            if head.queue_offset in self._copies:
                self._copies.remove(head.queue_offset)
                continue
            if not self._recorder.is_on:
                continue
            offset_id = encode_message_id(MessageId(self._host, head.position))
            event = self._recorder.event(Kind.HALF, now_ms)._replace(
                offset=head.queue_offset,
                message=derive_identity(head.properties(), 0, offset_id).message,
                position=head.position,
            )
            self._recorder.add(event)
