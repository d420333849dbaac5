"""LIV: what never stands still.

"Consumption makes progress" cannot be judged; deadlines can. Each live tenure has a pull under
way, held, put off or paused, and one whose pull was lost is replaced (LIV-1). A held pull is
answered when something arrives, at the latest at the next sweep, and at its limit in any case;
what was woken is not held again (LIV-2). The counters that pause a pull say what the buffer holds
(LIV-3). A periodic service comes round again whatever happened in its last round (LIV-4).

All deadlines are judged in calm intervals only, with the declared constants.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.guarantees.fold.calm import Calm
from spec.guarantees.fold.tenure import Tenures
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import ABSENT, Event, QueueKey
from spec.history.kind import Kind
from spec.override import override

TenureKey = tuple[str, str, QueueKey]

BUFFER_LIMITS: Final = frozenset({"count", "size", "span"})
"""Causes of putting a pull off that only a filled buffer can give."""

FRUITLESS_LIMIT: Final = 2
"""How many tenures in a row may expire without one answer in a calm interval."""


class PullGoesOn(Monitor):
    """LIV-1: a live tenure pulls, waits for a pull, or is replaced."""

    rule: ClassVar = Rule(
        "LIV-1",
        "guarantee.liv.pull-goes-on",
        frozenset({Kind.OWN, Kind.DISOWN, Kind.PULL, Kind.PULLED, Kind.FLOW}),
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
        if event.cause != "pull-expired" or not self._calm.is_calm_since(before.time_ms):
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


class HeldPullAnswered(Monitor):
    """LIV-2: a held pull is answered on arrival or in time, and not held again."""

    rule: ClassVar = Rule(
        "LIV-2", "guarantee.liv.held-pull-answered", frozenset({Kind.HOLD, Kind.WAKE, Kind.DISPATCH})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calm = folds.get(Calm)
        self._held: dict[tuple[str, str, int], Event] = {}
        """Broker, client and request to its `hold`."""
        self._woken: dict[tuple[str, str], Event] = {}
        """Broker and client to the request woken last."""
        self._due: dict[tuple[str, str, int], Event] = {}
        """Held pulls for which something readable has been there since this event."""
        self._waiting: dict[QueueKey, dict[tuple[str, str, int], Event]] = {}
        """Queue to the pulls held on it."""
        self._readable: dict[QueueKey, int] = {}
        """Queue to the end of its index, where it was seen growing."""
        constants = terms.constants
        self._slack_ms = constants.scheduling_delay_ms
        self._limit_ms = constants.hold_limit_ms + constants.hold_sweep_ms + self._slack_ms
        self._sweep_ms = constants.hold_sweep_ms + self._slack_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.HOLD: self.on_hold,
            Kind.WAKE: self.on_wake,
            Kind.DISPATCH: self.on_dispatch,
            Kind.DOWN: self.on_down,
            Kind.LEAVE: self.on_leave,
        }

    def on_hold(self, event: Event) -> None:
        """A request is held once."""
        key = (event.broker, event.client, event.request)
        woken = self._woken.get((event.broker, event.client))
        self.exercised += 1
        if key in self._held:
            self.report(f"request {event.request} of {event.client} is held twice", self._held[key], event)
        elif woken is not None and woken.request == event.request:
            self.report(
                f"request {event.request} of {event.client} is held again after it was woken", woken, event
            )
        self._held[key] = event
        self._waiting.setdefault(event.queue_key, {})[key] = event
        if self._readable.get(event.queue_key, 0) > event.offset:
            self._due[key] = event

    def on_dispatch(self, event: Event) -> None:
        """Something arrived: pulls held at or below it are due at the next sweep."""
        self._readable[event.queue_key] = event.offset + 1
        for key, hold in self._waiting.get(event.queue_key, {}).items():
            if hold.offset <= event.offset:
                self._due.setdefault(key, event)

    def on_wake(self, event: Event) -> None:
        """The answer must be in time, and must not claim an arrival that was not there."""
        key = (event.broker, event.client, event.request)
        hold = self._held.get(key)
        if hold is None:
            return
        self.exercised += 1
        self._check(key, event.time_ms)
        self._release(key)
        self._woken[event.broker, event.client] = event
        readable = self._readable.get(event.queue_key)
        if event.cause == "arrival" and readable is not None and readable <= hold.offset:
            self.report(
                f"{event.client} was woken at offset {hold.offset} by nothing: the queue ends there",
                hold,
                event,
            )

    def on_down(self, event: Event) -> None:
        """What a broker held is gone with it; what a stopped client asked need not be answered."""
        for key in [key for key, hold in self._held.items() if event.node in (hold.node, hold.client)]:
            self._release(key)

    def on_leave(self, event: Event) -> None:
        """The client's connection is gone, and its held pulls with it."""
        for key in [key for key in self._held if key[:2] == (event.broker, event.client)]:
            self._release(key)

    @override
    def finish(self, now_ms: int) -> None:
        for key in list(self._held):
            self._check(key, now_ms)

    def _release(self, key: tuple[str, str, int]) -> None:
        hold = self._held.pop(key)
        self._due.pop(key, None)
        self._waiting[hold.queue_key].pop(key, None)

    def _check(self, key: tuple[str, str, int], now_ms: int) -> None:
        hold = self._held[key]
        if not self._calm.is_calm_since(hold.time_ms):
            return
        held_ms = now_ms - hold.time_ms
        due = self._due.get(key)
        if held_ms > self._limit_ms:
            self.report(f"request {hold.request} of {hold.client} was held for {held_ms} ms", hold)
        elif due is not None and now_ms - due.time_ms > self._sweep_ms:
            late_ms = now_ms - due.time_ms
            summary = f"request {hold.request} of {hold.client} waited {late_ms} ms for something readable"
            self.report(summary, *dict.fromkeys((hold, due)))


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
        if event.message_count == ABSENT:
            return
        self.exercised += 1
        if event.cause in BUFFER_LIMITS and not event.offsets:
            self.report(f"{event.client} puts a pull off by {event.cause} with an empty buffer", event)


class ServiceComesRound(Monitor):
    """LIV-4: a periodic service survives any error of one item."""

    rule: ClassVar = Rule("LIV-4", "guarantee.liv.service-comes-round", frozenset({Kind.TICK, Kind.DOWN}))

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
