"""What each tenure has taken over and not yet finished.

A message comes into a tenure's custody when a pull admits it. It leaves by success or by an
acknowledged return; what a pull passed over was filtered or is gone and needs no custody. So the
finished offsets of a tenure, counted from its start, say everything: the lowest one missing is the
lowest in custody, or the pull cursor when nothing is.

The fold looks a tenure up once an event and leaves it in `current` for every monitor.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from spec.guarantees.fold.offset_set import OffsetSet
from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import Event, Outcome
from spec.history.kind import Kind
from spec.override import override

HolderKey = tuple[str, str, str, str, int]
"""Client, group, topic, broker and queue number."""

FINISHING: Final = frozenset({"success", "commit"})
"""What a listener answers when a message is done."""

BROADCAST: Final = "broadcast"
ORDERED: Final = "ordered"


class Holding:
    """One tenure: where it began, how far it came, what it has finished."""

    __slots__ = (
        "cursor",
        "ended",
        "failing",
        "finished",
        "first_seen",
        "highest_done",
        "own",
        "start",
        "tenure",
    )

    def __init__(self, own: Event, first_seen: int) -> None:
        self.own = own
        self.tenure = own.tenure
        self.start = own.offset
        self.first_seen = first_seen
        """The lowest number of this holder's tenures whose beginning was seen."""
        self.ended: Event | None = None
        """The `disown` of the tenure, or what stopped its node."""
        self.finished = OffsetSet()
        self.cursor = own.offset
        """Where the next pull belongs."""
        self.highest_done = own.offset - 1
        """The highest offset that was consumed or returned."""
        self.failing: dict[int, Event] = {}
        """Offsets whose last listener call failed and whose return is not acknowledged."""

    @property
    def frontier(self) -> int:
        """The lowest offset from the start on that is not finished."""
        return self.finished.lowest_missing(self.start)


def passed_over(pulled: Event) -> Iterator[tuple[int, int]]:
    """The ranges of the answer that were not admitted: filtered, or gone."""
    if pulled.status == "error" or len(pulled.offsets) == pulled.next - pulled.offset:
        return
    place = pulled.offset
    for offset in pulled.offsets:
        if offset > place:
            yield place, offset
        place = max(place, offset + 1)
    if pulled.next > place:
        yield place, pulled.next


class Custody(Fold):
    """The latest tenure of each holder, and the one that the current event belongs to."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.held: dict[HolderKey, Holding] = {}
        self.latest: Holding | None = None
        """The newest tenure of the current event's holder, whatever number the event carries."""
        self.current: Holding | None = None
        """The tenure of the current event, if it is the newest and its beginning was seen."""
        self.before: Holding | None = None
        """The tenure that the current `own` replaces."""
        self.replaced: dict[HolderKey, Event] = {}
        """Holder to the `own` of the tenure before its newest one."""
        self.was_finished = False
        """Whether the current event's offset was finished before it."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.DISOWN: self.on_disown,
            Kind.DOWN: self.on_node,
            Kind.UP: self.on_node,
            Kind.PULL: self.on_effect,
            Kind.START: self.on_effect,
            Kind.BUFFER: self.on_effect,
            Kind.PULLED: self.on_pulled,
            Kind.END: self.on_end,
            Kind.BACK: self.on_back,
            Kind.LOCAL: self.on_effect,
        }

    def find(self, event: Event) -> Holding | None:
        """The event's tenure is the current one."""
        latest = self.latest = self.held.get(
            (event.client, event.group, event.topic, event.broker, event.queue)
        )
        self.current = current = latest if latest is not None and latest.tenure == event.tenure else None
        return current

    def on_effect(self, event: Event) -> None:
        """The event's tenure is the current one."""
        self.find(event)

    def on_own(self, event: Event) -> None:
        """A tenure begins with nothing in custody."""
        key = (event.client, event.group, event.topic, event.broker, event.queue)
        self.before = before = self.held.get(key)
        if before is not None:
            self.replaced[key] = before.own
        goes_on = before is not None and before.own.node == event.node and before.tenure < event.tenure
        first_seen = before.first_seen if before is not None and goes_on else event.tenure
        self.held[key] = self.latest = self.current = Holding(event, first_seen)

    def on_disown(self, event: Event) -> None:
        """The tenure is over; what it held is nobody's until another tenure reads it."""
        holding = self.find(event)
        if holding is not None and holding.ended is None:
            holding.ended = event

    def on_node(self, event: Event) -> None:
        """A node that stops, or starts anew, has no tenures any more."""
        for holding in self.held.values():
            if holding.own.node == event.node and holding.ended is None:
                holding.ended = event

    def on_pulled(self, event: Event) -> None:
        """The cursor moves on; what was passed over is finished without custody."""
        holding = self.find(event)
        if holding is None or event.status == "error":
            return
        holding.cursor = event.next
        for start, end in passed_over(event):
            holding.finished.add_range(start, end)

    def on_end(self, event: Event) -> None:
        """A success finishes the offset, a failure keeps it in custody."""
        holding = self.find(event)
        if holding is None:
            return
        offset = event.offset
        self.was_finished = offset in holding.finished
        if event.status in FINISHING or holding.own.mode == BROADCAST:
            self._finish(holding, offset)
        elif not self.was_finished:
            holding.failing[offset] = event

    def on_back(self, event: Event) -> None:
        """An acknowledged return finishes the offset; any other leaves it in custody."""
        holding = self.find(event)
        if holding is None:
            return
        self.was_finished = event.offset in holding.finished
        if event.outcome is Outcome.OK:
            self._finish(holding, event.offset)

    def _finish(self, holding: Holding, offset: int) -> None:
        holding.finished.add(offset)
        holding.highest_done = max(holding.highest_done, offset)
        if holding.failing:
            holding.failing.pop(offset, None)
