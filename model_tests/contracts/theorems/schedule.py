"""Theorems on delayed messages: never early, never passed undelivered, never stuck for ever."""

from spec.broker.schedule import (
    DELAY_LEVELS,
    LEVEL_COUNT,
    REFUSAL_LIMIT,
    Cursor,
    Delivery,
    Next,
    advance_cursor,
    clamp_level,
    correct_cursor,
    derive_due_ms,
    derive_saved_cursor,
    derive_schedule_queue,
    is_due,
)
from spec.values.units import QueueOffset

DELIVERIES = (
    Delivery.STORED,
    Delivery.UNREADABLE,
    Delivery.HALF,
    Delivery.DIVERTED,
    Delivery.UNAVAILABLE,
    Delivery.REFUSED,
)
LAST_PASSING = 3


def clamped_level_is_a_level_or_none(level: int) -> bool:
    """A level is cut to 0 (no delay) up to 18, and one inside that range stays as it is.

    clause: broker.schedule.level-clamped
    pre: -(2**31) <= level < 2**31
    post: __return__
    """
    clamped = clamp_level(level)
    return 0 <= clamped <= LEVEL_COUNT and (clamped == level or not 0 <= level <= LEVEL_COUNT)


def every_level_has_a_queue_and_a_delay(level: int) -> bool:
    """Each positive level, clamped, has one of the 18 queues and one of the 18 delays.

    clause: broker.schedule.queue-of-level
    pre: 1 <= level < 2**31
    post: __return__
    """
    queue_id = derive_schedule_queue(clamp_level(level))
    return 0 <= queue_id < LEVEL_COUNT and derive_due_ms(clamp_level(level), 0) == DELAY_LEVELS[queue_id]


def nothing_is_delivered_early(level: int, store_ms: int, waited_ms: int) -> bool:
    """While the clock goes on, a message is due exactly when its delay has passed.

    clause: broker.schedule.not-before-due
    pre: 1 <= level <= 18
    pre: 0 <= store_ms <= 10**15
    pre: 0 <= waited_ms <= 10**9
    post: __return__
    """
    due_ms = derive_due_ms(level, store_ms)
    delay_ms = DELAY_LEVELS[level - 1]
    return is_due(due_ms, store_ms + waited_ms, delay_ms) == (waited_ms >= delay_ms)


def level_never_waits_longer_than_its_delay(due_ms: int, now_ms: int, delay_ms: int) -> bool:
    """What is not due now will be due within one delay of the level, whatever its due time says.

    clause: broker.schedule.impossible-due-counts
    pre: 0 <= due_ms <= 10**15
    pre: 0 <= now_ms <= 10**15
    pre: 0 <= delay_ms <= 10**9
    post: __return__
    """
    return is_due(due_ms, now_ms, delay_ms) or is_due(due_ms, now_ms + delay_ms, delay_ms)


def cursor_passes_only_what_is_settled(offset: int, refusals: int, delivery: int) -> bool:
    """The cursor moves by one after a settled delivery and not at all otherwise.

    clause: broker.schedule.cursor-never-passes-undelivered
    pre: 0 <= offset <= 10**15
    pre: 0 <= refusals <= 100
    pre: 0 <= delivery <= 5
    post: __return__
    """
    after, _ = advance_cursor(Cursor(QueueOffset(offset), refusals), DELIVERIES[delivery])
    return after.offset == offset + (1 if delivery <= LAST_PASSING else 0)


def refused_message_is_diverted_at_the_limit(offset: int, refusals: int) -> bool:
    """A message that a working store keeps refusing is diverted at the limit, and not before.

    clause: broker.schedule.refused-is-diverted
    pre: 0 <= offset <= 10**15
    pre: 0 <= refusals <= 100
    post: __return__
    """
    after, then = advance_cursor(Cursor(QueueOffset(offset), refusals), Delivery.REFUSED)
    return (then is Next.DIVERT) == (refusals + 1 >= REFUSAL_LIMIT) and after.refusals == refusals + 1


def unavailable_store_never_costs_a_message(offset: int, refusals: int) -> bool:
    """While the store takes nothing, cursor and count stay as they are.

    clause: broker.schedule.cursor-never-passes-undelivered
    pre: 0 <= offset <= 10**15
    pre: 0 <= refusals <= 100
    post: __return__
    """
    cursor = Cursor(QueueOffset(offset), refusals)
    return advance_cursor(cursor, Delivery.UNAVAILABLE) == (cursor, Next.PAUSE)


def loaded_cursor_lies_in_its_queue(offset: int, minimum: int, maximum: int) -> bool:
    """A loaded cursor is moved into the queue, and one inside stays.

    clause: broker.schedule.cursor-repaired-on-load
    pre: 0 <= minimum <= maximum <= 10**15
    pre: -1 <= offset <= 10**15
    post: __return__
    """
    corrected = correct_cursor(offset, minimum, maximum)
    return minimum <= corrected <= maximum and (corrected == offset or not minimum <= offset <= maximum)


def saved_cursor_never_passes_the_batch(start: int, passed: int, *, saves_each: bool) -> bool:
    """What a restart finds is never beyond what was delivered, and is exact in the reference.

    clause: broker.schedule.saved-cursor
    pre: 0 <= start <= 10**15
    pre: 0 <= passed <= 1000
    post: __return__
    """
    saved = derive_saved_cursor(start, passed, saves_each=saves_each)
    return saved == start + passed if saves_each else start <= saved <= start + passed
