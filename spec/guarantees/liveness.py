"""LIV: what never stands still.

"Consumption makes progress" cannot be judged; deadlines can. Each live tenure has a pull under
way, held, put off or paused, and one whose pull was lost is replaced (LIV-1). A held pull is
answered in time (LIV-2, in `long_poll`). The counters that pause a pull say what the buffer holds
(LIV-3). A periodic service comes round again whatever happened in its last round (LIV-4).

All deadlines are judged in calm intervals only, with the declared constants.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.guarantees.fold.calm import DISTURBANCES, Calm
from spec.guarantees.fold.tenure import Tenures
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import DisownCause, FlowCause
from spec.history.event import ABSENT, Event, QueueKey
from spec.history.kind import Kind
from spec.override import override

TenureKey = tuple[str, str, QueueKey]

BUFFER_LIMITS: Final = frozenset({FlowCause.COUNT, FlowCause.SIZE, FlowCause.SPAN})
"""Causes of putting a pull off that only a filled buffer can give."""

FRUITLESS_LIMIT: Final = 2
"""How many tenures in a row may expire without one answer in a calm interval."""


class PullGoesOn(Monitor):
    """LIV-1: a live tenure pulls, waits for a pull, or is replaced."""

    rule: ClassVar = Rule(
        "LIV-1",
        "guarantee.liv.pull-goes-on",
        frozenset({Kind.OWN, Kind.DISOWN, Kind.PULL, Kind.PULLED, Kind.FLOW}) | DISTURBANCES,
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calm = folds.get(Calm)
        self._tenures = folds.get(Tenures)
        self._active: dict[TenureKey, Event] = {}
        """Client, group and queue to the last sign of life of its live tenure."""
        self._fruitless: dict[TenureKey, list[Event]] = {}
        """Tenures in a row that expired without an answer."""
        constants = terms.constants
        self._patience_ms = constants.pull_expiry_ms + constants.rebalance_ms + constants.request_limit_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.PULL: self.on_sign_of_life,
            Kind.PULLED: self.on_pulled,
            Kind.FLOW: self.on_sign_of_life,
            Kind.DISOWN: self.on_disown,
        }

    def on_own(self, event: Event) -> None:
        """A new tenure has all its time before it."""
        self._active[event.client, event.group, event.queue_key] = event

    def on_sign_of_life(self, event: Event) -> None:
        """The pull loop turned; the time since it last did must have been short enough."""
        key = (event.client, event.group, event.queue_key)
        before = self._active.get(key)
        if before is None or before.tenure != event.tenure:
            return
        self.exercised += 1
        self._active[key] = event
        if event.time_ms - before.time_ms > self._patience_ms:
            self._check(before, event.time_ms)

    def on_pulled(self, event: Event) -> None:
        """An answer is a sign of life, and the tenure bore fruit."""
        self._fruitless.pop((event.client, event.group, event.queue_key), None)
        self.on_sign_of_life(event)

    def on_disown(self, event: Event) -> None:
        """The tenure is over; expiring again and again means that nobody ever pulls."""
        key = (event.client, event.group, event.queue_key)
        before = self._active.get(key)
        if before is None or before.tenure != event.tenure:
            return
        del self._active[key]
        self._check(before, event.time_ms)
        if event.cause != DisownCause.PULL_EXPIRED or not self._calm.is_calm_since(before.time_ms):
            self._fruitless.pop(key, None)
            return
        fruitless = self._fruitless.setdefault(key, [])
        fruitless.append(event)
        if len(fruitless) > FRUITLESS_LIMIT:
            self.report(
                f"{event.client} lets tenure after tenure of {event.topic} expire unanswered", *fruitless
            )
            fruitless.clear()

    @override
    def finish(self, now_ms: int) -> None:
        for key, before in self._active.items():
            tenure = self._tenures.latest.get(key)
            if tenure is not None and tenure.is_live:
                self._check(before, now_ms)

    def _check(self, before: Event, now_ms: int) -> None:
        idle_ms = now_ms - before.time_ms
        if idle_ms > self._patience_ms and self._calm.is_calm_since(before.time_ms):
            self.report(f"{before.client} holds {before.topic} without pulling for {idle_ms} ms", before)


class CountersTrue(Monitor):
    """LIV-3: the counters that pause a pull equal the buffer's content."""

    rule: ClassVar = Rule("LIV-3", "guarantee.liv.counters-true", frozenset({Kind.BUFFER}))

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.BUFFER: self.on_buffer, Kind.FLOW: self.on_flow}

    def on_buffer(self, event: Event) -> None:
        """Count and bytes must match what is there."""
        self.exercised += 1
        held = len(event.offsets)
        if event.message_count != held:
            self.report(
                f"{event.client} counts {event.message_count} buffered messages and holds {held}", event
            )
        elif event.byte_count != event.held_bytes:
            self.report(
                f"{event.client} counts {event.byte_count} buffered bytes and holds {event.held_bytes}", event
            )

    def on_flow(self, event: Event) -> None:
        """An empty buffer puts no pull off; the event says what was in it, if the observer knew."""
        if event.held_bytes == ABSENT:
            return
        self.exercised += 1
        if event.cause in BUFFER_LIMITS and event.held_bytes == 0 and not event.offsets:
            self.report(f"{event.client} puts a pull off by {event.cause} with an empty buffer", event)


class ServiceComesRound(Monitor):
    """LIV-4: a periodic service survives any error of one item."""

    rule: ClassVar = Rule("LIV-4", "guarantee.liv.service-comes-round", frozenset({Kind.TICK}) | DISTURBANCES)

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calm = folds.get(Calm)
        self._latest: dict[tuple[str, str], Event] = {}
        """Node and service to its last round."""
        self._slack_ms = terms.constants.request_limit_ms + terms.constants.scheduling_delay_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.TICK: self.on_tick, Kind.DOWN: self.on_down}

    def on_tick(self, event: Event) -> None:
        """The round came when the last one said it would."""
        key = (event.node, event.cause)
        before = self._latest.get(key)
        self._latest[key] = event
        if before is not None:
            self.exercised += 1
            self._check(before, event.time_ms)

    def on_down(self, event: Event) -> None:
        """A node that stopped owes nothing."""
        for key in [key for key in self._latest if key[0] == event.node]:
            del self._latest[key]

    @override
    def finish(self, now_ms: int) -> None:
        for before in self._latest.values():
            self._check(before, now_ms)

    def _check(self, before: Event, now_ms: int) -> None:
        late_ms = now_ms - before.due_ms
        if late_ms > self._slack_ms and self._calm.is_calm_since(before.time_ms):
            self.report(f"{before.cause} of {before.node} is {late_ms} ms overdue", before)
