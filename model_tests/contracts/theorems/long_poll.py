"""Theorems on held pulls: woken by news, answered in time, never held twice."""

from spec.broker.long_poll import (
    SWEEP_MS,
    HeldPull,
    Verdict,
    decide_on_arrival,
    decide_on_sweep,
    derive_answer_deadline_ms,
    is_held,
)
from spec.values.pull_flag import PullFlag
from spec.wire.code import ResponseCode

CODES = (
    ResponseCode.SUCCESS,
    ResponseCode.PULL_NOT_FOUND,
    ResponseCode.PULL_RETRY_IMMEDIATELY,
    ResponseCode.PULL_OFFSET_MOVED,
)


def woken_pull_is_never_held_again(code: int, sys_flag: int) -> bool:
    """A pull that runs because it was woken is answered, whatever it finds.

    clause: broker.hold.never-twice
    pre: 0 <= code <= 3
    pre: 0 <= sys_flag <= 31
    post: __return__
    """
    return not is_held(CODES[code], sys_flag, is_rerun=True)


def only_an_empty_answer_is_held(code: int, sys_flag: int) -> bool:
    """A first run is held exactly when nothing was found and its client allows it.

    clause: broker.hold.only-not-found
    pre: 0 <= code <= 3
    pre: 0 <= sys_flag <= 31
    post: __return__
    """
    is_expected = CODES[code] is ResponseCode.PULL_NOT_FOUND and sys_flag & PullFlag.SUSPEND != 0
    return is_held(CODES[code], sys_flag, is_rerun=False) == is_expected


def matching_news_always_answers(offset: int, news: int, held_ms: int, limit_ms: int, now_ms: int) -> bool:
    """A matching message at or above the asked offset answers at once, whatever the time.

    clause: broker.hold.arrival-answers
    pre: 0 <= offset <= news <= 10**15
    pre: 0 <= held_ms <= now_ms <= 10**15
    pre: 0 <= limit_ms <= 10**9
    post: __return__
    """
    pull = HeldPull(offset, held_ms, limit_ms)
    return decide_on_arrival(pull, news + 1, now_ms, is_match=True) is Verdict.ANSWER


def nothing_new_keeps_waiting(offset: int, queue_end: int, held_ms: int, limit_ms: int, now_ms: int) -> bool:
    """Before its time is over, a pull at the queue's end goes on waiting.

    clause: broker.hold.end-is-exclusive
    pre: 0 <= queue_end <= offset <= 10**15
    pre: 0 <= held_ms <= now_ms < held_ms + limit_ms <= 10**15
    post: __return__
    """
    return decide_on_sweep(HeldPull(offset, held_ms, limit_ms), queue_end, now_ms) is Verdict.KEEP


def time_over_answers(offset: int, queue_end: int, held_ms: int, limit_ms: int, late_ms: int) -> bool:
    """From the moment its time is over, any look at a pull answers it, matching or not.

    clause: broker.hold.timeout-answers
    pre: 0 <= offset <= 10**15
    pre: 0 <= queue_end <= 10**15
    pre: 0 <= held_ms <= 10**15
    pre: 0 <= limit_ms <= 10**9
    pre: 0 <= late_ms <= 10**9
    post: __return__
    """
    pull = HeldPull(offset, held_ms, limit_ms)
    now_ms = held_ms + limit_ms + late_ms
    return decide_on_arrival(pull, queue_end, now_ms, is_match=False) is Verdict.ANSWER


def some_sweep_answers_before_the_deadline(offset: int, held_ms: int, limit_ms: int, phase_ms: int) -> bool:
    """The first sweep after the limit answers, and comes no later than the deadline.

    clause: broker.hold.answered-in-time
    pre: 0 <= offset <= 10**15
    pre: 0 <= held_ms <= 10**6
    pre: 0 <= limit_ms <= 30000
    pre: 0 <= phase_ms < 5000
    post: __return__
    """
    pull = HeldPull(offset, held_ms, limit_ms)
    over_ms = held_ms + limit_ms
    sweep_ms = over_ms + (phase_ms - over_ms) % SWEEP_MS
    is_answered = decide_on_sweep(pull, offset, sweep_ms) is Verdict.ANSWER
    return is_answered and sweep_ms <= derive_answer_deadline_ms(pull)
