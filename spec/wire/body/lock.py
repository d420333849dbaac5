"""Queues that an orderly consumer locks and unlocks at their broker, many at a time."""

from dataclasses import field

from spec.values.message_queue import MessageQueue
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.header.codec import wire_name


@json_record
class LockBatchBody(JsonRecord):
    """Whose queues shall be locked, or unlocked: both requests have this shape."""

    client_id: str
    consumer_group: str
    mq_set: frozenset[MessageQueue] = frozenset()


@json_record
class LockBatchResponseBody(JsonRecord):
    """The queues that the client now holds; none is an answer too."""

    lock_ok_mq_set: frozenset[MessageQueue] = field(default=frozenset(), metadata=wire_name("lockOKMQSet"))
