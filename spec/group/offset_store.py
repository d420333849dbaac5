"""The client's offset store: one number a queue, between the process queue and the broker.

Several threads report positions, out of order. Concurrent listeners report with "increase only",
so a late report cannot undo a later one. Orderly listeners, resets and corrections set the value,
because one thread at a time has the say, and a reset may go back.

Reading has three modes. A miss in memory is not the answer when the mode goes on to the store: a
client that stops there restarts its group from nowhere. What the store answers is remembered.

Persisting everything sends the queues that are held now, and forgets the others: their offset
belongs to another member.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from enum import Enum

from spec.values.message_queue import MessageQueue
from spec.values.units import QueueOffset


def derive_updated(stored: QueueOffset | None, position: QueueOffset, *, increase_only: bool) -> QueueOffset:
    """The value after a report.

    Clause: group.offset-store.increase-only
    """
    return max(stored, position) if increase_only and stored is not None else position


class ReadMode(Enum):
    """Where an offset is looked up."""

    MEMORY = "memory"
    STORE = "store"
    MEMORY_THEN_STORE = "memory, then store"


@dataclass(frozen=True, slots=True)
class Known:
    """Memory has the answer."""

    offset: QueueOffset


@dataclass(frozen=True, slots=True)
class Unknown:
    """Memory has none and was the only place to look."""


@dataclass(frozen=True, slots=True)
class AskStore:
    """Ask the broker, or the local file, and remember what it answers."""


def derive_read(mode: ReadMode, memory: QueueOffset | None) -> Known | Unknown | AskStore:
    """How a read goes on, given what memory has.

    Clause: group.offset-store.read-modes
    """
    if mode is ReadMode.STORE:
        return AskStore()
    if memory is not None:
        return Known(memory)
    return Unknown() if mode is ReadMode.MEMORY else AskStore()


@dataclass(frozen=True, slots=True)
class PersistAll:
    """What a round of persisting sends, in Apache's queue order, and what it forgets."""

    send: tuple[tuple[MessageQueue, QueueOffset], ...]
    forget: tuple[MessageQueue, ...]


def derive_persist_all(
    memory: Mapping[MessageQueue, QueueOffset], held: Collection[MessageQueue]
) -> PersistAll:
    """One round of persisting.

    Clause: group.offset-store.persists-held-only
    """
    ordered = sorted(memory)
    send = tuple((queue, memory[queue]) for queue in ordered if queue in held)
    return PersistAll(send, tuple(queue for queue in ordered if queue not in held))
