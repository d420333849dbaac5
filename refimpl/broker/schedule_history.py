"""What the history and the log lines say of one delay level."""

from typing import NamedTuple

from refimpl.broker.config_table import Note
from refimpl.broker.recorder import Recorder
from refimpl.broker.renewal import derive_stored_identity
from refimpl.effect import Severity
from spec.history.event import Event, Outcome
from spec.history.kind import Kind
from spec.layout.stored_message import StoredMessage
from spec.values.name import SCHEDULE_TOPIC


class Due(NamedTuple):
    """A message that is due, as the queue and the log have it."""

    stored: StoredMessage
    due_ms: int


class ScheduleHistory:
    """The pen of one level."""

    def __init__(self, level: int, recorder: Recorder, note: Note) -> None:
        self._level = level
        self._recorder = recorder
        self._note = note
        self._told = -1
        """The cursor as the history knows it."""

    def note(self, severity: Severity, text: str) -> None:
        """Whoever runs the process is told."""
        self._note(severity, f"delay level {self._level}, {text}")

    def record_delivery(self, offset: int, due: Due, now_ms: int, outcome: Outcome) -> None:
        """The message was stored in its target, or was not."""
        self._record_message(Kind.DELIVER, offset, due, now_ms, outcome)

    def record_divert(self, offset: int, due: Due, now_ms: int) -> None:
        """The message was put aside visibly."""
        self._record_message(Kind.DIVERT, offset, due, now_ms, Outcome.NONE)

    def record_gone(self, offset: int, now_ms: int) -> None:
        """The message cannot be read: nothing up to it can come out any more."""
        if self._recorder.is_on:
            event = self._recorder.event(Kind.RETAIN, now_ms)
            self._recorder.add(event._replace(topic=SCHEDULE_TOPIC, queue=self._level - 1, offset=offset + 1))

    def record_cursor(self, status: str, offset: int, now_ms: int) -> None:
        """The cursor is here; that it moved is told once for each place."""
        if status == "moved" and offset == self._told:
            return
        if status != "flushed":
            self._told = offset
        if self._recorder.is_on:
            self._recorder.add(self._event(Kind.CURSOR, offset, now_ms)._replace(status=status))

    def _record_message(self, kind: Kind, offset: int, due: Due, now_ms: int, outcome: Outcome) -> None:
        if self._recorder.is_on:
            message, origin = derive_stored_identity(due.stored)
            event = self._event(kind, offset, now_ms)
            self._recorder.add(
                event._replace(message=message, origin=origin, due_ms=due.due_ms, outcome=outcome)
            )

    def _event(self, kind: Kind, offset: int, now_ms: int) -> Event:
        return self._recorder.event(kind, now_ms)._replace(level=self._level, offset=offset)
