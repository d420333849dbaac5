"""The kinds of event, and which columns each one fills.

A history is a list of things that somebody saw. The kinds below are the whole vocabulary: the
simulator, the live runs, the wire tap and the Spark jobs use the same words. Each kind names the
columns it always fills; a well-formed event has all of them, so that a monitor never has to ask
whether they are there. Further columns may be filled where the observer knows more.

Three habits keep the words honest. An answer is a second event: `pull` is what a client asked,
`pulled` is what it got, `served` is what the broker did about it. A value at the broker
(`commit`, `lock`) and the client's idea of it (`local`, `locked`) are different kinds. And what
ended badly is recorded as such: an outcome is ok, fail or unknown, and a timed-out request is
unknown, not failed.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from spec.history.cause import (
    BackCause,
    CommitCause,
    DisownCause,
    ExceedCause,
    FaultCause,
    FlowCause,
    InitialCause,
    WakeCause,
)


class Kind(StrEnum):
    """What an event says."""

    BEGIN = "begin"
    END_OF_RUN = "end-of-run"
    UP = "up"
    DOWN = "down"
    FAULT = "fault"
    HEAL = "heal"
    RPC = "rpc"
    TICK = "tick"
    SERVERS = "servers"
    REGISTER = "register"
    UNREGISTER = "unregister"
    ROUTE = "route"
    SEND = "send"
    SENT = "sent"
    APPEND = "append"
    DISPATCH = "dispatch"
    RECOVER = "recover"
    RANGE = "range"
    RETAIN = "retain"
    DELETE = "delete"
    JOIN = "join"
    LEAVE = "leave"
    SUBSCRIBE = "subscribe"
    VIEW = "view"
    OWN = "own"
    DISOWN = "disown"
    QUERY = "query"
    QUERIED = "queried"
    INITIAL = "initial"
    PULL = "pull"
    SERVED = "served"
    PULLED = "pulled"
    HOLD = "hold"
    WAKE = "wake"
    FLOW = "flow"
    BUFFER = "buffer"
    START = "start"
    END = "end"
    BACK = "back"
    LOCAL = "local"
    COMMIT = "commit"
    STALE = "stale"
    RESET = "reset"
    LOCK = "lock"
    LOCKED = "locked"
    UNLOCK = "unlock"
    DELIVER = "deliver"
    DIVERT = "divert"
    CURSOR = "cursor"
    HALF = "half"
    RESOLVE = "resolve"
    ROUND = "round"
    CHECK = "check"
    REQUEUE = "requeue"
    EXCEED = "exceed"
    HALF_CURSOR = "half-cursor"
    REQUEST = "request"
    RESPONSE = "response"
    CODEC = "codec"


@dataclass(frozen=True, slots=True)
class Form:
    """What a kind means and which columns it always fills."""

    meaning: str
    columns: tuple[str, ...]
    statuses: tuple[str, ...] = ()
    """The legal values of `status`, where the kind fills it."""
    modes: tuple[str, ...] = ()
    """The legal values of `mode`, where the kind fills it."""
    causes: tuple[str, ...] = ()
    """Values of `cause` that mean something to a rule; others may be used."""


_QUEUE: Final = ("topic", "broker", "queue")
_TENURE: Final = ("group", *_QUEUE, "client", "tenure")

FORMS: Final[Mapping[Kind, Form]] = {
    Kind.BEGIN: Form(
        "the run begins; `detail` declares what was recorded and under which terms", ("detail",)
    ),
    Kind.END_OF_RUN: Form("the observation ends here; what was due by now is overdue", ()),
    Kind.UP: Form("the node starts, a new incarnation", ("status",), ("broker", "client", "name-server")),
    Kind.DOWN: Form("the node stops", ("status",), ("graceful", "crash")),
    Kind.FAULT: Form(
        "something from outside disturbs the node or its links; `cause` says what",
        ("cause",),
        causes=tuple(FaultCause),
    ),
    Kind.HEAL: Form("the disturbance named in `cause` is over", ("cause",), causes=tuple(FaultCause)),
    Kind.RPC: Form("a request to `broker` did not succeed; `cause` names it", ("client", "outcome", "cause")),
    Kind.TICK: Form(
        "one round of the periodic service named in `cause` is over; the next is due at `due_ms`",
        ("cause", "outcome", "due_ms"),
    ),
    Kind.SERVERS: Form("the client is configured with the name servers in `members`", ("client", "members")),
    Kind.REGISTER: Form("a name server stored a broker's registration", ("broker", "address", "replica")),
    Kind.UNREGISTER: Form(
        "a name server was asked to forget a registration; ok if it did",
        ("broker", "address", "replica", "outcome"),
    ),
    Kind.ROUTE: Form(
        "the name server `address` told the client the queues of a topic",
        ("client", "topic", "queues", "address"),
    ),
    Kind.SEND: Form("a producer sends a message", ("client", "topic", "message")),
    Kind.SENT: Form(
        "the send ended; if ok, the broker named queue and offset", ("client", "topic", "message", "outcome")
    ),
    Kind.APPEND: Form("the broker stored a message in its log", (*_QUEUE, "offset", "message", "position")),
    Kind.DISPATCH: Form(
        "the broker's index now maps the offset to the log position: the message is readable",
        (*_QUEUE, "offset", "message", "position"),
    ),
    Kind.RECOVER: Form(
        "the broker recovered its store; `position` is the end of the valid log",
        ("broker", "position", "status"),
        ("normal", "abnormal"),
    ),
    Kind.RANGE: Form("the broker's index of the queue covers [offset, next)", (*_QUEUE, "offset", "next")),
    Kind.RETAIN: Form("retention removed what lies below `offset`", (*_QUEUE, "offset")),
    Kind.DELETE: Form("an administrator deleted the group or the topic", ("status",), ("group", "topic")),
    Kind.JOIN: Form("the broker added the client to the group", ("group", "client", "broker")),
    Kind.LEAVE: Form(
        "the broker removed the client from the group; `cause` says why",
        ("group", "client", "broker", "cause"),
    ),
    Kind.SUBSCRIBE: Form(
        "the client subscribes the topic with the expression; empty means it no longer does",
        ("group", "client", "topic", "expression", "version"),
    ),
    Kind.VIEW: Form(
        "an allocation pass: its inputs and its own result, seen after the pass released what "
        "is no longer assigned and before it acquires anything",
        ("group", "client", "topic", "members", "queues", "strategy", "assigned"),
    ),
    Kind.OWN: Form(
        "a tenure begins; `offset` is where it will pull first",
        (*_TENURE, "offset", "mode"),
        modes=("concurrent", "ordered", "broadcast"),
    ),
    Kind.DISOWN: Form(
        "the tenure is flagged dropped; `cause` says why", (*_TENURE, "cause"), causes=tuple(DisownCause)
    ),
    Kind.QUERY: Form("the client asks for the committed offset on behalf of a tenure to come", _TENURE),
    Kind.QUERIED: Form(
        "the answer: a value in `offset`, none, or an error", (*_TENURE, "status"), ("value", "none", "error")
    ),
    Kind.INITIAL: Form(
        "the client chose the start by its initial-position policy",
        (*_TENURE, "offset", "cause"),
        causes=tuple(InitialCause),
    ),
    Kind.PULL: Form("the client asks for messages from `offset` on", (*_TENURE, "offset", "request")),
    Kind.SERVED: Form(
        "the broker evaluated a pull; `version` is the puller's subscription, `evaluated` the one used",
        ("group", *_QUEUE, "client", "offset", "next", "request", "status"),
        ("found", "no-new", "no-match", "moved", "error"),
    ),
    Kind.PULLED: Form(
        "the client took the answer: it admitted `offsets` to custody and goes on at `next`; "
        "what lies in [offset, next) and is not admitted was filtered or is gone",
        (*_TENURE, "offset", "next", "request", "status", "offsets"),
        ("found", "no-new", "no-match", "moved", "error"),
    ),
    Kind.HOLD: Form(
        "the broker suspends a pull until something arrives",
        ("group", *_QUEUE, "client", "offset", "request"),
    ),
    Kind.WAKE: Form(
        "the broker takes a held pull up again",
        ("group", *_QUEUE, "client", "request", "cause"),
        causes=tuple(WakeCause),
    ),
    Kind.FLOW: Form(
        "the client puts off a pull; `cause` is the limit that was reached",
        (*_TENURE, "cause"),
        causes=tuple(FlowCause),
    ),
    Kind.BUFFER: Form(
        "the tenure's buffer at rest: its counters, its content `offsets` and the bytes really held",
        (*_TENURE, "message_count", "byte_count", "held_bytes", "offsets"),
    ),
    Kind.START: Form(
        "a listener call begins for one message", (*_TENURE, "offset", "message", "attempt", "request")
    ),
    Kind.END: Form(
        "the listener call returned for one message",
        (*_TENURE, "offset", "message", "attempt", "request", "status"),
        ("success", "retry", "suspend", "commit", "rollback", "failed"),
    ),
    Kind.BACK: Form(
        "returning a failed message was answered; `attempt` and `level` are those of the copy",
        (*_TENURE, "offset", "message", "attempt", "level", "status", "outcome", "cause"),
        ("retry", "dead-letter"),
        causes=tuple(BackCause),
    ),
    Kind.LOCAL: Form("the tenure's own position became `offset`", (*_TENURE, "offset")),
    Kind.COMMIT: Form(
        "the broker holds `offset` for the group from now on, also after a reset; `cause` is the carrier",
        ("group", *_QUEUE, "offset", "cause"),
        causes=tuple(CommitCause),
    ),
    Kind.STALE: Form(
        "the broker refused a commit from before a reset: it does not hold `offset`",
        ("group", *_QUEUE, "offset", "client", "cause"),
        causes=tuple(CommitCause),
    ),
    Kind.RESET: Form(
        "an administrator moves the group to `offset`",
        ("group", *_QUEUE, "offset", "status"),
        ("begun", "done"),
    ),
    Kind.LOCK: Form("the broker decided on a lock request", ("group", *_QUEUE, "client", "outcome")),
    Kind.LOCKED: Form("the client learned the decision", ("group", *_QUEUE, "client", "outcome")),
    Kind.UNLOCK: Form(
        "the broker was asked to unlock; ok if the asker held the lock",
        ("group", *_QUEUE, "client", "outcome"),
    ),
    Kind.DELIVER: Form(
        "the schedule service stored a delayed message in its target (or failed to)",
        ("broker", "level", "offset", "message", "due_ms", "outcome"),
    ),
    Kind.DIVERT: Form(
        "an undeliverable delayed message was put aside visibly", ("broker", "level", "offset", "message")
    ),
    Kind.CURSOR: Form(
        "the level's cursor is `offset`",
        ("broker", "level", "offset", "status"),
        ("moved", "flushed", "loaded", "copied"),
    ),
    Kind.HALF: Form("the broker stored a half message", ("broker", "offset", "message")),
    Kind.RESOLVE: Form(
        "the half message's resolution record is stored",
        ("broker", "offset", "message", "status"),
        ("commit", "rollback"),
    ),
    Kind.ROUND: Form("a round of transaction checks begins", ("broker",)),
    Kind.CHECK: Form(
        "the broker asks a producer about a half message", ("broker", "offset", "message", "outcome")
    ),
    Kind.REQUEUE: Form(
        "the half message was appended again, now at `next`", ("broker", "offset", "message", "next")
    ),
    Kind.EXCEED: Form(
        "the half message exceeded its limits and was put aside visibly",
        ("broker", "offset", "message"),
        causes=tuple(ExceedCause),
    ),
    Kind.HALF_CURSOR: Form("checks go on at `offset`", ("broker", "offset")),
    Kind.REQUEST: Form(
        "the node put a request with number `request` on the hop `address`; `message` identifies its content",
        ("address", "request", "message"),
    ),
    Kind.RESPONSE: Form(
        "the node took answer `request` from the hop; `message` identifies the request it was made for",
        ("address", "request", "message"),
    ),
    Kind.CODEC: Form("the node decoded what was encoded; ok if it was equal", ("cause", "outcome")),
}
