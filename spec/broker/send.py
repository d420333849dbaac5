"""Sending: what is checked, where the message goes, and what the answer means.

The promise: a message that is answered with 0, 10, 11 or 12 is stored. The last three say that a
promise beyond storing (flushed, replicated) was not kept in time; they are results, not errors,
and a producer that sends again stores the message twice.

Why it can fail: a retry that has used up its attempts must go to the dead-letter topic without
any further delay, but its properties still carry a delay level. Apache 4.9.3 lets the level act,
so the message arrives there late; 5.x clears it, and so does the reference.

What is allowed: the write permission of a topic is not looked at here.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final, NamedTuple

from spec.values.name import SCHEDULE_TOPIC, dead_letter_topic_of, is_topic_legal
from spec.values.property import CLUSTER, DELAY, WAIT
from spec.values.units import QueueId
from spec.wire.code import ResponseCode
from spec.wire.version import is_retry_limit_honoured


class SendTarget(NamedTuple):
    """What the broker knows of the place that a send names; the defaults pass every check."""

    is_broker_writable: bool = True
    is_ordered_topic: bool = False
    has_topic: bool = True
    """False when the topic is missing and the send may not create it."""
    queue_count: int = 4
    """The larger of read and write queues."""
    is_retry_group_known: bool = True
    is_transaction: bool = False
    is_transaction_refused: bool = False


def check_send(target: SendTarget, topic: str, queue_id: int) -> ResponseCode | None:
    """The refusal by the first check that fails, or None when the store is asked.

    Clause: broker.send.guard-order
    """
    checks = (
        (target.is_broker_writable or not target.is_ordered_topic, ResponseCode.NO_PERMISSION),
        (is_topic_legal(topic), ResponseCode.SYSTEM_ERROR),
        (topic != SCHEDULE_TOPIC, ResponseCode.NO_PERMISSION),
        (target.has_topic, ResponseCode.TOPIC_NOT_EXIST),
        (queue_id < target.queue_count, ResponseCode.SYSTEM_ERROR),
        (target.is_retry_group_known, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST),
        (not (target.is_transaction and target.is_transaction_refused), ResponseCode.NO_PERMISSION),
    )
    return next((code for passed, code in checks if not passed), None)


def pick_queue(queue_id: int, write_queue_count: int, draw: int) -> QueueId:
    """The queue a message goes to: the one it names, or by `draw` (not negative) when it names none.

    Clause: broker.send.negative-queue-is-drawn
    """
    return QueueId(draw % max(1, write_queue_count) if queue_id < 0 else queue_id)


class PutStatus(Enum):
    """What the store says about an append."""

    PUT_OK = "PUT_OK"
    FLUSH_DISK_TIMEOUT = "FLUSH_DISK_TIMEOUT"
    FLUSH_SLAVE_TIMEOUT = "FLUSH_SLAVE_TIMEOUT"
    SLAVE_NOT_AVAILABLE = "SLAVE_NOT_AVAILABLE"
    SERVICE_NOT_AVAILABLE = "SERVICE_NOT_AVAILABLE"
    CREATE_FILE_FAILED = "CREATE_MAPEDFILE_FAILED"
    MESSAGE_ILLEGAL = "MESSAGE_ILLEGAL"
    PROPERTIES_SIZE_EXCEEDED = "PROPERTIES_SIZE_EXCEEDED"
    PAGE_CACHE_BUSY = "OS_PAGECACHE_BUSY"
    UNKNOWN_ERROR = "UNKNOWN_ERROR"


_CODES: Final = {
    PutStatus.PUT_OK: ResponseCode.SUCCESS,
    PutStatus.FLUSH_DISK_TIMEOUT: ResponseCode.FLUSH_DISK_TIMEOUT,
    PutStatus.FLUSH_SLAVE_TIMEOUT: ResponseCode.FLUSH_SLAVE_TIMEOUT,
    PutStatus.SLAVE_NOT_AVAILABLE: ResponseCode.SLAVE_NOT_AVAILABLE,
    PutStatus.SERVICE_NOT_AVAILABLE: ResponseCode.SERVICE_NOT_AVAILABLE,
    PutStatus.MESSAGE_ILLEGAL: ResponseCode.MESSAGE_ILLEGAL,
    PutStatus.PROPERTIES_SIZE_EXCEEDED: ResponseCode.MESSAGE_ILLEGAL,
}

STORED: Final = (
    PutStatus.PUT_OK,
    PutStatus.FLUSH_DISK_TIMEOUT,
    PutStatus.FLUSH_SLAVE_TIMEOUT,
    PutStatus.SLAVE_NOT_AVAILABLE,
)
"""The results after which the message is in the log. Clause: broker.send.late-is-stored."""


def derive_code(status: PutStatus) -> ResponseCode:
    """The response code of a store result; whatever has none of its own is a system error.

    Clauses: broker.send.status-code, broker.send.late-is-stored
    """
    return _CODES.get(status, ResponseCode.SYSTEM_ERROR)


def derive_retry_limit(group_limit: int, asked_limit: int | None, client_version: int) -> int:
    """How many retries a message has: its client's own number, if the client is new enough to have one.

    Clause: broker.retry.limit-source
    """
    if asked_limit is None or not is_retry_limit_honoured(client_version):
        return group_limit
    return asked_limit


def is_exhausted(reconsume_times: int, retry_limit: int) -> bool:
    """Whether a message that failed again has no attempt left.

    Clause: broker.retry.exhausted-goes-dead
    """
    return reconsume_times >= retry_limit


class Placement(NamedTuple):
    """Where a send really goes."""

    topic: str
    queue_id: QueueId
    properties: Mapping[str, str]


def place_retry(
    sent: Placement, group: str, reconsume_times: int, retry_limit: int, *, clears_delay: bool = True
) -> Placement:
    """Where a send to a group's retry topic goes: there, or to queue 0 of its dead letters at the limit.

    `clears_delay=False` is Apache 4.9.3, where the delay level still acts on the dead letter.

    Clauses: broker.retry.exhausted-goes-dead, broker.retry.dead-letter-is-not-delayed
    """
    if not is_exhausted(reconsume_times, retry_limit):
        return sent
    kept = {name: value for name, value in sent.properties.items() if name != DELAY or not clears_delay}
    return Placement(dead_letter_topic_of(group), QueueId(0), kept)


def rewrite_properties(properties: Mapping[str, str], cluster: str) -> dict[str, str]:
    """The properties of a plain message as they are stored: with the cluster, without `WAIT`.

    Clause: broker.send.stored-properties
    """
    kept = {name: value for name, value in properties.items() if name != WAIT}
    return {**kept, CLUSTER: cluster}
