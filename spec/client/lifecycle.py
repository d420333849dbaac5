"""Start and end of a consumer, as an order of steps.

The end decides whether a rolling restart repeats work. The reference first lets running listener
calls finish, then stores the offsets, then gives up the locks, then leaves the group: whoever takes
over finds everything done that was done. Apache 4.9.x waits for nothing by default and unlocks
before it stores; its next owner may start while the old listener runs, and from an older offset.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from spec.group.consumption import ListenerKind, MessageModel, is_lock_needed
from spec.rejection import Rejection


class ShutdownStep(Enum):
    """One step of leaving."""

    STOP_PULLING = "send no further pull"
    DRAIN = "wait for running listener calls"
    PERSIST = "store the offsets and wait for the answer"
    UNLOCK = "unlock all queues"
    UNREGISTER = "leave the group at every known broker"
    DROP = "end all tenures"


class ShutdownOrder(Enum):
    """Whose order."""

    STRICT = "reference"
    APACHE_4_9 = "apache 4.9"


def derive_shutdown_steps(
    kind: ListenerKind, model: MessageModel, *, order: ShutdownOrder = ShutdownOrder.STRICT
) -> tuple[ShutdownStep, ...]:
    """The steps in their order.

    Clauses: client.shutdown.drain-persist-unlock, client.shutdown.leaves-last
    """
    unlock = (ShutdownStep.UNLOCK,) if is_lock_needed(kind, model) else ()
    leave = (ShutdownStep.UNREGISTER, ShutdownStep.DROP)
    match order:
        case ShutdownOrder.STRICT:
            head = (ShutdownStep.STOP_PULLING, ShutdownStep.DRAIN, ShutdownStep.PERSIST)
            return (*head, *unlock, *leave)
        case ShutdownOrder.APACHE_4_9:
            return (*unlock, ShutdownStep.PERSIST, *leave)


class StartStep(Enum):
    """One step of joining."""

    CHECK_SETTINGS = "check the settings"
    LOAD_OFFSETS = "load the offset store"
    REGISTER = "register the group in this instance; a second consumer of the group is an error"
    UPDATE_ROUTES = "ask for the routes of all subscribed topics"
    CHECK_AT_BROKER = "let a broker check SQL92 expressions"
    HEARTBEAT = "heartbeat to all brokers"
    REBALANCE = "rebalance at once"


START_STEPS: Final = tuple(StartStep)
"""Routes before heartbeat before rebalance. Clause: client.consumer.start-order."""

SETTING_RANGES: Final[Mapping[str, tuple[int, int]]] = {
    "consume_thread_min": (1, 1000),
    "consume_thread_max": (1, 1000),
    "consume_concurrently_max_span": (1, 65_535),
    "pull_threshold_for_queue": (1, 65_535),
    "pull_threshold_size_for_queue": (1, 1024),
    "consume_message_batch_max_size": (1, 1024),
    "pull_batch_size": (1, 1024),
    "pull_interval": (0, 65_535),
}
"""What Apache's push consumer accepts, both ends included."""

DEFAULT_CONSUMER_GROUP: Final = "DEFAULT_CONSUMER"


def check_setting(name: str, value: int) -> int:
    """The value itself, or a Rejection that names the range.

    Clause: client.consumer.setting-ranges
    """
    least, most = SETTING_RANGES[name]
    if not least <= value <= most:
        reason = f"{name} is {value}: expected {least} to {most}"
        raise Rejection("client.consumer.setting-ranges", 0, reason)
    return value
