"""Transactions: a half message that nobody sees until its producer has decided.

The promise: a half message is resolved (committed or rolled back), or it will be checked again,
or it has visibly exceeded its limits. No cursor passes it otherwise.

How it works: the half message is stored in a topic of its own. A decision stores the final message
(on commit) and then an operation record that names the half message's queue offset. A check round
walks the half topic; what has no operation record and is old enough is asked for. Before asking,
the half message is appended once more, so that the cursor may pass the old place: the new place is
what the producer is told, and what a later round will find.

Why it can fail: the same time predicate evaluated twice with two clock reads can say "still immune"
and then "no longer immune, nothing to do"; the cursor moves and the transaction is forgotten. So a
round reads the clock once and every rule here gets that one `now`.

What is allowed: a check for a message whose decision arrives at the same moment; the second decision
finds the half message by its new place and is stored again. Producers and consumers must bear that.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Final, NamedTuple

from spec.rejection import Rejection
from spec.values.property import DELAY, REAL_QUEUE_ID, REAL_TOPIC, TRANSACTION_PREPARED_QUEUE_OFFSET
from spec.values.system_flag import TransactionType
from spec.values.units import Milliseconds, QueueOffset
from spec.wire.code import ResponseCode

CHECK_LIMIT: Final = 15
"""Apache's `transactionCheckMax`: checks before a half message is given up."""

AGE_LIMIT_MS: Final = Milliseconds(72 * 3_600_000)
"""Half messages older than the log's retention (72 h) are given up."""

IMMUNITY_MS: Final = Milliseconds(6_000)
"""Apache's `transactionTimeOut`: nobody is asked about a younger half message."""

CHECK_PERIOD_MS: Final = Milliseconds(60_000)
"""Apache's `transactionCheckInterval`."""

OPERATION_BATCH: Final = 32
"""Operation records that a round reads at a time."""

_OFFSET_DIGITS: Final = 18
"""Digits of the largest queue offset that is read; no queue has come anywhere near it."""

_SECONDS_DIGITS: Final = 18
"""More digits of seconds do not fit in 64 bits, so Java would not read them as a number."""

OPERATION_SEPARATOR: Final = b","
"""Stands between the offsets in an operation record of 5.x; one of 4.9.x names one offset."""

OPERATION_TAG: Final = "d"
"""The tag of an operation record: this half message is done."""


def derive_half_properties(properties: Mapping[str, str], topic: str, queue_id: int) -> dict[str, str]:
    """The properties of a half message: where it will go is kept in them.

    Clause: broker.transaction.half-is-hidden
    """
    return {**properties, REAL_TOPIC: topic, REAL_QUEUE_ID: str(queue_id)}


