"""The ways in which a group can consume; each value is the name on the wire."""

from enum import Enum


class MessageModel(Enum):
    """Whether the members share the queues or each takes all of them."""

    CLUSTERING = "CLUSTERING"
    BROADCASTING = "BROADCASTING"


class ConsumeType(Enum):
    """Whether the client drives the listener (push) or the user asks (pull, lite pull)."""

    PUSH = "CONSUME_PASSIVELY"
    PULL = "CONSUME_ACTIVELY"


class ListenerKind(Enum):
    """Whether messages of one queue may be processed side by side."""

    CONCURRENT = "concurrent"
    ORDERLY = "orderly"


def is_lock_needed(kind: ListenerKind, model: MessageModel, *, broadcasting_locks: bool = False) -> bool:
    """Whether a queue is locked at its broker before it is acquired.

    Apache 4.9.x also locks for an orderly broadcasting listener (`broadcasting_locks`), although
    its members do not exclude each other; 4.9.3 then never pulls at all.

    Clause: group.orderly.broadcasting-takes-no-lock
    """
    return kind is ListenerKind.ORDERLY and (model is MessageModel.CLUSTERING or broadcasting_locks)
