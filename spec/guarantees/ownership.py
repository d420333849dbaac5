"""OWN: who may hold a queue.

"Each queue is consumed by exactly one member" is false of every group that rebalances without
agreement: when b joins, b's pass may take a queue up to one tick before a's pass gives it up,
and both pull it meanwhile. What holds is this. Equal views give disjoint allocations that cover
every queue (OWN-1). Two members never both hold a queue while their latest views are equal
(OWN-2); no clock is needed to say so. When nothing changes for long enough, every queue has
exactly one owner (OWN-3, in `convergence`). And inside one client, an acquisition is the only one
of its queue, and nothing is done on its behalf once it has ended (OWN-4, in `tenancy`).

Events: `view` with the inputs of each pass, `own` and `disown` with tenure numbers.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.guarantees.fold.custody import BROADCAST
from spec.guarantees.fold.tenure import Tenures
from spec.guarantees.fold.view import Inputs, Views, derive_inputs
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import Event, QueueKey, queue_name
from spec.history.kind import Kind
from spec.override import override

COVERING: Final = frozenset({"AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"})
"""Strategies that leave no queue out. The machine-room ones only promise disjointness."""

PROMISES_NOTHING: Final = frozenset({"CONFIG", "BROADCAST"})
"""A fixed list per member may overlap by intent, and broadcast members all take everything."""


class Partition(Monitor):
    """OWN-1: equal views give disjoint results that cover the queues.

    Clause: guarantee.own.partition
    """

    rule: ClassVar = Rule(
        "OWN-1",
        "guarantee.own.partition",
        frozenset({Kind.VIEW, Kind.UP, Kind.DOWN}),
        assumes=frozenset({"A1", "A2"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._results: dict[tuple[str, str], dict[Inputs, dict[tuple[str, str], Event]]] = {}
        """Group and topic to what each process of each member computed from the same inputs."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.VIEW: self.on_view, Kind.UP: self.on_node, Kind.DOWN: self.on_node}

    def on_node(self, event: Event) -> None:
        """What a process that is gone had computed may be computed by the next one with its name."""
        for by_inputs in self._results.values():
            for results in by_inputs.values():
                for member in [member for member in results if member[1] == event.node]:
                    del results[member]

    def on_view(self, event: Event) -> None:
        """Compare the result with those computed from equal inputs."""
        if event.strategy in PROMISES_NOTHING:
            return
        inputs = derive_inputs(event)
        by_inputs = self._results.setdefault((event.group, event.topic), {})
        results = by_inputs.setdefault(inputs, {})
        self._check(event, results)
        member = (event.client, event.node)
        for other_inputs in [known for known in by_inputs if known != inputs]:
            by_inputs[other_inputs].pop(member, None)
            if not by_inputs[other_inputs]:
                del by_inputs[other_inputs]
        results[member] = event

    def _check(self, event: Event, results: Mapping[tuple[str, str], Event]) -> None:
        self.exercised += 1
        assigned = set(event.assigned)
        foreign = assigned - set(event.queues)
        if foreign:
            self.report(
                f"{event.client} assigned itself {min(foreign)}, which is not among the queues", event
            )
        if assigned and event.client not in event.members:
            self.report(f"{event.client} assigned itself queues though it is not a listed member", event)
        others = [other for member, other in results.items() if member != (event.client, event.node)]
        for other in others:
            shared = assigned.intersection(other.assigned)
            if shared:
                self.report(
                    f"{other.client} and {event.client} both computed {min(shared)} from equal views",
                    other,
                    event,
                )
        if event.strategy in COVERING:
            self._check_cover(event, others)

    def _check_cover(self, event: Event, others: list[Event]) -> None:
        """Once every member has computed, nothing may be left over."""
        members = set(event.members)
        if not members <= {event.client, *(other.client for other in others)}:
            return
        left = set(event.queues).difference(event.assigned, *(other.assigned for other in others))
        if left and len(members) < len(event.members):
            self.explain("a member is listed twice, as while it reconnects")
        elif left:
            self.report(f"no member computed {min(left)} for itself from equal views", *others, event)


class OneOwnerPerView(Monitor):
    """OWN-2: two members with equal views never both hold a queue.

    Clause: guarantee.own.same-view-one-owner
    """

    rule: ClassVar = Rule(
        "OWN-2",
        "guarantee.own.same-view-one-owner",
        frozenset({Kind.VIEW, Kind.OWN, Kind.DISOWN, Kind.UP, Kind.DOWN}),
        assumes=frozenset({"A1", "A2"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._views = folds.get(Views)
        self._tenures = folds.get(Tenures)
        self._known: dict[tuple[str, QueueKey], set[tuple[int, int, bool]]] = {}
        """Group and queue to the pairs of tenures that were already judged, and how."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.OWN: self.on_own, Kind.VIEW: self.on_view}

    def on_own(self, event: Event) -> None:
        """The new holder must not share its view with another holder."""
        self.exercised += 1
        self._check(event, event.client)

    def on_view(self, event: Event) -> None:
        """The view may have become equal to another's while both hold a queue."""
        for name in event.queues:
            broker, _, number = name.rpartition(":")
            queue = (event.topic, broker, int(number))
            held = self._tenures.live.get((event.group, queue), {}).get(event.client)
            if held is not None:
                self._check(held.own, event.client)

    def _check(self, own: Event, client: str) -> None:
        key = (own.group, own.queue_key)
        holders = self._tenures.live[key]
        if len(holders) < 2:  # noqa: PLR2004 - two owners
            self._known.pop(key, None)
            return
        mine = self._views.latest.get((client, own.group, own.topic))
        for other, tenure in holders.items():
            theirs = self._views.latest.get((other, own.group, own.topic))
            if other == client or mine is None or theirs is None or own.mode == BROADCAST:
                continue
            first, second = sorted((own.sequence, tenure.own.sequence))
            pair = (first, second, mine[1] == theirs[1])
            known = self._known.setdefault(key, set())
            if pair not in known:
                known.add(pair)
                self._judge_pair(own, tenure.own, mine, theirs)

    def _judge_pair(
        self, own: Event, other: Event, mine: tuple[Event, Inputs], theirs: tuple[Event, Inputs]
    ) -> None:
        if mine[1] != theirs[1]:
            self.explain("two owners with different views")
        elif mine[0].strategy not in PROMISES_NOTHING:
            queue = queue_name(own.broker, own.queue)
            summary = f"{own.client} and {other.client} both hold {own.topic} {queue} with equal views"
            self.report(summary, other, own, theirs[0], mine[0])
