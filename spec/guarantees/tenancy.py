"""OWN-4: inside one client, one tenure at a time, and nothing on behalf of an ended one.

"A client stops working on a queue when it loses it" is false of a client that only sets a flag: a
listener call that runs finishes, an answer on its way arrives. Those must come to nothing. What
holds: a queue has at most one live tenure in a client, a tenure has at most one pull under way and
each pull goes on where the tenure's last answer ended, and once a tenure is over no listener call
begins, no position is stored and no answer is admitted on its behalf.

Apache checks a flag and acts a moment later, so one step of a thread may slip through; a dialect
with that weakness (K3) is allowed steps within the scheduling delay, late answers into a dropped
buffer, and late stores. The strict reference compares the tenure inside the update.

Events: `own`, `disown`, `pull`, `pulled`, `start`, `local`, all with tenure numbers.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.dialects.hole import Hole
from spec.guarantees.fold.custody import ORDERED, Custody, HolderKey, Holding
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override


class _Chain:
    """The pulls of one tenure: the one under way, and where the next one belongs."""

    __slots__ = ("allowed", "cause", "tenure", "under_way")

    def __init__(self, own: Event) -> None:
        self.tenure = own.tenure
        self.allowed = own.offset
        self.cause = own
        """The event that says where the next pull belongs."""
        self.under_way: Event | None = None


class OneTenureAtATime(Monitor):
    """OWN-4: one live tenure, one pull under way, no effect after the end.

    Clause: guarantee.own.single-tenancy
    """

    rule: ClassVar = Rule(
        "OWN-4",
        "guarantee.own.single-tenancy",
        frozenset(
            {Kind.OWN, Kind.DISOWN, Kind.PULL, Kind.PULLED, Kind.START, Kind.LOCAL, Kind.UP, Kind.DOWN}
        ),
        assumes=frozenset({"A1"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._custody = folds.get(Custody)
        self._chains: dict[HolderKey, _Chain] = {}
        self._is_loose = Hole.K3 in terms.holes
        sees_answers = Kind.QUERIED in terms.observes
        self._chained = frozenset({"concurrent", ORDERED} if sees_answers else {"concurrent"})
        """Modes whose cursor is known: an ordered tenure may ask again for it, others may seek."""
        self._sees_failures = Kind.RPC in terms.observes
        self._delay_ms = terms.constants.scheduling_delay_ms
        self._give_up_ms = 2 * terms.constants.hold_limit_ms
        """How long a client waits for the answer to a pull."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.QUERIED: self.on_start_position,
            Kind.INITIAL: self.on_start_position,
            Kind.PULL: self.on_pull,
            Kind.PULLED: self.on_pulled,
            Kind.RPC: self.on_rpc,
            Kind.START: self.on_effect,
            Kind.LOCAL: self.on_effect,
        }

    def on_own(self, event: Event) -> None:
        """No other tenure of this client may be live."""
        self.exercised += 1
        before = self._custody.before
        self._chains[event.client, event.group, event.topic, event.broker, event.queue] = _Chain(event)
        if before is None or before.own.node != event.node or before.ended is not None:
            return
        self.report(
            f"{event.client} begins tenure {event.tenure} of {event.topic} {event.broker}:{event.queue} "
            f"while its tenure {before.tenure} is live",
            before.own,
            event,
        )

    def on_start_position(self, event: Event) -> None:
        """An ordered tenure may ask again once it has the lock, before its first pull."""
        chain = self._chains.get((event.client, event.group, event.topic, event.broker, event.queue))
        if chain is None or chain.tenure != event.tenure or chain.cause.kind in {Kind.PULL, Kind.PULLED}:
            return
        if event.kind is Kind.INITIAL or event.status == "value":
            chain.allowed = event.offset
            chain.cause = event

    def _is_over(self, event: Event) -> bool:
        """Whether the event acts for a tenure that has ended; reported or explained if so."""
        latest = self._custody.latest
        if latest is None or latest.tenure < event.tenure:
            return False
        if latest.tenure == event.tenure:
            end = latest.ended
            if end is None:
                return False
        else:
            end = latest.own
        if end.kind in {Kind.DOWN, Kind.UP} or latest.own.node != event.node:
            return False
        self._judge_late(event, latest, end)
        return True

    def _judge_late(self, event: Event, latest: Holding, end: Event) -> None:
        is_step = event.time_ms - end.time_ms <= self._delay_ms
        if self._is_loose and (is_step or event.kind in {Kind.PULLED, Kind.LOCAL}):
            self.explain("a thread that had passed its check took one more step")
            return
        own = (latest.own,) if latest.own is not end and latest.tenure == event.tenure else ()
        self.report(
            f"{event.client} has a {event.kind} at {event.offset} for tenure {event.tenure} of "
            f"{event.topic} {event.broker}:{event.queue}, which is over",
            *own,
            end,
            event,
        )

    def on_effect(self, event: Event) -> None:
        """A listener call or a stored position belongs to a live tenure."""
        self.exercised += 1
        current = self._custody.current
        if current is None or current.ended is not None:
            self._is_over(event)

    def on_pull(self, event: Event) -> None:
        """One pull at a time, at the place where the last answer ended."""
        self.exercised += 1
        current = self._custody.current
        if current is None or current.ended is not None:
            self._is_over(event)
            return
        chain = self._chains[event.client, event.group, event.topic, event.broker, event.queue]
        before = chain.under_way
        chain.under_way = event
        is_waiting = before is not None and event.time_ms - before.time_ms <= self._give_up_ms
        if before is not None and is_waiting and self._sees_failures:
            self.report(
                f"{event.client} pulls {event.topic} {event.broker}:{event.queue} twice at a time "
                f"in tenure {event.tenure}",
                before,
                event,
            )
        elif event.offset != chain.allowed and current.own.mode in self._chained:
            self.report(
                f"tenure {event.tenure} of {event.client} pulls at {event.offset} "
                f"though it had come to {chain.allowed}",
                chain.cause,
                event,
            )
        chain.allowed = event.offset
        chain.cause = event

    def on_pulled(self, event: Event) -> None:
        """The answer moves the cursor of its own tenure, if that still lives."""
        current = self._custody.current
        if current is None or current.ended is not None:
            if event.offsets:
                self._is_over(event)
            return
        chain = self._chains[event.client, event.group, event.topic, event.broker, event.queue]
        if chain.under_way is not None and chain.under_way.request == event.request:
            chain.under_way = None
            if event.status != "error":
                chain.allowed = event.next
                chain.cause = event

    def on_rpc(self, event: Event) -> None:
        """A pull that failed is not under way any more."""
        for key, chain in self._chains.items():
            if key[0] == event.client:
                chain.under_way = None
