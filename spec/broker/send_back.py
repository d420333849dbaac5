"""Send-back: a consumer returns a message that it could not handle.

The promise: when the broker answers success, a copy of the message waits in the group's retry
topic (behind a delay) or rests in its dead letters, one attempt older. Only then may the client
commit past the original, so this answer is a transfer of custody.

Why it can fail: Apache treats a group with no retry queues as "discard failures": it answers
success and stores nothing. That is a setting, not an accident, but a history must say so (hole K4).

What is allowed: the copy has its own queue, offset and message id. What identifies it to users
is the property that names the first one.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spec.broker.send import derive_retry_limit, is_exhausted
from spec.values.name import dead_letter_topic_of, retry_topic_of
from spec.values.property import DELAY, ORIGIN_MESSAGE_ID, RETRY_TOPIC, WAIT
from spec.wire.code import ResponseCode

FIRST_RETRY_LEVEL: Final = 3
"""The level of the first retry, 10 s; each further attempt takes the next level."""


@dataclass(frozen=True, slots=True)
class BackTarget:
    """What the broker knows of the group and the message that a send-back names."""

    has_group: bool = True
    is_broker_writable: bool = True
    retry_queue_count: int = 1
    is_retry_topic_writable: bool = True
    has_message: bool = True


def check_send_back(target: BackTarget) -> ResponseCode | None:
    """The answer without a copy (a refusal, or success for a group that discards failures), or None.

    Clauses: broker.retry.guard-order, broker.retry.no-retry-queue-discards
    """
    checks = (
        (target.has_group, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST),
        (target.is_broker_writable, ResponseCode.NO_PERMISSION),
        (target.retry_queue_count > 0, ResponseCode.SUCCESS),
        (target.is_retry_topic_writable, ResponseCode.NO_PERMISSION),
        (target.has_message, ResponseCode.SYSTEM_ERROR),
    )
    return next((code for passed, code in checks if not passed), None)


def is_dead(reconsume_times: int, retry_limit: int, asked_level: int) -> bool:
    """Whether the message goes to the dead letters: no attempt left, or its client says never again.

    Clauses: broker.retry.exhausted-goes-dead, broker.retry.negative-level-goes-dead
    """
    return is_exhausted(reconsume_times, retry_limit) or asked_level < 0


def derive_retry_level(asked_level: int, reconsume_times: int) -> int:
    """The delay level of the copy: the one asked for, or by 0 the next of the series.

    Clause: broker.retry.level-series
    """
    return asked_level if asked_level > 0 else FIRST_RETRY_LEVEL + reconsume_times


@dataclass(frozen=True, slots=True)
class FailedMessage:
    """What a copy takes from the stored message."""

    topic: str
    reconsume_times: int
    offset_message_id: str
    properties: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Copy:
    """What differs between the copy and the original."""

    topic: str
    reconsume_times: int
    delay_level: int
    properties: Mapping[str, str]


def derive_copy(
    group: str,
    message: FailedMessage,
    asked_level: int,
    group_limit: int,
    *,
    asked_limit: int | None = None,
    client_version: int = 0,
) -> Copy:
    """The copy that is stored for a failed message.

    Clauses: broker.retry.one-attempt-older, broker.retry.origin-kept, broker.retry.dead-letter-is-not-delayed
    """
    limit = derive_retry_limit(group_limit, asked_limit, client_version)
    is_given_up = is_dead(message.reconsume_times, limit, asked_level)
    level = 0 if is_given_up else derive_retry_level(asked_level, message.reconsume_times)
    properties = {
        RETRY_TOPIC: message.topic,
        ORIGIN_MESSAGE_ID: message.offset_message_id,
        **message.properties,
        WAIT: "false",
        DELAY: str(level),
    }
    topic = dead_letter_topic_of(group) if is_given_up else retry_topic_of(group)
    return Copy(topic, message.reconsume_times + 1, level, properties)
