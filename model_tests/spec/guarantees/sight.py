"""The same run, seen by somebody who sees less of it."""

from random import Random

from spec.history.declaration import Constants, Declaration, encode_declaration
from spec.history.event import Event
from spec.history.kind import Kind

HIDEABLE = tuple(kind for kind in Kind if kind is not Kind.BEGIN)


def seen_between(events: list[Event], first: int, last: int | None = None) -> list[Event]:
    """The run as observed from its event number `first` to before its event number `last`."""
    rest = events[max(1, first) : last]
    return [events[0]._replace(time_ms=rest[0].time_ms if rest else 0), *rest]


def seen_without(events: list[Event], unseen: frozenset[Kind]) -> list[Event]:
    """The run as seen by a recorder that says which kinds it does not see."""
    begin = events[0]._replace(detail=encode_declaration(Declaration(frozenset(Kind) - unseen)))
    return [begin, *(event for event in events[1:] if event.kind not in unseen)]


def seen_by_own_clocks(events: list[Event], chance: Random, skew_ms: int) -> list[Event]:
    """The run as stamped by the clocks of its nodes, which differ by at most `skew_ms`."""
    declaration = Declaration(frozenset(Kind), constants=Constants(clock_skew_ms=skew_ms))
    begin = events[0]._replace(detail=encode_declaration(declaration))
    ahead = {node: chance.randrange(skew_ms + 1) for node in sorted({event.node for event in events})}
    return [event._replace(time_ms=event.time_ms + ahead[event.node]) for event in (begin, *events[1:])]
