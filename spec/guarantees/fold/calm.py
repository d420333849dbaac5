"""How long nothing has disturbed the run.

A liveness rule speaks of a quiescent interval: no join, leave, crash, change of subscription,
route or queue count, no reset, no failed request, no restart. This fold remembers when the last
such thing was seen. It looks at the whole run, not at one group: a disturbance elsewhere may
delay a verdict, it can never cause a false one.
"""

from collections.abc import Mapping
from typing import Final

from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override

FAULTS: Final = (Kind.UP, Kind.DOWN, Kind.RPC)
"""A node came or went, or a request did not succeed."""

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
        self._acting: set[tuple[str, str]] = set()
        self._registered: set[tuple[str, str, str, int]] = set()
        self._routes: dict[tuple[str, str], tuple[str, ...]] = {}

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            **dict.fromkeys(FAULTS, self.on_failure),
            **dict.fromkeys(CHANGES, self.on_change),
            Kind.FAULT: self.on_fault,
            Kind.HEAL: self.on_heal,
            Kind.REGISTER: self.on_register,
            Kind.ROUTE: self.on_route,
        }

    def on_change(self, event: Event) -> None:
        """The calm starts anew."""
        self.disturbed_at_ms = event.time_ms

    def on_failure(self, event: Event) -> None:
        """Something did not work; the calm starts anew."""
        self.disturbed_at_ms = self.failed_at_ms = event.time_ms

    def on_fault(self, event: Event) -> None:
        """A fault acts until its `heal`."""
        self._acting.add((event.node, event.cause))
        self.on_failure(event)

    def on_heal(self, event: Event) -> None:
        """The fault no longer acts; the calm starts anew."""
        self._acting.discard((event.node, event.cause))
        self.on_failure(event)

    def on_register(self, event: Event) -> None:
        """A registration disturbs when it is new; repeating it does not."""
        registration = (event.node, event.broker, event.address, event.replica)
        if registration not in self._registered:
            self._registered.add(registration)
            self.disturbed_at_ms = event.time_ms

    def on_route(self, event: Event) -> None:
        """A route disturbs when it differs from the client's last one."""
        key = (event.client, event.topic)
        if self._routes.get(key) != event.queues:
            self._routes[key] = event.queues
            self.disturbed_at_ms = event.time_ms

    def is_calm_since(self, since_ms: int) -> bool:
        """Whether nothing disturbed the run after `since_ms` and no fault is acting."""
        return not self._acting and (self.disturbed_at_ms is None or self.disturbed_at_ms <= since_ms)

    def is_faultless_since(self, since_ms: int) -> bool:
        """Whether everything worked after `since_ms`, though members and routes may have changed."""
        return not self._acting and (self.failed_at_ms is None or self.failed_at_ms <= since_ms)
