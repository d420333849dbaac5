"""What a core has to do at a later time, in the order of time and then of entry."""

from collections.abc import Callable
from heapq import heappop, heappush
from typing import Final

NEVER: Final = 2**62
"""A time that does not come."""

Action = Callable[[int], None]
"""What to do; it is handed the current time."""


class Agenda:
    """Deadlines of one core."""

    def __init__(self) -> None:
        self._entries: list[tuple[int, int, Action]] = []
        self._count = 0

    @property
    def deadline_ms(self) -> int:
        """When there is something to do next; `NEVER` if there is nothing."""
        return self._entries[0][0] if self._entries else NEVER

    def at(self, time_ms: int, action: Action) -> None:
        """The action runs once, at this time or as soon as possible after it."""
        self._count += 1
        heappush(self._entries, (time_ms, self._count, action))

    def every(self, first_ms: int, period_ms: int, action: Action) -> None:
        """The action runs at a time and then again one period after each run."""

        def run(now_ms: int) -> None:
            # The next round is entered first: an action that fails must not be its last.
            self.at(now_ms + period_ms, run)
            action(now_ms)

        self.at(first_ms, run)

    def run_due(self, now_ms: int) -> None:
        """Everything that was due has run, what became due meanwhile included."""
        while self._entries and self._entries[0][0] <= now_ms:
            _, _, action = heappop(self._entries)
            action(now_ms)
