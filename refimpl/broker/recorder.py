"""What a broker writes into the history: its own deeds, as it does them.

Rooms ask `is_on` first, so a broker that records nothing pays nothing for it.
"""

from typing import Final

from refimpl.history_log import HistoryLog
from spec.history.event import Event
from spec.history.kind import Kind

OBSERVED: Final = frozenset(
    {
        *(Kind.UP, Kind.DOWN, Kind.RECOVER, Kind.RANGE, Kind.RETAIN, Kind.DELETE),
        *(Kind.APPEND, Kind.DISPATCH, Kind.SERVED, Kind.HOLD, Kind.WAKE),
        *(Kind.JOIN, Kind.LEAVE, Kind.LOCK, Kind.UNLOCK),
        *(Kind.COMMIT, Kind.STALE, Kind.RESET),
        *(Kind.DELIVER, Kind.DIVERT, Kind.CURSOR),
        *(Kind.HALF, Kind.RESOLVE, Kind.ROUND, Kind.CHECK, Kind.REQUEUE, Kind.EXCEED, Kind.HALF_CURSOR),
        *(Kind.REGISTER, Kind.UNREGISTER),
    }
)
"""The kinds that brokers and name servers record: what clients do on their side is not among them."""


class Recorder:
    """One broker's pen; without a log it writes nothing."""

    def __init__(self, log: HistoryLog | None, node: str, broker: str) -> None:
        self._log = log
        self.is_on = log is not None
        self.node = node
        self.broker = broker
        self.log_mark = log.log_mark if log is not None else None
        """How far an earlier life of the broker has recorded its commit log."""

    def event(self, kind: Kind, now_ms: int) -> Event:
        """An event of this broker that says nothing more yet."""
        return Event("", 0, now_ms, self.node, kind, broker=self.broker)

    def add(self, event: Event) -> None:
        """The event is in the history, if there is one."""
        if self._log is not None:
            self._log.add(event)
