"""Who holds which queue: the live tenures of a run, and how the finished ones ended."""

from collections.abc import Mapping
from dataclasses import dataclass

from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import Event, QueueKey
from spec.history.kind import Kind
from spec.override import override

Holder = tuple[str, str, QueueKey]
"""Client, group and queue."""


@dataclass(slots=True)
class Tenure:
    """One acquisition of a queue, from its `own` to its `disown`."""

    own: Event
    disown: Event | None = None

    @property
    def is_live(self) -> bool:
        """Whether the tenure is not flagged dropped."""
        return self.disown is None


class Tenures(Fold):
    """The latest tenure of each client and queue, and the live holders of each queue."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.latest: dict[Holder, Tenure] = {}
        self.live: dict[tuple[str, QueueKey], dict[str, Tenure]] = {}
        """Group and queue to the live tenures there, by client."""
        self.held_by_node: dict[str, set[Holder]] = {}

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.DISOWN: self.on_disown,
            Kind.DOWN: self.on_down,
            Kind.UP: self.on_down,
        }

    def on_own(self, event: Event) -> None:
        """A tenure begins; it replaces what the fold knew of this client and queue."""
        holder = (event.client, event.group, event.queue_key)
        tenure = Tenure(event)
        self.latest[holder] = tenure
        self.live.setdefault((event.group, event.queue_key), {})[event.client] = tenure
        self.held_by_node.setdefault(event.node, set()).add(holder)

    def on_disown(self, event: Event) -> None:
        """The tenure ends; a `disown` of an older tenure changes nothing."""
        holder = (event.client, event.group, event.queue_key)
        tenure = self.latest.get(holder)
        if tenure is not None and tenure.own.tenure == event.tenure:
            self._end(holder, tenure, event)

    def on_down(self, event: Event) -> None:
        """A node that stops, or starts anew, ends every tenure it still had."""
        for holder in sorted(self.held_by_node.pop(event.node, ())):
            tenure = self.latest[holder]
            if tenure.is_live:
                self._end(holder, tenure, event)

    def _end(self, holder: Holder, tenure: Tenure, event: Event) -> None:
        client, group, queue = holder
        tenure.disown = event
        self.held_by_node.get(tenure.own.node, set()).discard(holder)
        self.live.get((group, queue), {}).pop(client, None)

    def find(self, event: Event) -> Tenure | None:
        """The tenure that the event belongs to, if it is the latest of its client and queue."""
        tenure = self.latest.get((event.client, event.group, event.queue_key))
        return tenure if tenure is not None and tenure.own.tenure == event.tenure else None
