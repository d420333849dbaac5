"""Long polling: a pull that found nothing is held until something arrives or its time is over.

The promise: a held pull is answered at once when a matching message arrives, and in any case
within its hold limit plus one sweep. An answer never turns into another hold.

Why it can fail: the arrival may race the suspension (the message is stored between "nothing
found" and "held"), so a sweep looks again at every held pull; a woken pull that runs through the
ordinary entry is held again and its client times out; a "newest" offset that names the last
message instead of one past it wakes for nothing, or not at all.

What is allowed: waking for a message that does not match. The sweep does not know tags, so
every filter matches then and the pull answers "retry immediately".
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.values.pull_flag import PullFlag
from spec.values.units import Milliseconds
from spec.wire.code import ResponseCode

SWEEP_MS: Final = Milliseconds(5_000)
"""Period of the sweep; timeouts are noticed by it, so they are late by up to one period."""

SHORT_POLL_MS: Final = Milliseconds(1_000)
"""Hold limit and sweep period where long polling is switched off (`shortPollingTimeMills`)."""


@dataclass(frozen=True, slots=True)
class HeldPull:
    """What matters of a pull while it waits."""

    offset: int
    held_at_ms: int
    hold_limit_ms: int


class Verdict(Enum):
    """What happens to a held pull."""

    KEEP = "keep"
    ANSWER = "answer"
    """It runs once more, and that run answers whatever it finds."""


def is_held(code: ResponseCode, sys_flag: int, *, is_rerun: bool) -> bool:
    """Whether a pull waits instead of being answered: nothing found, allowed to wait, and not yet woken.

    Clauses: broker.hold.only-not-found, broker.hold.never-twice
    """
    return code is ResponseCode.PULL_NOT_FOUND and bool(sys_flag & PullFlag.SUSPEND) and not is_rerun


def derive_hold_limit_ms(requested_ms: int, *, is_long_polling: bool = True) -> Milliseconds:
    """How long a pull is held: what its client asked for, or one second of short polling.

    Clause: broker.hold.limit
    """
    return Milliseconds(requested_ms) if is_long_polling else SHORT_POLL_MS


def decide_on_arrival(pull: HeldPull, queue_end: int, now_ms: int, *, is_match: bool) -> Verdict:
    """What a held pull does when a message was indexed; `queue_end` is one past the newest offset.

    Clauses: broker.hold.arrival-answers, broker.hold.end-is-exclusive, broker.hold.timeout-answers
    """
    if queue_end > pull.offset and is_match:
        return Verdict.ANSWER
    return Verdict.ANSWER if now_ms >= pull.held_at_ms + pull.hold_limit_ms else Verdict.KEEP


def decide_on_sweep(pull: HeldPull, queue_end: int, now_ms: int) -> Verdict:
    """What a held pull does at a sweep: any newer message answers, matching or not.

    Clause: broker.hold.sweep-matches-anything
    """
    return decide_on_arrival(pull, queue_end, now_ms, is_match=True)


def derive_sweep_ms(*, is_long_polling: bool = True) -> Milliseconds:
    """How often held pulls are looked at."""
    return SWEEP_MS if is_long_polling else SHORT_POLL_MS


def derive_answer_deadline_ms(pull: HeldPull, sweep_ms: int = SWEEP_MS) -> Milliseconds:
    """The instant by which the pull has been answered, whatever arrives.

    Clause: broker.hold.answered-in-time
    """
    return Milliseconds(pull.held_at_ms + pull.hold_limit_ms + sweep_ms)
