"""How long nothing has disturbed the run.

A liveness rule speaks of a quiescent interval: no join, leave, crash, change of subscription,
route or queue count, no reset, no failed request, no restart. This fold remembers when the last
such thing was seen. It looks at the whole run, not at one group: a disturbance elsewhere may
delay a verdict, it can never cause a false one.
"""

from collections.abc import Mapping
from typing import Final

from spec.guarantees.fold.environment import Environment
from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override

FAILURES: Final = (Kind.UP, Kind.DOWN, Kind.RPC, Kind.FAULT, Kind.HEAL)
"""A node came or went, a request did not succeed, a fault began or ended."""

DISTURBANCES: Final = frozenset({Kind.UP, Kind.DOWN, Kind.RPC, Kind.FAULT})
"""What one must be able to see in order to call an interval calm; every rule with a deadline needs them."""

CHANGES: Final = (
    Kind.UNREGISTER,
    Kind.DELETE,
    Kind.JOIN,
    Kind.LEAVE,
    Kind.SUBSCRIBE,
    Kind.RESET,
    Kind.SERVERS,
)
"""Somebody changed what the nodes are to agree on."""


class Calm(Fold):
    """When the run was last disturbed, and whether a fault is still acting."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.disturbed_at_ms: int | None = None
        self.failed_at_ms: int | None = None
        self.is_news = False
        """Whether the `register` or `route` just taken says something new."""
        self._environment = folds.get(Environment)
        self._registered: dict[tuple[str, str, str, int], int] = {}
        self._routes: dict[tuple[str, str], tuple[str, ...]] = {}
        self._skew_ms = terms.constants.clock_skew_ms
        self._is_blind = not terms.observes >= DISTURBANCES

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            **dict.fromkeys(FAILURES, self.on_failure),
            **dict.fromkeys(CHANGES, self.on_change),
            Kind.REGISTER: self.on_register,
            Kind.ROUTE: self.on_route,
        }

    def on_change(self, event: Event) -> None:
        """The calm starts anew; with several clocks, when the slowest of them may have shown it."""
        time_ms = event.time_ms + self._skew_ms
        if self.disturbed_at_ms is None or time_ms > self.disturbed_at_ms:
            self.disturbed_at_ms = time_ms

    def on_failure(self, event: Event) -> None:
        """Something did not work; the calm starts anew."""
        self.on_change(event)
        self.failed_at_ms = self.disturbed_at_ms

    def on_register(self, event: Event) -> None:
        """A registration disturbs when it or its version is new; repeating it does not."""
        registration = (event.node, event.broker, event.address, event.replica)
        self.is_news = self._registered.get(registration, -1) != event.version
        if self.is_news:
            self._registered[registration] = event.version
            self.on_change(event)

    def on_route(self, event: Event) -> None:
        """A route disturbs when it differs from the client's last one."""
        key = (event.client, event.topic)
        self.is_news = self._routes.get(key) != event.queues
        if self.is_news:
            self._routes[key] = event.queues
            self.on_change(event)

    def is_calm_since(self, since_ms: int) -> bool:
        """Whether nothing disturbed the run after `since_ms` and no fault is acting."""
        if self._is_blind or self._environment.acting:
            return False
        return self.disturbed_at_ms is None or self.disturbed_at_ms <= since_ms

    def length_ms(self, since_ms: int, now_ms: int) -> int:
        """How much of the time since then has been calm without a break up to now."""
        if self._is_blind or self._environment.acting:
            return 0
        return now_ms - max(since_ms, self.disturbed_at_ms or since_ms)

    def is_faultless_since(self, since_ms: int) -> bool:
        """Whether everything worked after `since_ms`, though members and routes may have changed."""
        if self._is_blind or self._environment.acting:
            return False
        return self.failed_at_ms is None or self.failed_at_ms <= since_ms
