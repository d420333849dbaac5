"""What a name server writes into the history: its start and end, and what it knows of brokers."""

from enum import StrEnum

from refimpl.history_log import HistoryLog
from spec.history.event import Event, Outcome
from spec.history.kind import Kind


class Forgotten(StrEnum):
    """Why a registration is gone: the `cause` of an `unregister`."""

    FAREWELL = "farewell"
    CLOSED = "connection-closed"
    EXPIRED = "expired"
    MOVED = "other-id"
    """The same address has registered under another id."""
    REPLACED = "replaced"
    """Another address has registered under the same id."""


class Recorder:
    """One name server's pen; without a log it writes nothing."""

    def __init__(self, log: HistoryLog | None, node: str) -> None:
        self._log = log
        self._node = node

    def start(self, now_ms: int) -> None:
        """The name server serves, and knows nobody."""
        self._add(Event("", 0, now_ms, self._node, Kind.UP, status="name-server"))

    def stop(self, now_ms: int) -> None:
        """The name server has ended as it should."""
        self._add(Event("", 0, now_ms, self._node, Kind.DOWN, status="graceful"))

    def register(self, broker: str, replica: int, address: str, version: int, now_ms: int) -> None:
        """The address stands under the broker's name and id; its tables have that version."""
        event = Event("", 0, now_ms, self._node, Kind.REGISTER, broker=broker, version=version)
        self._add(event._replace(replica=replica, address=address))

    def unregister(
        self, broker: str, replica: int, address: str, now_ms: int, *, cause: Forgotten, is_done: bool
    ) -> None:
        """The address no longer stands there, or it was asked for and did not happen."""
        outcome = Outcome.OK if is_done else Outcome.FAIL
        event = Event("", 0, now_ms, self._node, Kind.UNREGISTER, broker=broker, outcome=outcome)
        self._add(event._replace(replica=replica, address=address, cause=cause))

    def _add(self, event: Event) -> None:
        if self._log is not None:
            self._log.add(event)
