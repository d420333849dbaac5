"""The history that the nodes of one world write together.

A run has one order of events, so its nodes share one log, which numbers what they add. Where the
events go is the world's business: a file, a list, a judge.
"""

from collections.abc import Callable
from itertools import count
from typing import NamedTuple

from spec.history.declaration import Declaration, encode_declaration
from spec.history.event import Event
from spec.history.kind import Kind


class LogMark(NamedTuple):
    """How far the history of a broker has recorded its commit log."""

    position: int
    is_append: bool
    """Whether the message that stands there is recorded; if not, it is where a recovered log ended."""


class HistoryLog:
    """One run; its first event declares what will be recorded.

    A log that goes on with the run of an earlier one is told the next number, and declares nothing. It
    also knows how far that run had recorded the commit log, since more may have been stored.
    """

    def __init__(
        self,
        run: str,
        declaration: Declaration,
        write: Callable[[Event], None],
        now_ms: int,
        *,
        next_number: int = 0,
        log_mark: LogMark | None = None,
    ) -> None:
        self.log_mark = log_mark
        self._run = run
        self._write = write
        self._numbers = count(next_number)
        if next_number:
            return
        begin = Event("", 0, now_ms, "recorder", Kind.BEGIN, detail=encode_declaration(declaration))
        self.add(begin)

    def add(self, event: Event) -> None:
        """The event is in the log, under the next number of the run."""
        self._write(event._replace(run=self._run, sequence=next(self._numbers)))

    def end(self, now_ms: int) -> None:
        """Whoever judges knows that the observation ended here."""
        self.add(Event("", 0, now_ms, "recorder", Kind.END_OF_RUN))
