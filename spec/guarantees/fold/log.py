"""What each broker's log holds, as far as it was seen being written.

The fold keeps the newest appends of a broker, enough to tell which of them a recovery took back,
and the next free offset of each queue. A recovery that reaches further back than the fold
remembers leaves it knowing nothing about the queues concerned.
"""

from collections import deque
from collections.abc import Mapping
from typing import Final

from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import ABSENT, Event, QueueKey
from spec.history.kind import Kind
from spec.override import override

MEMORY: Final = 65_536
"""Appends remembered per broker; far more than any disk holds back."""

MASTER: Final = frozenset({ABSENT, 0})
"""Replica numbers under which a broker assigns offsets; a slave only copies them."""


class Logs(Fold):
    """Next free offsets, and what the latest recovery took back."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.next_free: dict[QueueKey, int] = {}
        self.first_kept: dict[QueueKey, int] = {}
        """Queue to the lowest offset that was seen being stored and that retention has not removed."""
        self.lost: dict[str, list[Event]] = {}
        """Broker to the appends that its latest recovery took back, newest first."""
        self._newest: dict[str, deque[Event]] = {}

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.APPEND: self.on_append,
            Kind.RECOVER: self.on_recover,
            Kind.RETAIN: self.on_retain,
            Kind.DELETE: self.on_delete,
        }

    def on_append(self, event: Event) -> None:
        """The queue's next free offset moves on; a copy at a slave assigns nothing."""
        if event.replica not in MASTER:
            return
        key = event.queue_key
        known = self.next_free.get(key)
        if known is None:
            self.first_kept[key] = event.offset
        self.next_free[key] = event.offset + 1 if known is None else max(known, event.offset + 1)
        newest = self._newest.get(event.broker)
        if newest is None:
            newest = self._newest[event.broker] = deque(maxlen=MEMORY)
        newest.append(event)

    def on_recover(self, event: Event) -> None:
        """Everything at or behind the end of the valid log is gone, and its offsets are free again."""
        if event.replica not in MASTER:
            return
        newest = self._newest.get(event.broker, deque())
        lost = self.lost[event.broker] = []
        is_full = len(newest) == MEMORY
        while newest and newest[-1].position >= event.position:
            append = newest.pop()
            lost.append(append)
            self.next_free[append.queue_key] = append.offset
        if is_full and not newest:
            self.forget(event.broker)

    def on_retain(self, event: Event) -> None:
        """What retention removed is not in the log any more."""
        first = self.first_kept.get(event.queue_key)
        if first is not None:
            self.first_kept[event.queue_key] = max(first, event.offset)

    def on_delete(self, event: Event) -> None:
        """A deleted topic's queues begin again at a place the fold does not know."""
        if event.status == "topic":
            for key in [key for key in self.next_free if key[0] == event.topic]:
                del self.next_free[key], self.first_kept[key]

    def forget(self, broker: str) -> None:
        """Nothing is known about the broker's queues any more."""
        for key in [key for key in self.next_free if key[1] == broker]:
            del self.next_free[key], self.first_kept[key]
