"""RTE: who knows where the queues are.

"All clients see the same route" is false: name servers do not talk to each other, and clients
poll. What holds: an unregistration removes only the registration that it refers to, and a
registration reaches every name server within one registration interval (RTE-1); a client uses
what its name server told it, not longer than one poll out of date, and it asks only servers that
it is configured with (RTE-2).

Events: `register`, `unregister` and `up` at name servers; `servers`, `route` and `view` at clients.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.guarantees.fold.calm import DISTURBANCES, Calm
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import ABSENT, Event, Outcome
from spec.history.kind import Kind
from spec.override import override

Place = tuple[str, int]
"""Broker name and broker id."""


class RegistrationFenced(Monitor):
    """RTE-1: an unregistration removes its own registration, and registrations spread."""

    rule: ClassVar = Rule(
        "RTE-1",
        "guarantee.rte.registration-fenced",
        frozenset({Kind.REGISTER, Kind.UNREGISTER}) | DISTURBANCES,
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calm = folds.get(Calm)
        self._known: dict[str, dict[Place, Event]] = {}
        """Name server that is up to its registrations."""
        self._newest: dict[Place, Event] = {}

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.UP: self.on_up,
            Kind.DOWN: self.on_down,
            Kind.REGISTER: self.on_register,
            Kind.UNREGISTER: self.on_unregister,
        }

    def on_up(self, event: Event) -> None:
        """A name server starts with nothing."""
        if event.status == "name-server":
            self._known[event.node] = {}

    def on_down(self, event: Event) -> None:
        """A name server that is gone need not know anything."""
        self._known.pop(event.node, None)

    def on_register(self, event: Event) -> None:
        """This name server knows the broker at this address."""
        place = (event.broker, event.replica)
        self._known.setdefault(event.node, {})[place] = event
        newest = self._newest.get(place)
        if newest is None or newest.address != event.address:
            self._newest[place] = event

    def on_unregister(self, event: Event) -> None:
        """It may remove only what it names: this address, this id, not a later version."""
        place = (event.broker, event.replica)
        current = self._known.get(event.node, {}).get(place)
        if current is not None:
            self.exercised += 1
        if event.outcome is not Outcome.OK:
            return
        self._newest.pop(place, None)
        if current is None:
            return
        if current.address != event.address:
            summary = f"unregistering {event.address} removed {event.broker} at {current.address}"
            self.report(summary, current, event)
        elif ABSENT not in (event.version, current.version) and event.version < current.version:
            self.report(
                f"a late unregistration removed the newer registration of {event.broker}", current, event
            )
        del self._known[event.node][place]

    @override
    def finish(self, now_ms: int) -> None:
        constants = self.terms.constants
        patience_ms = constants.broker_register_ms + constants.request_limit_ms
        for (broker, replica), newest in self._newest.items():
            if now_ms - newest.time_ms <= patience_ms or not self._calm.is_faultless_since(newest.time_ms):
                continue
            for server, known in self._known.items():
                self.exercised += 1
                there = known.get((broker, replica))
                if there is None or there.address != newest.address:
                    self.report(f"{server} does not know {broker} at {newest.address}", newest)


class RouteFollowed(Monitor):
    """RTE-2: a client uses the route it was told, by a server that it is configured with."""

    rule: ClassVar = Rule(
        "RTE-2", "guarantee.rte.route-followed", frozenset({Kind.SERVERS, Kind.ROUTE, Kind.VIEW})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._servers: dict[str, Event] = {}
        self._routes: dict[tuple[str, str], Event] = {}
        """Client and topic to the answer since which the route has not changed."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.SERVERS: self.on_servers, Kind.ROUTE: self.on_route, Kind.VIEW: self.on_view}

    def on_servers(self, event: Event) -> None:
        """The client's list of name servers is this one from now on."""
        self._servers[event.client] = event

    def on_route(self, event: Event) -> None:
        """The answer must come from a configured server."""
        self.exercised += 1
        servers = self._servers.get(event.client)
        if servers is not None and event.address not in servers.members:
            self.report(
                f"{event.client} took a route from {event.address}, which it must not ask", servers, event
            )
        key = (event.client, event.topic)
        known = self._routes.get(key)
        if known is None or set(known.queues) != set(event.queues):
            self._routes[key] = event

    def on_view(self, event: Event) -> None:
        """The pass must rest on the route, or on one that changed less than a poll ago."""
        route = self._routes.get((event.client, event.topic))
        if route is None:
            return
        self.exercised += 1
        is_stale = set(event.queues) != set(route.queues)
        if is_stale and event.time_ms - route.time_ms > self.terms.constants.route_poll_ms:
            self.report(
                f"{event.client} allocates {event.topic} by a route that it was told is old", route, event
            )
