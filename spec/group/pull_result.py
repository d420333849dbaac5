"""After a pull was answered: where the cursor goes, and what may be committed.

The broker always says where to go on, and the client always goes there. Three more things can
follow. If the answer brought nothing for this subscription and nothing is in custody, the place to
go on may be committed, or a tail of unwanted messages would be read again after each restart; but
only if nothing at all is in custody, taken messages included. If the offset was outside the queue,
the tenure ends at once, and some seconds later the corrected offset is stored, even if it is lower
than before; the next tenure starts there. And an error changes nothing: the same pull is sent
again after a while.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final

from spec.group.pull_gate import DEFAULT_PULL_DELAYS, PullDelays
from spec.values.units import Milliseconds, QueueOffset
from spec.wire.code import ResponseCode

CORRECTION_DELAY_MS: Final = Milliseconds(10_000)
"""Apache waits this long so that running listener calls of the ended tenure finish."""


AT_ONCE_MS: Final = Milliseconds(0)


class PullStatus(Enum):
    """What the broker answered; the value is the response code."""

    FOUND = ResponseCode.SUCCESS
    NO_NEW_MESSAGE = ResponseCode.PULL_NOT_FOUND
    NO_MATCHED_MESSAGE = ResponseCode.PULL_RETRY_IMMEDIATELY
    OFFSET_ILLEGAL = ResponseCode.PULL_OFFSET_MOVED


def classify_pull_code(code: int) -> PullStatus | None:
    """The status that a response code stands for; None for every error.

    Clause: group.pull.status-codes
    """
    return next((status for status in PullStatus if status.value == code), None)


@dataclass(frozen=True, slots=True)
class PullOn:
    """Put what matched into custody, store `corrected` (increase only), pull at `next_offset`."""

    next_offset: QueueOffset
    corrected: QueueOffset | None
    delay_ms: Milliseconds = AT_ONCE_MS


@dataclass(frozen=True, slots=True)
class EndAndCorrect:
    """End the tenure now; after the delay store the offset, lower or not, persist it, remove the queue."""

    corrected: QueueOffset
    delay_ms: Milliseconds


@dataclass(frozen=True, slots=True)
class PullSame:
    """Send the same pull again after the delay."""

    delay_ms: Milliseconds


def derive_pull_sequel(
    status: PullStatus,
    next_begin: QueueOffset,
    *,
    matched_count: int,
    custody_count: int,
    pull_interval_ms: Milliseconds = AT_ONCE_MS,
) -> PullOn | EndAndCorrect:
    """What follows an answer; `custody_count` counts pending and taken messages before it.

    Clauses: group.pull.found-goes-on, group.pull.empty-corrects-commit,
    group.pull.illegal-offset-ends-tenure
    """
    match status:
        case PullStatus.FOUND:
            delay_ms = pull_interval_ms if matched_count else AT_ONCE_MS
            return PullOn(next_begin, None, delay_ms)
        case PullStatus.NO_NEW_MESSAGE | PullStatus.NO_MATCHED_MESSAGE:
            return PullOn(next_begin, next_begin if custody_count == 0 else None)
        case PullStatus.OFFSET_ILLEGAL:
            return EndAndCorrect(next_begin, CORRECTION_DELAY_MS)


def derive_pull_retry(
    code: int | None, delays: PullDelays = DEFAULT_PULL_DELAYS, *, knows_flow_control: bool = True
) -> PullSame:
    """What follows an error answer, or none: 4.9.5 and later return sooner to a busy broker.

    Clause: group.pull.error-repeats
    """
    is_busy = knows_flow_control and code == ResponseCode.FLOW_CONTROL
    return PullSame(delays.broker_busy_ms if is_busy else delays.error_ms)