def derive_undelayed(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties of a message that becomes a half message: without a delay level.

    Clause: broker.transaction.delay-is-ignored
    """
    return {name: value for name, value in properties.items() if name != DELAY}


class Half(NamedTuple):
    """What a decision is compared with: the half message as it was stored."""

    producer_group: str
    queue_offset: int
    log_position: int


class Decision(NamedTuple):
    """What a producer says about its half message."""

    producer_group: str
    queue_offset: int
    log_position: int
    kind: int


def check_decision(decision: Decision, half: Half | None, *, is_slave: bool = False) -> ResponseCode | None:
    """The refusal of a decision, or None when it is carried out (or, for "unknown", ignored).

    Clauses: broker.transaction.decision-matches-half, broker.transaction.slave-refuses
    """
    if is_slave:
        return ResponseCode.SLAVE_NOT_AVAILABLE
    if decision.kind == TransactionType.NONE:
        return None
    is_same = half is not None and decision[:3] == tuple(half)
    return None if is_same else ResponseCode.SYSTEM_ERROR


class Resolution(Enum):
    """What a decision makes the broker do, in this order."""

    IGNORE = "ignore"
    STORE_THEN_FINISH = "store the final message, then the operation record"
    FINISH = "store the operation record"


def derive_resolution(kind: int) -> Resolution | None:
    """What an accepted decision leads to; None for a number that is no decision.

    Clauses: broker.transaction.commit-stores-first, broker.transaction.unknown-is-ignored
    """
    return {
        int(TransactionType.NONE): Resolution.IGNORE,
        int(TransactionType.COMMIT): Resolution.STORE_THEN_FINISH,
        int(TransactionType.ROLLBACK): Resolution.FINISH,
    }.get(kind)


def encode_operation(half_offset: int) -> bytes:
    """The body of an operation record: the half message's queue offset in decimal.

    Clause: broker.transaction.operation-record
    """
    return str(half_offset).encode()


def decode_operation(body: bytes) -> tuple[QueueOffset, ...]:
    """The half messages that an operation record names: one, or several in a record of 5.x.

    Clause: broker.transaction.operation-record
    """
    pieces = body.split(OPERATION_SEPARATOR)
    for piece in pieces:
        if not piece.isdigit() or len(piece) > _OFFSET_DIGITS:
            reason = f"{piece[:24]!r} is not the queue offset of a half message"
            raise Rejection("broker.transaction.operation-record", 0, reason)
    return tuple(QueueOffset(int(piece)) for piece in pieces)


class Step(Enum):
    """What a check round does with the half message at its cursor."""

    SKIP = "decided: pass it"
    GIVE_UP = "move it to the topic of exceeded checks, then pass it"
    STOP = "too young: end the round here"
    DEFER = "immune by its own wish: append it again, then pass it"
    CHECK = "append it again, then ask a producer and pass it"
    READ_ON = "the operation records read so far do not decide: read more, stay"


_PASSING: Final = (Step.SKIP, Step.GIVE_UP, Step.DEFER, Step.CHECK)


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """How long half messages are left alone, and when they are given up; the defaults are Apache's."""

    immunity_ms: int = IMMUNITY_MS
    check_count: int = CHECK_LIMIT
    age_ms: int = AGE_LIMIT_MS


APACHE_LIMITS: Final = CheckLimits()


@dataclass(frozen=True, slots=True)
class HalfState:
    """What a round knows of one half message; all times by the broker's clock except the birth."""

    born_at_ms: int
    stored_at_ms: int
    check_times: int = 0
    immunity_ms: int | None = None
    """The message's own immunity, if it asked for one."""
    is_decided: bool = False
    """An operation record that names it has been read: see `is_half_decided`."""


class Round(NamedTuple):
    """A check round: one clock reading, and what is known of the operation records."""

    started_at_ms: int
    now_ms: int
    newest_operation_born_ms: int | None = None
    """Birth of the last operation record of the last read; None when that read found none."""


def is_given_up(half: HalfState, now_ms: int, limits: CheckLimits = APACHE_LIMITS) -> bool:
    """Whether a half message has used up its checks or its time.

    Clause: broker.transaction.limits
    """
    return half.check_times >= limits.check_count or now_ms - half.born_at_ms > limits.age_ms


def is_check_needed(
    half: HalfState, current: Round, immunity_ms: int, limits: CheckLimits = APACHE_LIMITS
) -> bool:
    """Whether the operation records read so far suffice to say that the half message is undecided.

    Clauses: broker.transaction.check-needed, broker.transaction.no-check-before-records
    """
    age_ms = current.now_ms - half.born_at_ms
    if current.newest_operation_born_ms is None:
        return age_ms > immunity_ms or age_ms < 0
    return age_ms < 0 or current.newest_operation_born_ms - current.started_at_ms > limits.immunity_ms


def is_too_young(half: HalfState, current: Round, limits: CheckLimits = APACHE_LIMITS) -> bool:
    """Whether a round ends in front of the half message: stored after its start, or within the immunity.

    Clause: broker.transaction.immunity
    """
    is_immune = half.immunity_ms is None and 0 <= current.now_ms - half.born_at_ms < limits.immunity_ms
    return is_immune or half.stored_at_ms >= current.started_at_ms


def decide_check(half: HalfState, current: Round, limits: CheckLimits = APACHE_LIMITS) -> Step:
    """What a round does with one half message.

    Clauses: broker.transaction.immunity, broker.transaction.limits, broker.transaction.check-needed
    """
    if half.is_decided:
        return Step.SKIP
    if is_given_up(half, current.now_ms, limits):
        return Step.GIVE_UP
    if is_too_young(half, current, limits):
        return Step.STOP
    if half.immunity_ms is not None and current.now_ms - half.born_at_ms < half.immunity_ms:
        return Step.DEFER
    immunity_ms = limits.immunity_ms if half.immunity_ms is None else half.immunity_ms
    if is_check_needed(half, current, immunity_ms, limits):
        return Step.CHECK
    # With one clock reading a round, a half message at the very end of its immunity waits for the next one.
    return Step.STOP if current.newest_operation_born_ms is None else Step.READ_ON


def advance_half_cursor(cursor: int, step: Step, *, is_stored: bool) -> QueueOffset:
    """The half topic's cursor after a step; it passes a half message only when what replaces it is stored.

    `is_stored` says whether the append that the step asks for (if any) was acknowledged.

    Clause: broker.transaction.cursor-passes-nothing-open
    """
    needs_append = step in (Step.GIVE_UP, Step.DEFER, Step.CHECK)
    is_passed = step in _PASSING and (is_stored or not needs_append)
    return QueueOffset(cursor + 1 if is_passed else cursor)


def derive_check_times(check_times: int, step: Step, *, counts_deferral: bool = False) -> int:
    """The number of checks that the copy of a half message carries after a step.

    Apache 4.9.x also counts a deferral (`counts_deferral`), so a half message that asks for a long
    immunity is given up after fifteen rounds without anybody having been asked.

    Clause: broker.transaction.checks-counted
    """
    is_counted = step is Step.CHECK or (counts_deferral and step is Step.DEFER)
    return check_times + 1 if is_counted else check_times


def derive_deferred_properties(properties: Mapping[str, str], queue_offset: int) -> dict[str, str]:
    """The properties of a deferred copy: they name the place that the producer was told.

    Clause: broker.transaction.deferred-keeps-place
    """
    return {TRANSACTION_PREPARED_QUEUE_OFFSET: str(queue_offset), **properties}


def is_half_decided(queue_offset: int, told_offset: int | None, decided: Collection[int]) -> bool:
    """Whether an operation record names the half message, by its place or the place its producer knows.

    `decided` are the queue offsets that operation records name; `told_offset` is the place in the
    properties of a deferred copy, None for any other half message.

    Clauses: broker.transaction.no-check-before-records, broker.transaction.deferred-keeps-place
    """
    return queue_offset in decided or (told_offset is not None and told_offset in decided)


def advance_operation_cursor(cursor: int, finished: frozenset[int]) -> QueueOffset:
    """The operation topic's cursor: past the unbroken run of records that are not needed any more.

    A record is finished when the half message that it names was passed, except by a deferral: the
    deferred copy still needs it. Apache 4.9.x forgets the record all the same and asks again.

    Clause: broker.transaction.operation-cursor
    """
    while cursor in finished:
        cursor += 1
    return QueueOffset(cursor)


def derive_immunity_ms(text: str | None, broker_immunity_ms: int = IMMUNITY_MS) -> Milliseconds | None:
    """The immunity a message asks for by its property (in seconds); None when it has no such property.

    A text that is no number, or a negative one, asks for the broker's own immunity time.

    Clause: broker.transaction.own-immunity
    """
    if text is None:
        return None
    is_number = text.isascii() and text.isdigit() and len(text) <= _SECONDS_DIGITS
    return Milliseconds(int(text) * 1000 if is_number else broker_immunity_ms)
