"""How long a failed message waits, and when it is given up.

The wait grows with the attempts: a message that failed for the n-th time waits at delay level
2 + n, so the first retry comes after 10 s and the sixteenth after 2 h. A listener may ask for a
level of its own, or, with a negative one, for no further attempt. When the attempts are used up,
the message goes to the group's dead-letter topic at once, without delay.

A client that cannot reach the broker's send-back sends the copy itself, as an ordinary message to
the retry topic. It writes the higher attempt number into it, and the broker judges that number;
this way a message is given up one attempt earlier.

The rules themselves are the broker's; this is how they look to a consumer.
"""

from dataclasses import dataclass
from typing import Final

from spec.broker.schedule import DELAY_LEVELS, clamp_level
from spec.broker.send import is_exhausted
from spec.broker.send_back import derive_retry_level, is_dead
from spec.values.units import Milliseconds

ATTEMPT_LIMIT: Final = 16
"""Apache's default number of retries of a concurrent listener, after the first delivery."""

UNSET_LIMIT: Final = -1
"""A consumer's `maxReconsumeTimes` that was not set: 16 for concurrent listeners."""

BY_ATTEMPTS: Final = 0
"""The asked level that leaves the choice to the attempts; Apache's default."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Given up: to the dead-letter topic, at once."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Another attempt, after the delay of the level (1 to 18)."""

    level: int
    delay_ms: Milliseconds


def derive_attempt_limit(configured: int) -> int:
    """The limit a concurrent consumer sends along: 16 if it was not set.

    Clause: group.retry.default-limit
    """
    return ATTEMPT_LIMIT if configured == UNSET_LIMIT else configured


def derive_retry(attempts: int, asked_level: int, limit: int = ATTEMPT_LIMIT) -> Retry | DeadLetter:
    """What becomes of a message sent back that has had `attempts` retries before this failure.

    Clauses: group.retry.level-by-attempts, group.retry.limit-to-dead-letter,
    group.retry.negative-level-gives-up
    """
    if is_dead(attempts, limit, asked_level):
        return DeadLetter()
    return _retry_at(derive_retry_level(asked_level, attempts))


def _retry_at(level: int) -> Retry:
    used = clamp_level(level)
    return Retry(used, DELAY_LEVELS[used - 1])


def derive_fallback_retry(attempts: int, limit: int = ATTEMPT_LIMIT) -> Retry | DeadLetter:
    """What becomes of a copy that the client sends itself, numbered one attempt higher.

    Apache 4.9.3 delays even the given-up copy before it reaches the dead-letter topic.

    Clause: group.retry.fallback-one-earlier
    """
    if is_exhausted(attempts + 1, limit):
        return DeadLetter()
    return _retry_at(derive_retry_level(BY_ATTEMPTS, attempts))


def derive_delivery_limit(limit: int = ATTEMPT_LIMIT) -> int:
    """How often a message is delivered at most on the send-back path: once, and each retry.

    Clause: group.retry.limit-to-dead-letter
    """
    return max(0, limit) + 1
