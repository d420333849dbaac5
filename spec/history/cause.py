"""The causes that mean something to a rule.

`cause` is a free word: a recorder may write whatever names the thing best, and rules pass over what
they do not know. The words below are the ones they do know. `spec.history.kind.FORMS` says which
of them belong to which kind, so whoever records histories finds them all in one place.
"""

from enum import StrEnum


class CommitCause(StrEnum):
    """Which request brought a value to the broker."""

    PULL = "pull"
    UPDATE = "update"
    RESET = "reset"
    CORRECTION = "correction"
    REPLICATION = "replication"


class DisownCause(StrEnum):
    """Why a tenure ended, where it matters."""

    SHUTDOWN = "shutdown"
    PULL_EXPIRED = "pull-expired"


class InitialCause(StrEnum):
    """Which policy chose the start, where it matters."""

    TIMESTAMP = "timestamp"
    """Start at a time: the one policy that may skip retry copies."""


class FlowCause(StrEnum):
    """Which limit puts a pull off; any other word is somebody's wish, such as a paused consumer."""

    COUNT = "count"
    SIZE = "size"
    SPAN = "span"
    LOCK = "lock"
    """The client does not trust its lock."""


class WakeCause(StrEnum):
    """Why a held pull is taken up again, where it matters."""

    ARRIVAL = "arrival"


class BackCause(StrEnum):
    """By which path a failed message is returned; by other paths its copy may go anywhere."""

    SEND_BACK = "send-back"
    LISTENER = "listener"
    """The same ordinary return, seen from the listener's side."""
    FALLBACK = "fallback"
    """An ordinary send to the retry topic, after the return was refused."""
    TIMEOUT = "timeout"
    """The listener takes too long; the message is returned while it runs."""
    LIMIT = "limit"
    """Ordered consumption gives a message up at its own limit; the copy's attempt is not raised."""


class FaultCause(StrEnum):
    """What disturbs a node, where it matters."""

    PAUSE = "pause"
    """The whole process stands still for a while and then goes on."""
    DAMAGE = "damage"
    """The member's offset file is spoilt, once."""


class ExceedCause(StrEnum):
    """Which limit a half message exceeded, where it matters."""

    CHECKS = "checks"
