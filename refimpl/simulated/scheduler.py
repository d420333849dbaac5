"""The one clock of a simulated world: what happens next, in the order of time and then of entry."""

from collections.abc import Callable

from refimpl.agenda import Action, Agenda


class Scheduler:
    """Time passes only from one event to the next."""

    def __init__(self, now_ms: int) -> None:
        self.now_ms = now_ms
        self._agenda = Agenda()

    def at(self, time_ms: int, action: Action) -> None:
        """The action runs at this time, or now if the time has passed."""
        self._agenda.at(max(time_ms, self.now_ms), action)

    def after(self, delay_ms: int, action: Action) -> None:
        """The action runs so much later."""
        self._agenda.at(self.now_ms + delay_ms, action)

    @property
    def next_ms(self) -> int:
        """When something happens next; `NEVER` if nothing does."""
        return self._agenda.deadline_ms

    def run_until(self, time_ms: int) -> None:
        """Everything up to this time has happened, and it is this time."""
        while self.next_ms <= time_ms:
            self._run_next()
        self.now_ms = max(self.now_ms, time_ms)

    def run_while(self, is_waiting: Callable[[], bool], limit_ms: int) -> bool:
        """It is waited no more, or (False) it would be at the limit, which is the time now."""
        while is_waiting():
            if self.next_ms > limit_ms:
                self.now_ms = max(self.now_ms, limit_ms)
                return False
            self._run_next()
        return True

    def _run_next(self) -> None:
        """All events of the next time have happened."""
        self.now_ms = self.next_ms
        self._agenda.run_due(self.now_ms)
