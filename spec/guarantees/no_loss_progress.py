"""NLS-2: what is there gets done, in a bounded number of deliveries.

"Eventually" cannot be judged; standing still can. In a calm interval (listener failures aside), a
message at or above the group's base that the group could read does not wait while its client has
nothing else to do: once no listener of the client runs and none has begun for as long as a lost
pull needs to be found and replaced, nothing may be left. Nor may a queue with messages be without
an owner that long while the group has members, nor a due retry copy stay in the delay store.

And retries end: a concurrent listener sees one message at most one time more often than the retry
limit says (each refused return allows one local attempt beyond it); then it is in the dead-letter
topic. An ordered queue may stand before a failing message for ever, by presenting it again.

Events: `append`, `own`, `disown`, `view`, `pulled`, `start`, `end`, `back`, and what disturbs.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.guarantees.fold.calm import DISTURBANCES, Calm
from spec.guarantees.fold.custody import BROADCAST, Custody, Holding
from spec.guarantees.fold.delay import Delays
from spec.guarantees.fold.disposal import Disposal
from spec.guarantees.fold.log import Logs
from spec.guarantees.fold.settling import Settling
from spec.guarantees.fold.tenure import Tenures
from spec.guarantees.liveness import BUFFER_LIMITS
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import ABSENT, Event, Outcome
from spec.history.kind import Kind
from spec.override import override

CONCURRENT: Final = "concurrent"


class _Work:
    """What one client does for one group."""

    __slots__ = ("latest", "running")

    def __init__(self) -> None:
        self.running = 0
        self.latest = 0
        """When a call last began or returned, or an answer brought something."""


class NothingWaitsForever(Monitor):
    """NLS-2: in a calm interval nothing readable is left, and retries end.

    Clause: guarantee.nls.eventually-disposed
    """

    rule: ClassVar = Rule(
        "NLS-2",
        "guarantee.nls.eventually-disposed",
        frozenset(
            {Kind.APPEND, Kind.OWN, Kind.DISOWN, Kind.PULLED, Kind.START, Kind.END, Kind.BACK} | {Kind.FLOW}
        )
        | DISTURBANCES,
        assumes=frozenset({"A3", "A5"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._custody = folds.get(Custody)
        self._disposal = folds.get(Disposal)
        self._logs = folds.get(Logs)
        self._calm = folds.get(Calm)
        self._settling = folds.get(Settling)
        self._tenures = folds.get(Tenures)
        self._works: dict[tuple[str, str], _Work] = {}
        """Client and group to what it does."""
        self._appended: dict[tuple[str, str, int], int] = {}
        """Queue to when something was last stored in it."""
        self._refusals: dict[Holding, int] = {}
        self._delays = folds.get(Delays)
        self._sees_delays = terms.observes >= {Kind.DELIVER, Kind.DIVERT}
        self._reported: set[tuple[str, str, str, int]] = set()
        constants = terms.constants
        self._patience_ms = (
            constants.pull_expiry_ms
            + 2 * constants.rebalance_ms
            + constants.hold_limit_ms
            + constants.hold_sweep_ms
            + constants.request_limit_ms
            + constants.clock_skew_ms
        )

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.APPEND: self.on_append,
            Kind.PULLED: self.on_pulled,
            Kind.START: self.on_start,
            Kind.END: self.on_end,
            Kind.BACK: self.on_back,
            Kind.FLOW: self.on_flow,
            Kind.OWN: self.on_own,
            Kind.DOWN: self.on_node,
            Kind.UP: self.on_node,
            Kind.VIEW: self.on_view,
        }

    def _work(self, event: Event) -> _Work:
        work = self._works.get((event.client, event.group))
        if work is None:
            work = self._works[event.client, event.group] = _Work()
        return work

    def on_append(self, event: Event) -> None:
        """A message is there to be read."""
        self._appended[event.topic, event.broker, event.queue] = event.time_ms

    def on_pulled(self, event: Event) -> None:
        """New work arrives."""
        if event.offsets:
            self._work(event).latest = event.time_ms

    def on_start(self, event: Event) -> None:
        """The client is busy; the attempt must be one that retries can reach."""
        work = self._work(event)
        work.running += 1
        work.latest = event.time_ms
        if event.attempt > self.terms.constants.retry_limit:
            self._check_attempt(event)

    def _check_attempt(self, event: Event) -> None:
        holding = self._custody.current
        if holding is None or holding.own.mode != CONCURRENT:
            return
        limit = self.terms.constants.retry_limit + self._refusals.get(holding, 0)
        if event.attempt > limit:
            self.report(
                f"{event.message} is delivered with attempt {event.attempt}; retries end at {limit}",
                holding.own,
                event,
            )

    def on_end(self, event: Event) -> None:
        """One call fewer runs."""
        work = self._work(event)
        work.running = max(0, work.running - 1)
        work.latest = event.time_ms

    def on_back(self, event: Event) -> None:
        """A refused return is tried again by the client itself."""
        self._work(event).latest = event.time_ms
        holding = self._custody.current
        if holding is not None and event.outcome is not Outcome.OK:
            self._refusals[holding] = self._refusals.get(holding, 0) + 1

    def on_flow(self, event: Event) -> None:
        """A client that somebody paused, or that waits for a lock, does not stand still by itself."""
        if event.cause not in BUFFER_LIMITS:
            self._work(event).latest = event.time_ms

    def on_own(self, event: Event) -> None:
        """A new tenure begins to work."""
        before = self._custody.before
        if before is not None:
            self._refusals.pop(before, None)
        self._work(event).latest = event.time_ms
        self._reported.discard((event.group, event.topic, event.broker, event.queue))

    def on_node(self, event: Event) -> None:
        """A node that stops runs nothing any more."""
        for holding in self._custody.held.values():
            if holding.own.node == event.node:
                self._works.pop((holding.own.client, holding.own.group), None)

    def on_view(self, event: Event) -> None:
        """A pass is a good moment to look at the client's queues."""
        if event.time_ms > self._settling.settled_by_ms + self._patience_ms:
            for holding in self._custody.held.values():
                own = holding.own
                if (own.client, own.group, own.topic) == (event.client, event.group, event.topic):
                    self._check_tenure(holding, event.time_ms)

    @override
    def finish(self, now_ms: int) -> None:
        for holding in self._custody.held.values():
            self._check_tenure(holding, now_ms)
        for group, topic, broker, queue in list(self._disposal.ledgers):
            self._check_unowned(group, (topic, broker, queue), now_ms)
        for waiting in self._delays.waiting.values() if self._sees_delays else ():
            for copy in waiting.values():
                if copy.origin and copy.due_ms != ABSENT:
                    self._check_copy(copy, now_ms)

    def _is_overdue(self, since_ms: int, now_ms: int) -> bool:
        """Whether nothing has excused waiting since then, for longer than patience lasts."""
        return self._calm.length_ms(since_ms, now_ms) > self._patience_ms

    def _check_tenure(self, holding: Holding, now_ms: int) -> None:
        own = holding.own
        work = self._works.get((own.client, own.group))
        if holding.ended is not None or own.mode == BROADCAST or work is None:
            return
        self.exercised += 1
        queue = own.queue_key
        lowest = holding.frontier
        end = max(holding.cursor, self._logs.next_free.get(queue, 0))
        since_ms = max(work.latest, self._appended.get(queue, 0))
        key = (own.group, *queue)
        if lowest >= end or work.running or key in self._reported or not self._is_overdue(since_ms, now_ms):
            return
        if self._is_parked(holding, lowest):
            return
        self._reported.add(key)
        self.report(
            f"{own.client} holds {own.topic} {own.broker}:{own.queue}, has nothing else to do, "
            f"and {lowest} waits for {now_ms - since_ms} ms",
            own,
        )

    def _is_parked(self, holding: Holding, lowest: int) -> bool:
        """Whether another tenure has done it, or the listener put its commit off (ordered mode)."""
        own = holding.own
        ledger = self._disposal.ledgers.get((own.group, own.topic, own.broker, own.queue))
        return ledger is not None and lowest in ledger.disposed

    def _check_unowned(self, group: str, queue: tuple[str, str, int], now_ms: int) -> None:
        ledger = self._disposal.ledgers[group, *queue]
        key = (group, *queue)
        if ledger.base is None or ledger.is_broadcast or key in self._reported:
            return
        lowest = ledger.disposed.lowest_missing(max(ledger.base, self._disposal.removed.get(queue, 0)))
        end = self._logs.next_free.get(queue, 0)
        members = [
            next(iter(holders.values())).own
            for (its_group, its_queue), holders in self._tenures.live.items()
            if holders and its_group == group and its_queue[0] == queue[0]
        ]
        if lowest >= end or not members or not self._tenures.is_surely_free(group, queue):
            return
        since_ms = max(self._settling.settled_by_ms, self._appended.get(queue, 0))
        if not self._settling.is_disturbed and self._is_overdue(since_ms, now_ms):
            self._reported.add(key)
            self.report(
                f"nobody of {group} holds {queue[0]} {queue[1]}:{queue[2]}, and {lowest} waits for "
                f"{now_ms - since_ms} ms",
                members[0],
            )

    def _check_copy(self, copy: Event, now_ms: int) -> None:
        if self._is_overdue(max(copy.due_ms, copy.time_ms), now_ms):
            self.report(
                f"the retry copy {copy.message} of {copy.origin} was due at {copy.due_ms} ms and is "
                f"still in the delay store at {now_ms} ms",
                copy,
            )
