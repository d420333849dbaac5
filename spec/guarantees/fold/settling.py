"""By when all members of a group must agree, if nothing else happens.

Every change takes its own time to reach everybody: a member that leaves properly is noticed at the
next tick, one that falls silent only after its expiry, a new broker after it registered, was
polled and was greeted. This fold adds the longest such time to each change that was seen, also to
a change that shows only in somebody's view, and so knows when disagreement is no longer excused.
"""

from collections.abc import Mapping

from spec.guarantees.fold.view import Views
from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override


class Settling(Fold):
    """When disagreement ends: `settled_by_ms`, or never while a fault acts."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        constants = terms.constants
        tick = constants.rebalance_ms
        poll = constants.route_poll_ms
        self.slack_ms = constants.request_limit_ms + constants.scheduling_delay_ms
        member_lost = constants.member_expiry_ms + constants.member_scan_ms + tick
        broker_lost = constants.broker_expiry_ms + constants.broker_scan_ms + poll + tick
        broker_new = constants.broker_register_ms + poll + constants.heartbeat_ms + tick
        longest = max(member_lost, broker_lost, broker_new)
        self._bounds: dict[Kind, int] = {
            Kind.BEGIN: longest,
            Kind.UP: broker_new,
            Kind.DOWN: max(member_lost, broker_lost),
            Kind.HEAL: longest,
            Kind.FAULT: longest,
            Kind.RPC: max(constants.heartbeat_ms, poll) + tick,
            Kind.REGISTER: poll + constants.heartbeat_ms + tick,
            Kind.UNREGISTER: poll + tick,
            Kind.ROUTE: poll + tick,
            Kind.SERVERS: poll + tick,
            Kind.VIEW: poll + tick,
            Kind.SUBSCRIBE: poll + tick,
            Kind.DELETE: poll + tick,
            Kind.RESET: poll + tick,
            Kind.JOIN: tick,
            Kind.LEAVE: tick,
        }
        self.settled_by_ms = 0
        self._views = folds.get(Views)
        self._known: dict[tuple[str, ...], object] = {}
        self._acting: set[tuple[str, str]] = set()

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            **dict.fromkeys(self._bounds, self.on_change),
            Kind.REGISTER: self.on_register,
            Kind.ROUTE: self.on_route,
            Kind.VIEW: self.on_view,
            Kind.FAULT: self.on_fault,
            Kind.HEAL: self.on_heal,
        }

    @property
    def is_disturbed(self) -> bool:
        """Whether a fault is acting."""
        return bool(self._acting)

    def on_change(self, event: Event) -> None:
        """Everybody knows of the change within its bound, and has acted on it one tick later."""
        due = event.time_ms + self._bounds[event.kind] + self.terms.constants.rebalance_ms + self.slack_ms
        self.settled_by_ms = max(self.settled_by_ms, due)

    def _on_news(self, event: Event, key: tuple[str, ...], value: object) -> None:
        if self._known.get(key) != value:
            self._known[key] = value
            self.on_change(event)

    def on_register(self, event: Event) -> None:
        """A registration is a change when it is new, or when its version is."""
        key = ("register", event.node, event.broker, event.address, str(event.replica))
        self._on_news(event, key, event.version)

    def on_route(self, event: Event) -> None:
        """A route is a change when it differs from the client's last one."""
        self._on_news(event, ("route", event.client, event.topic), event.queues)

    def on_view(self, event: Event) -> None:
        """A view is a sign of change when its inputs differ from the member's last ones."""
        view = self._views.latest[event.client, event.group, event.topic]
        self._on_news(event, ("view", event.client, event.group, event.topic), view[1])

    def on_fault(self, event: Event) -> None:
        """Nobody needs to agree while a fault acts."""
        self._acting.add((event.node, event.cause))
        self.on_change(event)

    def on_heal(self, event: Event) -> None:
        """The fault is over; everything it hid is found out now."""
        self._acting.discard((event.node, event.cause))
        self.on_change(event)
