"""LIV-2: a held pull is answered, once and in time.

"A long poll returns when there is something to read" is false of a broker that looks before it
holds: what arrives in between wakes nobody until the next sweep. And not every arrival counts, only
one that the puller wants. What holds: a wanted arrival answers a held pull at once, or by the next
sweep if it raced the suspension; every held pull is answered by its limit and one sweep; what was
woken by an arrival has something to read; and waking never holds again.

Events: `hold`, `wake` and `dispatch` at the broker, `subscribe` for what is wanted. All times are of
the one node that holds the pull.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.guarantees.fold.calm import DISTURBANCES, Calm
from spec.guarantees.fold.subscription import Subscriptions
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import WakeCause
from spec.history.event import Event, QueueKey
from spec.history.kind import Kind
from spec.override import override
from spec.values.name import RETRY_PREFIX


class HeldPullAnswered(Monitor):
    """LIV-2: a held pull is answered on arrival or in time, and not held again."""

    rule: ClassVar = Rule(
        "LIV-2",
        "guarantee.liv.held-pull-answered",
        frozenset({Kind.HOLD, Kind.WAKE, Kind.DISPATCH, Kind.LEAVE, Kind.SUBSCRIBE}) | DISTURBANCES,
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
        self._waiting: dict[tuple[str, QueueKey], dict[tuple[str, str, int], Event]] = {}
        """Node and queue to the pulls held there."""
        self._readable: dict[tuple[str, QueueKey], Event] = {}
        """Node and queue to the newest entry of its index."""
        self._subscriptions = folds.get(Subscriptions)
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
        place = (event.node, event.queue_key)
        self._waiting.setdefault(place, {})[key] = event
        newest = self._readable.get(place)
        if newest is not None and newest.offset >= event.offset and self._is_wanted(event, newest):
            self._due[key] = event

    def _is_wanted(self, hold: Event, dispatch: Event) -> bool:
        """Whether the message surely matches what the puller asked for; all copies for a retry do."""
        interests = self._subscriptions.interests.get((hold.client, hold.group, hold.topic))
        if interests is None:
            return hold.topic == RETRY_PREFIX + hold.group
        return interests[-1].is_wanted(dispatch.tag)

    def on_dispatch(self, event: Event) -> None:
        """Something arrived: pulls held at or below it are due at the next sweep."""
        place = (event.node, event.queue_key)
        self._readable[place] = event
        waiting = self._waiting.get(place)
        if waiting:
            for key, hold in waiting.items():
                if hold.offset <= event.offset and key not in self._due and self._is_wanted(hold, event):
                    self._due[key] = event

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
        newest = self._readable.get((event.node, event.queue_key))
        if event.cause == WakeCause.ARRIVAL and newest is not None and newest.offset < hold.offset:
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
        self._waiting[hold.node, hold.queue_key].pop(key, None)

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
