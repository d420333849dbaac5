"""OFF-3: positions only rise within a tenure, and a commit is a position somebody held.

A broker stores whatever it is told, so a wrong number travels far: 0, -1, the end of the queue,
another queue's position, or what an earlier tenure left in a table. What holds: within a tenure the
local position never falls (an offset correction and a reset excepted), and every value applied on
behalf of a client is one that a tenure of this client held, at some time between its query and one
request after its end. One request, because the last store is sent as the tenure ends.

Events: `own`, `disown`, `local`, `commit` with the client (and the tenure where known).
"""

from collections import deque
from collections.abc import Mapping
from typing import ClassVar, Final

from spec.dialects.hole import Hole
from spec.guarantees.fold.calm import Calm
from spec.guarantees.fold.commit import Commits
from spec.guarantees.fold.custody import BROADCAST, ORDERED, Custody, HolderKey, Holding
from spec.guarantees.fold.environment import Environment
from spec.guarantees.fold.offset_set import OffsetSet
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import CommitCause
from spec.history.event import ABSENT, Event
from spec.history.kind import Kind
from spec.override import override

DECIDED: Final = frozenset({CommitCause.RESET, CommitCause.CORRECTION, CommitCause.REPLICATION})
"""Carriers whose value is a decision, not a tenure's position."""

ENDED_LIMIT: Final = 8
"""How many ended tenures of one holder are remembered: those that ended within one request."""

GAP_LIMIT: Final = 64
"""How many runs of positions a tenure is remembered by; older gaps are taken as held."""


class Positions:
    """What one tenure held: its start, and every local position."""

    __slots__ = ("holding", "last", "moved_to", "values")

    def __init__(self, holding: Holding) -> None:
        self.holding = holding
        self.values = OffsetSet()
        self.values.add(holding.start)
        self.last = holding.own
        """Where the tenure stands: at its beginning first."""
        self.moved_to = ABSENT
        """Where the broker sent the tenure when its offset was illegal."""


class PositionsHeld(Monitor):
    """OFF-3: local positions rise, and every commit is a position that its client held.

    Clause: guarantee.off.provenance
    """

    rule: ClassVar = Rule(
        "OFF-3",
        "guarantee.off.provenance",
        frozenset({Kind.OWN, Kind.DISOWN, Kind.PULLED, Kind.LOCAL, Kind.COMMIT, Kind.UP, Kind.DOWN}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calm = folds.get(Calm)
        self._environment = folds.get(Environment)
        self._custody = folds.get(Custody)
        self._commits = folds.get(Commits)
        self._held: dict[HolderKey, deque[Positions]] = {}
        """Holder to its tenures, the newest last."""
        sees_answers = Kind.QUERIED in terms.observes
        self._unjudged = frozenset({BROADCAST} if sees_answers else {BROADCAST, ORDERED})
        """Modes whose commits are not compared: an ordered tenure may ask again for its position."""
        self._late_ms = self._commits.late_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.QUERIED: self.on_queried,
            Kind.PULLED: self.on_pulled,
            Kind.LOCAL: self.on_local,
            Kind.COMMIT: self.on_commit,
        }

    def on_own(self, event: Event) -> None:
        """A tenure begins at a position."""
        key = (event.client, event.group, event.topic, event.broker, event.queue)
        tenures = self._held.get(key)
        if tenures is None:
            tenures = self._held[key] = deque(maxlen=ENDED_LIMIT)
        holding = self._custody.current
        if holding is not None:
            tenures.append(Positions(holding))

    def _newest(self, event: Event) -> Positions | None:
        tenures = self._held.get((event.client, event.group, event.topic, event.broker, event.queue))
        if tenures and tenures[-1].holding.tenure == event.tenure:
            return tenures[-1]
        return None

    def on_queried(self, event: Event) -> None:
        """An ordered tenure that asks again holds the answer."""
        positions = self._newest(event)
        if positions is not None and event.status == "value":
            positions.values.add(event.offset)
            if positions.last.kind is not Kind.LOCAL:
                positions.last = event

    def on_pulled(self, event: Event) -> None:
        """An answer that moves the offset makes its target a position of the tenure."""
        if event.status == "moved":
            positions = self._newest(event)
            if positions is not None:
                positions.moved_to = event.next
                positions.values.add(event.next)

    def on_local(self, event: Event) -> None:
        """The position rises, and is one that was held from now on."""
        positions = self._newest(event)
        if positions is None:
            return
        self.exercised += 1
        last, positions.last = positions.last, event
        if positions.holding.ended is None or Hole.K3 in self.terms.holes:
            positions.values.add(event.offset)
            positions.values.coarsen(GAP_LIMIT)
        if event.offset >= last.offset:
            return
        reset = self._commits.resets.get((event.group, event.topic, event.broker, event.queue))
        if event.offset == positions.moved_to:
            self.explain("offset correction")
        elif reset is not None and reset.sequence > last.sequence:
            self.explain("reset")
        else:
            self.report(
                f"the position of {event.client} on {event.topic} {event.broker}:{event.queue} falls "
                f"from {last.offset} to {event.offset} within tenure {event.tenure}",
                last,
                event,
            )

    def on_commit(self, event: Event) -> None:
        """The value was a position of a tenure of this client that is live or has just ended."""
        if event.cause in DECIDED or not event.client:
            return
        key = (event.client, event.group, event.topic, event.broker, event.queue)
        tenures = self._held.get(key)
        if not tenures or tenures[-1].holding.own.mode in self._unjudged:
            return
        self.exercised += 1
        late: Positions | None = None
        for positions in reversed(tenures):
            holding = positions.holding
            if event.tenure not in (ABSENT, holding.tenure):
                continue
            if event.offset in positions.values:
                if self._is_due(holding, event):
                    return
                late = late or positions
        is_unknown = event.tenure not in {ABSENT, *(positions.holding.tenure for positions in tenures)}
        if is_unknown and self._may_be_older(event, tenures[0].holding):
            self.explain("the tenure's beginning was not seen")
        else:
            self._judge(event, tenures[-1].holding, late)

    def _may_be_older(self, event: Event, oldest: Holding) -> bool:
        """Whether the commit's tenure may lie before those that are remembered, or in an earlier process."""
        return event.tenure < oldest.tenure or oldest.own.node not in self._environment.up

    def _is_due(self, holding: Holding, event: Event) -> bool:
        end = holding.ended
        return end is None or event.time_ms - end.time_ms <= self._late_ms

    def _judge(self, event: Event, newest: Holding, late: Positions | None) -> None:
        reset = self._commits.resets.get((event.group, event.topic, event.broker, event.queue))
        if reset is not None and reset.offset == event.offset:
            self.explain("reset")
            return
        what = f"{event.client} commits {event.offset} on {event.topic} {event.broker}:{event.queue}"
        if late is None:
            is_young = event.time_ms - newest.own.time_ms <= self._late_ms
            if event.tenure == ABSENT and is_young and newest.first_seen == newest.tenure > 1:
                self.explain("the tenure's beginning was not seen")
            elif self._commits.may_be_older(event, newest.own.node):
                self.explain("a request of the process before this one")
            else:
                self.report(f"{what}, a position that none of its tenures held", newest.own, event)
            return
        end = late.holding.ended
        if end is None or not self._calm.is_faultless_since(end.time_ms - self._late_ms):
            self.explain("a request was held up by a fault")
        else:
            self.report(
                f"{what}, a position of tenure {late.holding.tenure}, "
                f"{event.time_ms - end.time_ms} ms after its end",
                end,
                event,
            )
