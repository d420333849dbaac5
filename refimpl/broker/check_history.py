"""What the history and the log lines say of the transaction checks."""

from refimpl.broker.config_table import Note
from refimpl.broker.half_store import derive_half_identity
from refimpl.broker.recorder import Recorder
from refimpl.effect import Severity
from spec.history.event import ABSENT, Event, Outcome
from spec.history.kind import Kind
from spec.layout.stored_message import StoredMessage
from spec.values.system_flag import TransactionType


class CheckHistory:
    """The pen of the checks."""

    def __init__(self, recorder: Recorder, note: Note) -> None:
        self._recorder = recorder
        self._note = note
        self._told = ABSENT
        """The cursor as the history knows it."""

    def note(self, severity: Severity, text: str) -> None:
        """Whoever runs the process is told."""
        self._note(severity, f"transaction checks, {text}")

    def record_round(self, now_ms: int) -> None:
        """A round begins."""
        if self._recorder.is_on:
            self._recorder.add(self._recorder.event(Kind.ROUND, now_ms))

    def record_resolved(self, half: StoredMessage, kind: TransactionType, now_ms: int) -> None:
        """An operation record was found that an earlier life of the broker may not have told of."""
        if self._recorder.is_on:
            status = "rollback" if kind is TransactionType.ROLLBACK else "commit"
            self._recorder.add(self._event(Kind.RESOLVE, half, now_ms)._replace(status=status))

    def record_requeue(self, half: StoredMessage, next_offset: int, now_ms: int) -> None:
        """The half message was appended again."""
        if self._recorder.is_on:
            self._recorder.add(self._event(Kind.REQUEUE, half, now_ms)._replace(next=next_offset))

    def record_check(self, half: StoredMessage, offset: int, outcome: Outcome, now_ms: int) -> None:
        """A producer was asked, or nobody could be."""
        if self._recorder.is_on:
            event = self._event(Kind.CHECK, half, now_ms)
            self._recorder.add(event._replace(offset=offset, outcome=outcome))

    def record_exceed(self, half: StoredMessage, cause: str, now_ms: int) -> None:
        """The half message was given up visibly."""
        if self._recorder.is_on:
            self._recorder.add(self._event(Kind.EXCEED, half, now_ms)._replace(cause=cause))

    def record_cursor(self, offset: int, now_ms: int) -> None:
        """The checks go on here; told once for each place."""
        if self._recorder.is_on and offset != self._told:
            self._told = offset
            self._recorder.add(self._recorder.event(Kind.HALF_CURSOR, now_ms)._replace(offset=offset))

    def _event(self, kind: Kind, half: StoredMessage, now_ms: int) -> Event:
        event = self._recorder.event(kind, now_ms)
        return event._replace(offset=half.queue_offset, message=derive_half_identity(half))
