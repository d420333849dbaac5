"""By when all members of a group must agree, if nothing else happens.

Every change takes its own time to reach everybody: a member that leaves properly is noticed at the
next tick, one that falls silent only after its expiry, a new broker after it registered, was
polled and was greeted. This fold adds the longest such time to each change that was seen, also to
a change that shows only in somebody's view, and so knows when disagreement is no longer excused.
"""

from collections.abc import Mapping

from spec.guarantees.fold.calm import Calm
from spec.guarantees.fold.environment import Environment
from spec.guarantees.fold.view import Inputs, Views
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
        self.slack_ms = constants.request_limit_ms + constants.scheduling_delay_ms + constants.clock_skew_ms
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
        self._environment = folds.get(Environment)
        self._calm = folds.get(Calm)
        self._views = folds.get(Views)
        self._known: dict[tuple[str, str, str], Inputs] = {}
        """Client, group and topic to the inputs of its last view."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            **dict.fromkeys(self._bounds, self.on_change),
            Kind.REGISTER: self.on_told,
            Kind.ROUTE: self.on_told,
            Kind.VIEW: self.on_view,
        }

    @property
    def is_disturbed(self) -> bool:
        """Whether a fault is acting."""
        return bool(self._environment.acting)

    def on_change(self, event: Event) -> None:
        """Everybody knows of the change within its bound, and has acted on it one tick later."""
        due = event.time_ms + self._bounds[event.kind] + self.terms.constants.rebalance_ms + self.slack_ms
        self.settled_by_ms = max(self.settled_by_ms, due)

    def on_told(self, event: Event) -> None:
        """A registration or a route is a change when it says something new."""
        if self._calm.is_news:
            self.on_change(event)

    def on_view(self, event: Event) -> None:
        """A view is a sign of change when its inputs differ from the member's last ones."""
        key = (event.client, event.group, event.topic)
        inputs = self._views.latest[key][1]
        if self._known.get(key) != inputs:
            self._known[key] = inputs
            self.on_change(event)
