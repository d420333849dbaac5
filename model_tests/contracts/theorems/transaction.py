"""Theorems on transactions: no half message is forgotten, none is asked about too early."""

from spec.broker.transaction import (
    AGE_LIMIT_MS,
    CHECK_LIMIT,
    Decision,
    Half,
    HalfState,
    Round,
    Step,
    advance_half_cursor,
    check_decision,
    decide_check,
)
from spec.values.system_flag import TransactionType, with_transaction_type
from spec.wire.code import ResponseCode

STEPS = (Step.SKIP, Step.GIVE_UP, Step.DEFER, Step.CHECK, Step.STOP, Step.READ_ON)
LAST_PASSING = 3


def decided_half_is_never_checked(born_ms: int, stored_ms: int, started_ms: int, now_ms: int) -> bool:
    """A half message whose operation record was read is passed, whatever the clock says.

    clause: broker.transaction.no-check-before-records
    pre: 0 <= born_ms <= 10**15
    pre: 0 <= stored_ms <= 10**15
    pre: 0 <= started_ms <= now_ms <= 10**15
    post: __return__
    """
    half = HalfState(born_ms, stored_ms, is_decided=True)
    return decide_check(half, Round(started_ms, now_ms)) is Step.SKIP


def unread_records_come_before_a_check(born_ms: int, started_ms: int, operation_ms: int, now_ms: int) -> bool:
    """While the last record read is not newer than the round, more records are read before anybody is asked.

    clause: broker.transaction.no-check-before-records
    pre: 0 <= born_ms <= now_ms <= 10**15
    pre: 1 <= started_ms <= now_ms
    pre: 0 <= operation_ms <= started_ms + 6000
    post: __return__
    """
    half = HalfState(born_ms, started_ms - 1)
    return decide_check(half, Round(started_ms, now_ms, operation_ms)) is not Step.CHECK


def young_half_is_not_checked(age_ms: int, started_ms: int, now_ms: int, times: int) -> bool:
    """Nobody is asked about a half message that is younger than the immunity time.

    clause: broker.transaction.immunity
    pre: 0 <= age_ms < 6000
    pre: 10**9 <= started_ms <= now_ms <= 10**15
    pre: 0 <= times < 15
    post: __return__
    """
    half = HalfState(now_ms - age_ms, started_ms - 1, times)
    return decide_check(half, Round(started_ms, now_ms)) is Step.STOP


def own_immunity_defers(age_ms: int, immunity_ms: int, started_ms: int, now_ms: int) -> bool:
    """A half message with an immunity of its own is appended again while that lasts, never just passed.

    clause: broker.transaction.own-immunity
    pre: 0 <= age_ms < immunity_ms <= 10**8
    pre: 10**9 <= started_ms <= now_ms <= 10**15
    post: __return__
    """
    half = HalfState(now_ms - age_ms, started_ms - 1, immunity_ms=immunity_ms)
    return decide_check(half, Round(started_ms, now_ms)) is Step.DEFER


def old_half_without_records_is_checked(age_ms: int, started_ms: int, now_ms: int, times: int) -> bool:
    """With no record left to read, a half message past its immunity and within its limits is asked about.

    clause: broker.transaction.check-needed
    pre: 6000 < age_ms <= 72 * 3600000
    pre: 10**9 <= started_ms <= now_ms <= 10**15
    pre: 0 <= times < 15
    post: __return__
    """
    half = HalfState(now_ms - age_ms, started_ms - 1, times)
    return decide_check(half, Round(started_ms, now_ms)) is Step.CHECK


def round_reads_on_only_while_records_are_left(
    age_ms: int, immunity_ms: int, started_ms: int, now_ms: int
) -> bool:
    """With no record left to read, a round never asks for more, so it ends.

    clause: broker.transaction.check-needed
    pre: -1000 <= age_ms <= 10**9
    pre: -1 <= immunity_ms <= 10**8
    pre: 10**10 <= started_ms <= now_ms <= 10**15
    post: __return__
    """
    own_ms = None if immunity_ms < 0 else immunity_ms
    half = HalfState(now_ms - age_ms, started_ms - 1, immunity_ms=own_ms)
    return decide_check(half, Round(started_ms, now_ms)) is not Step.READ_ON


def exceeded_half_is_given_up(age_ms: int, times: int, stored_ms: int, now_ms: int) -> bool:
    """Past 15 checks or 72 hours a half message is given up, and only then.

    clause: broker.transaction.limits
    pre: 0 <= age_ms <= 10**9
    pre: 0 <= times <= 100
    pre: 0 <= stored_ms <= 10**15
    pre: 10**10 <= now_ms <= 10**15
    post: __return__
    """
    half = HalfState(now_ms - age_ms, stored_ms, times)
    is_expected = times >= CHECK_LIMIT or age_ms > AGE_LIMIT_MS
    return (decide_check(half, Round(now_ms, now_ms)) is Step.GIVE_UP) == is_expected


def cursor_passes_no_open_half(cursor: int, step: int, *, is_stored: bool) -> bool:
    """The cursor passes a decided half message, or one whose copy was stored; no other.

    clause: broker.transaction.cursor-passes-nothing-open
    pre: 0 <= cursor <= 10**15
    pre: 0 <= step <= 5
    post: __return__
    """
    after = advance_half_cursor(cursor, STEPS[step], is_stored=is_stored)
    is_passed = step == 0 or (step <= LAST_PASSING and is_stored)
    return after == cursor + (1 if is_passed else 0)


def decision_for_another_place_is_refused(half_offset: int, offset: int, position: int, told: int) -> bool:
    """A commit is carried out exactly when it names the half message's own places.

    clause: broker.transaction.decision-matches-half
    pre: 0 <= half_offset <= 10**15
    pre: 0 <= offset <= 10**15
    pre: 0 <= position <= 10**15
    pre: 0 <= told <= 10**15
    post: __return__
    """
    half = Half("p", half_offset, position)
    code = check_decision(Decision("p", offset, told, TransactionType.COMMIT), half)
    is_same = offset == half_offset and told == position
    return code is (None if is_same else ResponseCode.SYSTEM_ERROR)


def transaction_bits_touch_nothing_else(flag: int, kind: int) -> bool:
    """Replacing the transaction bits leaves all others, and sets exactly these.

    clause: broker.transaction.final-message
    pre: 0 <= flag < 64
    pre: 0 <= kind <= 3
    post: __return__
    """
    changed = with_transaction_type(flag, TransactionType(kind * 4))
    return changed & ~0x0C == flag & ~0x0C and changed & 0x0C == kind * 4
