"""What a rebalance pass knows, and what a strategy must answer.

The promise: for equal views, no queue belongs to two of the listed members. It rests on three
things. Both lists are sorted the same way everywhere; the strategy is a function of the view and
the member's own id and of nothing else; and client ids are unique. A member that finds itself
missing from the list owns nothing, and a view without queues or members is refused, so that the
previous assignment stays in force.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Protocol

from spec.rejection import Rejection
from spec.values.java_text import utf16_key
from spec.values.message_queue import MessageQueue
from spec.values.units import Index

_REFUSAL_CLAUSE: Final = "group.allocation.refuses-empty-view"


@dataclass(frozen=True, slots=True)
class View:
    """The inputs of one allocation: queues, and client ids with their duplicates, both sorted."""

    queues: tuple[MessageQueue, ...]
    members: tuple[str, ...]


def derive_view(queues: Iterable[MessageQueue], members: Iterable[str]) -> View:
    """The view in Apache's order; a queue counts once, a client id as often as it was reported.

    Clauses: group.order.queues, group.order.utf16-units
    """
    return View(tuple(sorted(set(queues))), tuple(sorted(members, key=utf16_key)))


class Strategy(Protocol):
    """A way to share queues; other ways than the six here may be plugged in."""

    @property
    def name(self) -> str:
        """The name that Apache reports for the strategy.

        Clause: group.allocation.names
        """

    def allocate(self, view: View, member: str) -> tuple[MessageQueue, ...]:
        """The member's share, in the order of the view; raises Rejection if there is no answer.

        Clause: group.allocation.agreement
        """


def derive_member_index(view: View, member: str) -> Index | None:
    """Where the member stands in the list, at its first mention; None if it is not listed.

    Two members that share one id find the same index: both take its share, and the share of
    the second mention is left to nobody.

    Clauses: group.allocation.refuses-empty-view, group.allocation.unlisted-owns-nothing,
    group.allocation.unique-ids
    """
    if not member:
        raise Rejection(_REFUSAL_CLAUSE, 0, "the own client id is empty")
    if not view.queues:
        raise Rejection(_REFUSAL_CLAUSE, 0, "the view has no queues")
    if not view.members:
        raise Rejection(_REFUSAL_CLAUSE, 0, "the view has no members")
    return Index(view.members.index(member)) if member in view.members else None
