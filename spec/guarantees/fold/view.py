"""What each member last based its allocation on."""

from collections.abc import Mapping

from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override

Inputs = tuple[tuple[str, ...], tuple[str, ...], str]
"""Members and queues as sorted multisets, and the strategy with its parameters."""


def derive_inputs(view: Event) -> Inputs:
    """What the allocation was computed from; the order in which it was listed does not count."""
    return (tuple(sorted(view.members)), tuple(sorted(view.queues)), view.strategy)


class Views(Fold):
    """The last completed pass of each member for each topic."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.latest: dict[tuple[str, str, str], tuple[Event, Inputs]] = {}
        """Client, group and topic to the view and its inputs."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.VIEW: self.on_view, Kind.DOWN: self.on_down, Kind.UP: self.on_down}

    def on_view(self, event: Event) -> None:
        """The member's view is this one from now on."""
        self.latest[event.client, event.group, event.topic] = (event, derive_inputs(event))

    def on_down(self, event: Event) -> None:
        """A node that stops, or starts anew, has no view any more."""
        for key in [key for key, (view, _) in self.latest.items() if view.node == event.node]:
            del self.latest[key]

    def find(self, group: str, topic: str) -> list[Event]:
        """The views of all members of the group for the topic."""
        return [view for key, (view, _) in self.latest.items() if key[1] == group and key[2] == topic]
