"""The process queue: custody as a client keeps it, with the messages themselves.

The rules are those of `custody`; here they work in place on a dictionary and a sorted list of
offsets. Pulled offsets nearly always go to the end of that list, and at most a few thousand are in
it, so a plain list is fast enough. The counters are kept, because flow control reads them at every
pull; they equal the content after every operation.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from spec.group.custody import (
    NOTHING_SEEN,
    derive_commit_position,
    derive_position,
    derive_removal_position,
)
from spec.values.units import QueueOffset

Message = TypeVar("Message")


@dataclass(slots=True)
class Shelf(Generic[Message]):
    """Messages by offset, in ascending order, each with its size."""

    offsets: list[int] = field(default_factory=list)
    content: dict[int, tuple[int, Message]] = field(default_factory=dict)

    def lowest(self) -> int | None:
        """The first offset."""
        return self.offsets[0] if self.offsets else None

    def highest(self) -> int | None:
        """The last offset."""
        return self.offsets[-1] if self.offsets else None

    def add(self, offset: int, size: int, message: Message) -> None:
        """The message stands at its offset, which was free."""
        insort(self.offsets, offset)
        self.content[offset] = (size, message)

    def pop(self, offset: int) -> tuple[int, Message] | None:
        """The offset is free; what stood there, if anything."""
        found = self.content.pop(offset, None)
        if found is not None:
            del self.offsets[bisect_left(self.offsets, offset)]
        return found


class ProcessQueue(Generic[Message]):
    """The messages in custody of one tenure."""

    __slots__ = ("count", "highest_seen", "in_process", "is_consuming", "pending", "size")

    def __init__(self) -> None:
        self.pending: Shelf[Message] = Shelf()
        self.in_process: Shelf[Message] = Shelf()
        self.highest_seen = NOTHING_SEEN
        self.count = 0
        self.size = 0
        self.is_consuming = False

    def put(self, messages: Iterable[tuple[QueueOffset, int, Message]]) -> bool:
        """The messages (offset, size, message) are in custody; whether a consumer must be woken.

        Clauses: group.process-queue.put-once, group.process-queue.dispatch-once
        """
        for offset, size, message in messages:
            if offset in self.pending.content or offset in self.in_process.content:
                continue
            self.pending.add(offset, size, message)
            self.highest_seen = max(self.highest_seen, offset)
            self.count += 1
            self.size += size
        wakes = bool(self.pending.offsets) and not self.is_consuming
        self.is_consuming = self.is_consuming or wakes
        return wakes

    def remove(self, offsets: Iterable[QueueOffset]) -> int:
        """The pending messages at these offsets are finished; what may be committed, or -1.

        Clauses: group.process-queue.position, group.process-queue.nothing-pending-no-position
        """
        was_pending = bool(self.pending.offsets)
        for offset in offsets:
            found = self.pending.pop(offset)
            if found is not None:
                self.count -= 1
                self.size -= found[0]
        return derive_removal_position(self.lowest(), self.highest_seen, was_pending=was_pending)

    def take(self, limit: int) -> list[tuple[QueueOffset, Message]]:
        """The lowest pending messages are in process; if there are none, nobody consumes any more.

        Clause: group.process-queue.take-lowest
        """
        lowest = self.pending.offsets[: max(0, limit)]
        taken = [
            (QueueOffset(offset), self._move(offset, self.pending, self.in_process)) for offset in lowest
        ]
        self.is_consuming = self.is_consuming and bool(taken)
        return taken

    def commit(self) -> int:
        """Everything in process is finished; what may be committed, or -1 if nothing was.

        Clause: group.process-queue.orderly-commit
        """
        position = derive_commit_position(self.in_process.highest(), self.pending.lowest())
        self.count -= len(self.in_process.offsets)
        self.size -= sum(size for size, _ in self.in_process.content.values())
        self.in_process = Shelf()
        return position

    def put_back(self, offsets: Iterable[QueueOffset]) -> None:
        """The messages in process at these offsets are pending again.

        Clause: group.process-queue.put-back-conserves
        """
        for offset in offsets:
            if offset in self.in_process.content:
                self._move(offset, self.in_process, self.pending)

    def roll_back(self) -> None:
        """Everything in process is pending again.

        Clause: group.process-queue.put-back-conserves
        """
        for offset in list(self.in_process.offsets):
            self._move(offset, self.in_process, self.pending)

    def clear(self) -> None:
        """Nothing is in custody and nothing was seen.

        Clause: group.process-queue.clear-forgets
        """
        self.pending, self.in_process = Shelf(), Shelf()
        self.highest_seen = NOTHING_SEEN
        self.count = self.size = 0

    def lowest(self) -> int | None:
        """The lowest offset in custody."""
        fronts = [at for at in (self.pending.lowest(), self.in_process.lowest()) if at is not None]
        return min(fronts) if fronts else None

    def span(self) -> int:
        """The distance from the first to the last pending offset.

        Clause: group.process-queue.span
        """
        offsets = self.pending.offsets
        return offsets[-1] - offsets[0] if offsets else 0

    def position(self) -> int:
        """What may be committed now: everything below is finished.

        Clause: group.process-queue.position
        """
        return derive_position(self.lowest(), self.highest_seen)

    @staticmethod
    def _move(offset: int, source: Shelf[Message], target: Shelf[Message]) -> Message:
        size, message = source.content[offset]
        source.pop(offset)
        target.add(offset, size, message)
        return message
