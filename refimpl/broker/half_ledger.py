"""What one life of a broker knows of its half messages beyond what stands in the log.

A half message may have several copies, of which the newest counts. Somebody may be deciding one
while the checks would append it again; then one waits for the other. All of this may be forgotten
at a restart: what is lost is only the knowledge that spares a producer a question.
"""

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple, TypeAlias

from spec.values.units import CommitLogPosition, QueueOffset

Waiting: TypeAlias = Callable[[int], None]
"""What is done when a half message is free again; it is handed the time."""

REMEMBERED: Final = 100_000
"""Decisions that are remembered until the checks have passed them; the oldest are forgotten first."""


class Decided(NamedTuple):
    """How a half message was decided."""

    kind: int
    is_recorded: bool
    """Whether the history knows it."""


class HalfLedger:
    """Half messages by the position of their first copy."""

    def __init__(self) -> None:
        self._newest: dict[CommitLogPosition, QueueOffset] = {}
        self._decided: dict[CommitLogPosition, Decided] = {}
        self._busy: dict[CommitLogPosition, deque[Waiting]] = {}
        self._unsent: dict[CommitLogPosition, int] = {}

    # Where

    def newest(self, family: CommitLogPosition, offset: QueueOffset) -> QueueOffset:
        """The queue offset of the newest copy, as far as it is known."""
        return max(offset, self._newest.get(family, offset))

    def move(self, family: CommitLogPosition, offset: QueueOffset) -> None:
        """There is a newer copy."""
        self._newest[family] = offset

    # Whether

    def decided(self, family: CommitLogPosition) -> Decided | None:
        """How the half message was decided; None if this life of the broker does not know of it."""
        return self._decided.get(family)

    def decide(self, family: CommitLogPosition, decided: Decided) -> None:
        """The half message is decided."""
        self._decided[family] = decided
        if len(self._decided) > REMEMBERED:
            del self._decided[next(iter(self._decided))]

    def forget(self, family: CommitLogPosition) -> None:
        """The checks are done with the half message."""
        self._newest.pop(family, None)
        self._decided.pop(family, None)
        self._unsent.pop(family, None)

    # Who

    def is_busy(self, family: CommitLogPosition) -> bool:
        """Whether the half message is being decided, or appended again."""
        return family in self._busy

    def begin(self, family: CommitLogPosition) -> None:
        """Somebody is at work with the half message."""
        self._busy[family] = deque()

    def wait(self, family: CommitLogPosition, action: Waiting) -> None:
        """The action runs when the half message is free."""
        self._busy[family].append(action)

    def end(self, family: CommitLogPosition, now_ms: int) -> None:
        """The half message is free, unless somebody who waited is at work with it now."""
        waiting = self._busy.pop(family)
        while waiting:
            if family in self._busy:
                self._busy[family].extend(waiting)
                return
            waiting.popleft()(now_ms)

    # How often

    def unsent(self, family: CommitLogPosition) -> int:
        """How many checks were counted although nobody could be asked any more."""
        return self._unsent.get(family, 0)

    def count_unsent(self, family: CommitLogPosition) -> None:
        """The last check was counted, and its producer has gone."""
        self._unsent[family] = self.unsent(family) + 1

    def clear_unsent(self, family: CommitLogPosition) -> None:
        """The newest copy carries the right number."""
        self._unsent.pop(family, None)
