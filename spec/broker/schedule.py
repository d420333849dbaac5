"""Delayed messages: eighteen queues, one a level, and a cursor on each.

The promise: a message with delay level L is stored to its real topic not before its store time
plus the delay of L, and no delayed message is lost. Within a level all delays are equal, so the
queue of a level is sorted by due time and its head is always the next one due.

Why it can fail: the cursor of a level is a commit. If it passes a message whose delivery was
refused, the message is gone; if it never passes a message that the store refuses for good,
everything behind waits for ever, and level 3 is the first retry of every group. A clock that
went back leaves due times far ahead; a file that lost its tail leaves a cursor beyond the end.

What is allowed: delivering late, delivering twice after a restart (the cursor on disk is some
seconds old), and giving a message up only visibly, by a notice that was itself stored.
"""

import re
from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.broker.send import STORED, PutStatus
from spec.rejection import Rejection
from spec.values.message import derive_due_at
from spec.values.name import (
    RETRY_PREFIX,
    SCHEDULE_REFUSED_TOPIC,
    dead_letter_topic_of,
    is_retry_topic,
)
from spec.values.system_flag import TransactionType, transaction_type
from spec.values.units import Milliseconds, QueueId, QueueOffset

LEVEL_TEXT: Final = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
"""Apache's default `messageDelayLevel`."""

UNIT_MS: Final = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}

POLL_MS: Final = Milliseconds(100)
"""Pause of a level whose head is not due, whose queue ended, or whose delivery was refused."""

ERROR_PAUSE_MS: Final = Milliseconds(10_000)
"""Pause of a level after an unexpected error."""

REFUSAL_LIMIT: Final = 16
"""Refusals of one message by a writable store before it is diverted; a decision: as many as a retry has."""

_LEVEL: Final = re.compile(r"([0-9]{1,9})([smhd])", re.ASCII)


def parse_levels(text: str) -> tuple[Milliseconds, ...]:
    """The delay of each level in order, level 1 first.

    Clause: broker.schedule.level-text
    """
    delays: list[Milliseconds] = []
    position = 0
    for piece in text.split(" "):
        level = _LEVEL.fullmatch(piece)
        if level is None:
            reason = f"{piece!r} is not a delay: expected a number and one of s, m, h, d, as in '10s'"
            raise Rejection("broker.schedule.level-text", position, reason)
        delays.append(Milliseconds(int(level[1]) * UNIT_MS[level[2]]))
        position += len(piece) + 1
    return tuple(delays)


DELAY_LEVELS: Final = parse_levels(LEVEL_TEXT)
"""The delays of levels 1 to 18; level L stands at index L - 1. Clause: broker.schedule.eighteen-levels."""

LEVEL_COUNT: Final = len(DELAY_LEVELS)


def clamp_level(level: int, level_count: int = LEVEL_COUNT) -> int:
    """The level that is really used: 0 (or less) is no delay, too high is the highest.

    Clause: broker.schedule.level-clamped
    """
    return max(0, min(level, level_count))


def is_scheduled(level: int, system_flag: int) -> bool:
    """Whether the store sends the message through the schedule topic.

    Prepared (4) and rollback (12) messages never are: their target is not decided yet.

    Clause: broker.schedule.only-plain-or-committed
    """
    return level > 0 and transaction_type(system_flag) in (TransactionType.NONE, TransactionType.COMMIT)


def derive_schedule_queue(level: int) -> QueueId:
    """The queue of the schedule topic that holds a (clamped, positive) level.

    Clause: broker.schedule.queue-of-level
    """
    return QueueId(level - 1)


def derive_delay_ms(level: int, delays: tuple[Milliseconds, ...] = DELAY_LEVELS) -> Milliseconds:
    """How long a level waits: the highest one above the table, one second where there is no level.

    Clause: broker.schedule.due-time
    """
    return derive_due_at(level, 0, delays)


def derive_due_ms(
    level: int, store_time_ms: int, delays: tuple[Milliseconds, ...] = DELAY_LEVELS
) -> Milliseconds:
    """When a message of a positive level may be delivered; kept as the tag code of its queue unit.

    Clause: broker.schedule.due-time
    """
    return derive_due_at(level, store_time_ms, delays)


