"""A cursor over a queue, when what it passes takes time to be dealt with.

Several messages may be under way at once; the cursor passes them in the order of the queue, each
when it is dealt with and all before it are. There are two places to know. The cursor is where the
queue is done with; `safe` is where a restart may go on. The second is behind the first until the
log is on disk: a saved cursor that is ahead of what it rests on would lose messages in a crash.
"""

from collections import deque
from collections.abc import Callable
from typing import Generic, TypeVar

from refimpl.store.commit_log import CommitLog
from spec.values.units import CommitLogPosition, QueueOffset

WhyT = TypeVar("WhyT")


class Flight(Generic[WhyT]):
    """One message that the cursor will pass, and why it may."""

    __slots__ = ("end", "offset", "why")

    def __init__(self, offset: QueueOffset, why: WhyT) -> None:
        self.offset = offset
        self.why = why
        self.end: CommitLogPosition | None = None
        """Up to where the log must be on disk for the passing to be safe; None while nothing is known."""


class Passage(Generic[WhyT]):
    """The cursor of one queue; `advance` is the rule by which it moves."""

    def __init__(
        self, log: CommitLog, cursor: QueueOffset, advance: Callable[[QueueOffset, WhyT], QueueOffset]
    ) -> None:
        self._log = log
        self._advance = advance
        self.cursor = cursor
        self._safe = cursor
        self._under_way: deque[Flight[WhyT]] = deque()
        self._unsafe: deque[tuple[QueueOffset, CommitLogPosition]] = deque()
        """Places of the cursor that are not safe yet, and what each one needs."""

    @property
    def next_offset(self) -> QueueOffset:
        """The first message that is not under way."""
        return QueueOffset(self._under_way[-1].offset + 1) if self._under_way else self.cursor

    @property
    def count(self) -> int:
        """How many messages are under way, or wait for one that is."""
        return len(self._under_way)

    @property
    def safe(self) -> QueueOffset:
        """Where a restart may go on, whatever a crash takes."""
        while self._unsafe and self._unsafe[0][1] <= self._log.flushed:
            self._safe = self._unsafe.popleft()[0]
        return self._safe

    def depart(self, why: WhyT) -> Flight[WhyT]:
        """The next message is under way."""
        flight = Flight(self.next_offset, why)
        self._under_way.append(flight)
        return flight

    def land(self, flight: Flight[WhyT], end: int = 0) -> None:
        """The message is dealt with by what stands in the log before `end`; the cursor follows if it can."""
        flight.end = CommitLogPosition(end)
        while self._under_way and (end_position := self._under_way[0].end) is not None:
            passed = self._under_way.popleft()
            self.cursor = self._advance(self.cursor, passed.why)
            self._unsafe.append((self.cursor, end_position))
        # Asking keeps the places few where nobody saves.
        _ = self.safe

    def rewind(self, offset: int) -> None:
        """Nothing from this offset on is under way."""
        while self._under_way and self._under_way[-1].offset >= offset:
            self._under_way.pop()

    def jump(self, cursor: QueueOffset) -> None:
        """The cursor stands here, because its queue begins or ends here; nothing is under way."""
        self._under_way.clear()
        self._unsafe.clear()
        self.cursor = self._safe = cursor
