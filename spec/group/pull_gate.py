"""Before a pull is sent: the questions, in Apache's order.

A pull request of a dropped tenure ends for good; the next tenure has its own. Every other "no" is
only "not yet", with a delay after which the same request asks again. So a live tenure always has
exactly one request: outstanding, held, or scheduled.

An orderly queue whose lock was just won asks for its start position once more before its first
pull, because the previous owner may have moved it since.
"""

from dataclasses import dataclass
from typing import Final

from spec.group.flow_control import PAUSE_MS, Pause
from spec.values.pull_flag import PullFlag
from spec.values.units import Milliseconds, QueueOffset

PULL_BATCH_SIZE: Final = 32
"""Apache's `pullBatchSize`."""

RETRY_MS: Final = Milliseconds(1000)
"""Apache's delay after most obstacles, and its default after an error."""

BROKER_BUSY_MS: Final = Milliseconds(20)
"""The delay of 4.9.5 and later after a broker's flow control."""


@dataclass(frozen=True, slots=True)
class PullDelays:
    """How long a request waits after each "not yet"; defaults are Apache's."""

    not_running_ms: Milliseconds = RETRY_MS
    suspended_ms: Milliseconds = RETRY_MS
    flow_control_ms: Milliseconds = PAUSE_MS
    not_locked_ms: Milliseconds = RETRY_MS
    not_subscribed_ms: Milliseconds = RETRY_MS
    error_ms: Milliseconds = RETRY_MS
    broker_busy_ms: Milliseconds = BROKER_BUSY_MS


DEFAULT_PULL_DELAYS: Final = PullDelays()


@dataclass(frozen=True, slots=True)
class EndRequest:
    """The tenure is over; nothing follows."""


@dataclass(frozen=True, slots=True)
class AskAgain:
    """Not yet; ask again after the delay."""

    delay_ms: Milliseconds


@dataclass(frozen=True, slots=True)
class SendPull:
    """Send it; if `confirms_start`, ask for the start position first."""

    confirms_start: bool


@dataclass(frozen=True, slots=True)
class PullSituation:
    """What is known when a request comes up."""

    is_tenure_live: bool = True
    is_running: bool = True
    is_suspended: bool = False
    pause: Pause | None = None
    needs_lock: bool = False
    is_locked: bool = False
    was_locked_before: bool = False
    """Whether this request has already been sent under the lock."""
    has_subscription: bool = True


def judge_pull(
    situation: PullSituation, delays: PullDelays = DEFAULT_PULL_DELAYS
) -> EndRequest | AskAgain | SendPull:
    """What becomes of a pull request that is due.

    Clauses: group.pull.dropped-ends, group.pull.not-yet-asks-again, group.pull.lock-confirms-start
    """
    if not situation.is_tenure_live:
        return EndRequest()
    refusals = (
        (not situation.is_running, delays.not_running_ms),
        (situation.is_suspended, delays.suspended_ms),
        (situation.pause is not None, delays.flow_control_ms),
        (situation.needs_lock and not situation.is_locked, delays.not_locked_ms),
        (not situation.has_subscription, delays.not_subscribed_ms),
    )
    for is_refused, delay_ms in refusals:
        if is_refused:
            return AskAgain(delay_ms)
    return SendPull(confirms_start=situation.needs_lock and not situation.was_locked_before)


LITE_PULL_FLAG: Final = PullFlag.SUSPEND | PullFlag.SUBSCRIPTION | PullFlag.LITE_PULL
"""The flag of every lite pull, 22. Clause: group.pull.flag-bits."""


def derive_pull_flag(
    local_position: QueueOffset | None,
    *,
    is_clustering: bool,
    is_master: bool,
    posts_subscription: bool = False,
) -> PullFlag:
    """The flag of a push consumer's pull: it may carry a commit, and always lets itself be held.

    Clauses: group.pull.commit-rides-along, group.pull.flag-bits
    """
    flag = PullFlag.SUSPEND
    if posts_subscription:
        flag |= PullFlag.SUBSCRIPTION
    commits = is_clustering and is_master and local_position is not None and local_position > 0
    return flag | PullFlag.COMMIT if commits else flag