def is_due(due_ms: int, now_ms: int, delay_ms: int) -> bool:
    """Whether the head of a level is delivered now.

    A due time further ahead than a fresh message of this level could have was written under
    another clock; waiting for it would stop the level, so it counts as due.

    Clauses: broker.schedule.not-before-due, broker.schedule.impossible-due-counts
    """
    return due_ms <= now_ms or due_ms > now_ms + delay_ms


class Delivery(Enum):
    """What became of the message at a level's cursor."""

    STORED = "stored"
    """The store acknowledged the message in its real topic."""
    UNREADABLE = "unreadable"
    """Its bytes are gone from the log."""
    HALF = "half"
    """Its real topic is the half topic: discarded, as a half message is never delayed."""
    UNAVAILABLE = "unavailable"
    """The store takes nothing at present."""
    REFUSED = "refused"
    """The store takes messages, but not this one."""
    DIVERTED = "diverted"
    """A notice of the refused message was stored where people look for it."""


_REFUSALS: Final = (PutStatus.MESSAGE_ILLEGAL, PutStatus.PROPERTIES_SIZE_EXCEEDED)
"""The results that are about the message; whatever else stops an append is about the store."""


def derive_delivery(status: PutStatus) -> Delivery | None:
    """What a store result says about a delivery; None while it is in the log and nothing is promised yet.

    Clauses: broker.schedule.cursor-never-passes-undelivered, broker.schedule.refused-is-diverted
    """
    if status is PutStatus.PUT_OK:
        return Delivery.STORED
    if status in STORED:
        return None
    return Delivery.REFUSED if status in _REFUSALS else Delivery.UNAVAILABLE


def derive_notice_topic(real_topic: str) -> str:
    """Where the notice of a diverted message is stored: where the people of its group look, or of the broker.

    Clause: broker.schedule.notice-is-found
    """
    if is_retry_topic(real_topic):
        return dead_letter_topic_of(real_topic.removeprefix(RETRY_PREFIX))
    return SCHEDULE_REFUSED_TOPIC


class Next(Enum):
    """What a level does next."""

    CONTINUE = "continue"
    PAUSE = "pause"
    DIVERT = "divert"


@dataclass(frozen=True, slots=True)
class Cursor:
    """How far a level has come, and how often its head was refused."""

    offset: QueueOffset
    refusals: int = 0


_PASSING: Final = (Delivery.STORED, Delivery.UNREADABLE, Delivery.HALF, Delivery.DIVERTED)


def advance_cursor(
    cursor: Cursor, delivery: Delivery, *, refusal_limit: int | None = REFUSAL_LIMIT
) -> tuple[Cursor, Next]:
    """The cursor after one delivery attempt: it passes only what was stored, gone or diverted.

    With `refusal_limit=None` a refused message stops its level for ever, as in Apache 4.9.x.

    Clauses: broker.schedule.cursor-never-passes-undelivered, broker.schedule.refused-is-diverted
    """
    if delivery in _PASSING:
        return Cursor(QueueOffset(cursor.offset + 1)), Next.CONTINUE
    if delivery is Delivery.UNAVAILABLE:
        return cursor, Next.PAUSE
    refusals = cursor.refusals + 1
    is_given_up = refusal_limit is not None and refusals >= refusal_limit
    return Cursor(cursor.offset, refusals), Next.DIVERT if is_given_up else Next.PAUSE


def correct_cursor(offset: int, minimum: int, maximum: int, *, is_replica: bool = False) -> QueueOffset:
    """The cursor moved into its queue after loading; a replica keeps what its master says.

    Clauses: broker.schedule.cursor-repaired-on-load, broker.schedule.replica-trusts-cursor
    """
    return QueueOffset(offset if is_replica else max(minimum, min(offset, maximum)))


def derive_saved_cursor(batch_start: int, passed_count: int, *, saves_each: bool = True) -> QueueOffset:
    """The cursor that a restart would find after `passed_count` deliveries of one batch.

    `saves_each=False` is Apache 4.9.3: one past the batch's start, so a restart delivers again.

    Clause: broker.schedule.saved-cursor
    """
    return QueueOffset(batch_start + (passed_count if saves_each else min(passed_count, 1)))
