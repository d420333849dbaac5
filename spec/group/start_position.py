"""Where a tenure starts to read.

The broker is asked what the group has committed, and the answer is one of three different things:
a value, "none", or a failure. A value is where to go on. Only "none" lets the client's own policy
decide (the end, the beginning, a point in time), because only then has the group no history. A
failure decides nothing: the queue is not acquired and the question is asked again at the next
pass. Apache 4.9.x takes every error answer for "none"; with the default policy a busy broker then
moves the group to the end of the queue and everything in between is lost. The reference does not;
`error_means_none` stands for the other choice.

A retry topic starts at 0, except under the timestamp policy, where Apache starts it at the end.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.values.units import Milliseconds, QueueOffset
from spec.wire.code import ResponseCode

NONE_VALUE: Final = -1
"""How Apache writes "none" where an offset is expected."""


class StartPolicy(Enum):
    """The client's `consumeFromWhere`; three old values act like the first."""

    LAST_OFFSET = "CONSUME_FROM_LAST_OFFSET"
    LAST_OFFSET_AND_MIN_AT_FIRST_BOOT = "CONSUME_FROM_LAST_OFFSET_AND_FROM_MIN_WHEN_BOOT_FIRST"
    MIN_OFFSET = "CONSUME_FROM_MIN_OFFSET"
    MAX_OFFSET = "CONSUME_FROM_MAX_OFFSET"
    FIRST_OFFSET = "CONSUME_FROM_FIRST_OFFSET"
    TIMESTAMP = "CONSUME_FROM_TIMESTAMP"


@dataclass(frozen=True, slots=True)
class Stored:
    """The group has committed this offset."""

    offset: QueueOffset


@dataclass(frozen=True, slots=True)
class NothingStored:
    """The group has committed nothing for the queue, and somebody who knows said so."""


@dataclass(frozen=True, slots=True)
class QueryFailed:
    """Nobody knows: the broker refused, did not answer (no code), or answered nonsense."""

    code: int | None


StoredAnswer = Stored | NothingStored | QueryFailed


@dataclass(frozen=True, slots=True)
class StartAt:
    """Read from this offset."""

    offset: QueueOffset


@dataclass(frozen=True, slots=True)
class AskMaximum:
    """Ask the broker for the end of the queue and read from there."""


@dataclass(frozen=True, slots=True)
class AskByTimestamp:
    """Ask the broker which offset belongs to this time and read from there."""

    timestamp_ms: Milliseconds


class Obstacle(Enum):
    """Why a queue cannot be acquired now."""

    QUERY_FAILED = "it is not known what the group has committed"
    QUESTION_FAILED = "the broker did not say where the end, or the time, is"
    POLICY_UNKNOWN = "the policy is known to push consumers only"


@dataclass(frozen=True, slots=True)
class DoNotAcquire:
    """Leave the queue alone until the next pass."""

    obstacle: Obstacle


Start = StartAt | AskMaximum | AskByTimestamp | DoNotAcquire


def classify_answer(code: int | None, offset: int | None, *, error_means_none: bool = False) -> StoredAnswer:
    """What an answer to the offset query says; `code` is None if there was no answer at all.

    Clause: group.start-position.error-is-not-none
    """
    if code is None:
        return QueryFailed(None)
    if code == ResponseCode.SUCCESS and offset is not None and offset >= 0:
        return Stored(QueueOffset(offset))
    if code == ResponseCode.QUERY_NOT_FOUND or (error_means_none and code != ResponseCode.SUCCESS):
        return NothingStored()
    if error_means_none and offset == NONE_VALUE:
        return NothingStored()
    return QueryFailed(code)


def derive_start(
    policy: StartPolicy,
    answer: StoredAnswer,
    timestamp_ms: Milliseconds,
    *,
    is_retry_topic: bool,
    is_push: bool = True,
) -> Start:
    """Where to start, by the stored answer first and by the policy only if there is none.

    Clauses: group.start-position.stored-wins, group.start-position.policy-table,
    group.start-position.error-is-not-none
    """
    match answer:
        case Stored(offset):
            return StartAt(offset)
        case QueryFailed():
            return DoNotAcquire(Obstacle.QUERY_FAILED)
        case NothingStored():
            return _derive_first_start(policy, timestamp_ms, is_retry_topic=is_retry_topic, is_push=is_push)


def _derive_first_start(
    policy: StartPolicy, timestamp_ms: Milliseconds, *, is_retry_topic: bool, is_push: bool
) -> Start:
    beginning = StartAt(QueueOffset(0))
    match policy:
        case StartPolicy.FIRST_OFFSET:
            return beginning
        case StartPolicy.TIMESTAMP:
            return AskMaximum() if is_retry_topic else AskByTimestamp(timestamp_ms)
        case StartPolicy.LAST_OFFSET:
            return beginning if is_retry_topic else AskMaximum()
        case StartPolicy.LAST_OFFSET_AND_MIN_AT_FIRST_BOOT | StartPolicy.MIN_OFFSET | StartPolicy.MAX_OFFSET:
            if not is_push:
                return DoNotAcquire(Obstacle.POLICY_UNKNOWN)
            return beginning if is_retry_topic else AskMaximum()


def derive_asked_start(code: int | None, offset: int | None) -> StartAt | DoNotAcquire:
    """Where to start after the broker was asked for the end or for a time; an error acquires nothing.

    Clause: group.start-position.asked-error-skips
    """
    if code == ResponseCode.SUCCESS and offset is not None and offset >= 0:
        return StartAt(QueueOffset(offset))
    return DoNotAcquire(Obstacle.QUESTION_FAILED)
