"""Who holds which queue: the live tenures of a run, and how the finished ones ended."""

from collections.abc import Mapping
from dataclasses import dataclass

from spec.guarantees.fold.view import Views
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
        self._views = folds.get(Views)
        self.latest: dict[Holder, Tenure] = {}
        self.live: dict[tuple[str, QueueKey], dict[str, Tenure]] = {}
        """Group and queue to the live tenures there, by client."""
        self.held_by_node: dict[str, set[Holder]] = {}
        self._begun: set[str] = set()
        """Nodes that were seen to start or stop: they hold nothing that was not seen."""
        self._known: set[Holder] = set()
        """Holders of whom a tenure was seen to begin or end."""

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
        self._known.add(holder)
        self.latest[holder] = tenure
        self.live.setdefault((event.group, event.queue_key), {})[event.client] = tenure
        self.held_by_node.setdefault(event.node, set()).add(holder)

    def on_disown(self, event: Event) -> None:
        """The tenure ends; a `disown` of an older tenure changes nothing."""
        holder = (event.client, event.group, event.queue_key)
        tenure = self.latest.get(holder)
        self._known.add(holder)
        if tenure is not None and tenure.own.tenure == event.tenure:
            self._end(holder, tenure, event)

    def on_down(self, event: Event) -> None:
        """A node that stops, or starts anew, ends every tenure it still had."""
        self._begun.add(event.node)
        for holder in sorted(self.held_by_node.pop(event.node, ())):
            tenure = self.latest[holder]
            if tenure.is_live:
                self._end(holder, tenure, event)

    def _end(self, holder: Holder, tenure: Tenure, event: Event) -> None:
        client, group, queue = holder
        tenure.disown = event
        self.held_by_node.get(tenure.own.node, set()).discard(holder)
        self.live.get((group, queue), {}).pop(client, None)

    def is_surely_free(self, group: str, queue: QueueKey) -> bool:
        """Whether nobody holds the queue, not even since before the observation began."""
        views = self._views.find(group, queue[0])
        if self.live.get((group, queue)) or not views:
            return False
        nodes = {view.client: view.node for view in views}
        members = nodes.keys() | {member for view in views for member in view.members}
        return all(
            nodes.get(member, member) in self._begun or (member, group, queue) in self._known
            for member in members
        )
