"""What each member asks for, and what it asked for before.

A `subscribe` whose `mode` is SQL92 carries an expression that is not evaluated here: nothing can
be said about which messages it wants. Otherwise the expression names tags.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override
from spec.rejection import Rejection
from spec.values.subscription import ExpressionType, parse_tags

KEPT_INTERESTS: Final = 16
"""How many former expressions of a member are remembered."""


@dataclass(frozen=True, slots=True)
class Interest:
    """One expression of a member for a topic."""

    subscribe: Event
    tags: frozenset[str]
    """The wanted tags; empty means that no tag is excluded."""
    is_readable: bool
    """Whether the expression can be evaluated at all."""

    def is_wanted(self, tag: str) -> bool:
        """Whether the expression is known to want a message with this tag."""
        return self.is_readable and (not self.tags or tag in self.tags)

    def is_excluded(self, tag: str) -> bool:
        """Whether the expression is known not to want a message with this tag."""
        return self.is_readable and bool(self.tags) and tag not in self.tags


def read_interest(event: Event) -> Interest:
    """What the `subscribe` event asks for."""
    if event.mode == ExpressionType.SQL92.value:
        return Interest(event, frozenset(), is_readable=False)
    try:
        return Interest(event, frozenset(parse_tags(event.expression)), is_readable=True)
    except Rejection:
        return Interest(event, frozenset(), is_readable=False)


class Subscriptions(Fold):
    """The interests of all members, latest last."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.interests: dict[tuple[str, str, str], list[Interest]] = {}
        """Client, group and topic to the member's interests."""
        self.members: dict[tuple[str, str], dict[str, Interest]] = {}
        """Group and topic to the latest interest of each member."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.SUBSCRIBE: self.on_subscribe, Kind.DOWN: self.on_down}

    def on_subscribe(self, event: Event) -> None:
        """The member asks for this from now on; repeating it changes nothing."""
        key = (event.client, event.group, event.topic)
        if not event.expression:
            self._forget(key)
            return
        interests = self.interests.setdefault(key, [])
        latest = interests[-1].subscribe if interests else None
        if latest is not None and (latest.expression, latest.mode) == (event.expression, event.mode):
            return
        interests.append(read_interest(event))
        del interests[:-KEPT_INTERESTS]
        self.members.setdefault((event.group, event.topic), {})[event.client] = interests[-1]

    def on_down(self, event: Event) -> None:
        """A member that stops asks for nothing."""
        for key in [key for key, known in self.interests.items() if known[-1].subscribe.node == event.node]:
            self._forget(key)

    def _forget(self, key: tuple[str, str, str]) -> None:
        self.interests.pop(key, None)
        self.members.get(key[1:], {}).pop(key[0], None)

    def find_since(self, key: tuple[str, str, str], sequence: int) -> list[Interest]:
        """The interests that were in force at or after that event."""
        known = self.interests.get(key, [])
        later = [place for place, interest in enumerate(known) if interest.subscribe.sequence > sequence]
        first = max(later[0] - 1, 0) if later else len(known) - 1
        return known[first:] if known else []
