"""What waits in the delay store of each broker, and what came out of it.

A delayed message is stored in the schedule topic, in the queue of its level (level minus one), and
comes out by being delivered or put aside. One whose delivery has an unknown end is let go. What
retention removed from the schedule topic can no longer come out.
"""

from collections.abc import Mapping

from spec.guarantees.fold.log import MASTER
from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import Event, Outcome
from spec.history.kind import Kind
from spec.override import override
from spec.values.name import SCHEDULE_TOPIC

Level = tuple[str, int]
"""Broker and delay level."""


class Delays(Fold):
    """The waiting messages of each level, and the one that the current event is about."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.waiting: dict[Level, dict[int, Event]] = {}
        """Level to the `append` of what waits there, by offset in the order of storing."""
        self.stored: Event | None = None
        """The `append` of the message that the current `deliver` or `divert` is about, if it was seen."""
        self.removed: dict[Level, int] = {}
        """Level to the offset below which retention has removed everything."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.APPEND: self.on_append,
            Kind.DELIVER: self.on_deliver,
            Kind.DIVERT: self.on_divert,
            Kind.RETAIN: self.on_retain,
            Kind.RANGE: self.on_retain,
        }

    def on_append(self, event: Event) -> None:
        """A delayed message waits from now on; a slave's copy of it is the same message."""
        if event.topic == SCHEDULE_TOPIC and event.replica in MASTER:
            self.waiting.setdefault((event.broker, event.queue + 1), {})[event.offset] = event

    def on_deliver(self, event: Event) -> None:
        """A message that was not refused is out."""
        waiting = self.waiting.get((event.broker, event.level), {})
        self.stored = waiting.get(event.offset)
        if event.outcome is not Outcome.FAIL:
            waiting.pop(event.offset, None)

    def on_divert(self, event: Event) -> None:
        """A message that was put aside is out."""
        self.stored = self.waiting.get((event.broker, event.level), {}).pop(event.offset, None)

    def on_retain(self, event: Event) -> None:
        """What is gone does not wait."""
        if event.topic != SCHEDULE_TOPIC or event.replica not in MASTER:
            return
        level = (event.broker, event.queue + 1)
        self.removed[level] = max(self.removed.get(level, 0), event.offset)
        waiting = self.waiting.get(level, {})
        for offset in [offset for offset in waiting if offset < event.offset]:
            del waiting[offset]
