"""OWN-3: when nothing changes for long enough, every queue has exactly one owner.

Members allocate alone, so after a change there are queues with two owners and queues with none.
That is legal only until everybody must have heard of the change: a tick after a proper leave, the
expiry after a crash, the registration and polling periods after a new broker (`fold.settling`). A
single queue may be without an owner a little later too, while its tenure is replaced after an
offset correction or an expired pull, and an ordered one while its lock is refused.

Judged from the passes of the last two ticks: a member that makes no passes any more says nothing
about the queues. Strategies that do not promise to cover every queue are judged for double owners
only. Events: `view`, `own`, `disown`, and whatever disturbs.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.guarantees.fold.custody import BROADCAST
from spec.guarantees.fold.settling import Settling
from spec.guarantees.fold.tenure import Tenures
from spec.guarantees.fold.view import Views
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.guarantees.ownership import COVERING, PROMISES_NOTHING
from spec.history.event import Event, Outcome, QueueKey
from spec.history.kind import Kind
from spec.override import override

CORRECTION_PAUSE_MS: Final = 10_000
"""How long Apache waits between dropping a queue and correcting its offset."""

CONCURRENT: Final = "concurrent"


def _queue_key(topic: str, name: str) -> QueueKey:
    broker, _, number = name.rpartition(":")
    return (topic, broker, int(number))


class OneOwnerWhenCalm(Monitor):
    """OWN-3: after a long enough calm every queue has exactly one owner, a member.

    Clause: guarantee.own.convergence
    """

    rule: ClassVar = Rule(
        "OWN-3",
        "guarantee.own.convergence",
        frozenset({Kind.VIEW, Kind.OWN, Kind.DISOWN, Kind.UP, Kind.DOWN, Kind.FAULT, Kind.RPC}),
        assumes=frozenset({"A1", "A2", "A3"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._views = folds.get(Views)
        self._tenures = folds.get(Tenures)
        self._settling = folds.get(Settling)
        self._touched: dict[tuple[str, QueueKey], int] = {}
        """Group and queue to when its ownership last changed or an acquisition was refused."""
        self._reported: set[tuple[str, QueueKey]] = set()
        self._modes: dict[str, str] = {}
        self._sees_locks = bool(terms.observes & {Kind.LOCK, Kind.LOCKED})
        constants = terms.constants
        self._recent_ms = 2 * constants.rebalance_ms + self._settling.slack_ms
        self._replace_ms = self._recent_ms + CORRECTION_PAUSE_MS
        self._hand_over_ms = (
            self._replace_ms + constants.unlock_delay_ms + constants.lock_lease_ms + constants.rebalance_ms
        )

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.VIEW: self.on_view,
            Kind.OWN: self.on_own,
            Kind.DISOWN: self.on_touch,
            Kind.LOCK: self.on_lock,
            Kind.LOCKED: self.on_lock,
            Kind.QUERIED: self.on_queried,
        }

    def on_own(self, event: Event) -> None:
        """The queue changes hands."""
        self._modes[event.group] = event.mode
        self.on_touch(event)

    def on_touch(self, event: Event) -> None:
        """The queue's clock starts anew."""
        key = (event.group, event.queue_key)
        self._touched[key] = event.time_ms
        self._reported.discard(key)

    def on_lock(self, event: Event) -> None:
        """A refused lock delays the acquisition; how long is another rule's matter."""
        if event.outcome is not Outcome.OK:
            self._touched[event.group, event.queue_key] = event.time_ms

    def on_queried(self, event: Event) -> None:
        """A failed query delays the acquisition."""
        if event.status == "error":
            self._touched[event.group, event.queue_key] = event.time_ms

    def on_view(self, event: Event) -> None:
        """A pass is a good moment to look at its topic."""
        self._check(event.group, event.topic, event.time_ms)

    @override
    def finish(self, now_ms: int) -> None:
        for group, topic in sorted({(group, topic) for _, group, topic in self._views.latest}):
            self._check(group, topic, now_ms)

    def _recent_views(self, group: str, topic: str, now_ms: int) -> list[Event]:
        views = self._views.find(group, topic)
        return [view for view in views if now_ms - view.time_ms <= self._recent_ms]

    def _check(self, group: str, topic: str, now_ms: int) -> None:
        if now_ms <= self._settling.settled_by_ms or self._settling.is_disturbed:
            return
        mode = self._modes.get(group, "")
        views = self._recent_views(group, topic, now_ms)
        if not views or mode == BROADCAST or any(view.strategy in PROMISES_NOTHING for view in views):
            return
        patience_ms = self._replace_ms if mode == CONCURRENT else self._hand_over_ms
        for name in sorted({queue for view in views for queue in view.queues}):
            key = (group, _queue_key(topic, name))
            self.exercised += 1
            if key not in self._reported and now_ms > self._touched.get(key, 0) + patience_ms:
                self._check_queue(key, name, views, now_ms)

    def _check_queue(self, key: tuple[str, QueueKey], name: str, views: list[Event], now_ms: int) -> None:
        group, (topic, _, _) = key
        holders = self._tenures.live.get(key, {})
        calm_ms = now_ms - self._settling.settled_by_ms
        if not holders:
            is_judged = self._sees_locks or self._modes.get(group) == CONCURRENT
            if not is_judged or not self._tenures.is_surely_free(*key):
                return
            if all(view.strategy in COVERING for view in views):
                listing = [view for view in views if name in view.queues]
                self._reported.add(key)
                self.report(
                    f"nobody holds {topic} {name} of {group}, {calm_ms} ms after all must agree",
                    *listing[-2:],
                )
        elif len(holders) > 1:
            self._reported.add(key)
            self.report(
                f"{' and '.join(holders)} still hold {topic} {name} of {group}, "
                f"{calm_ms} ms after all must agree",
                *(tenure.own for tenure in holders.values()),
            )
        else:
            self._check_member(key, name, views)

    def _check_member(self, key: tuple[str, QueueKey], name: str, views: list[Event]) -> None:
        ((owner, tenure),) = self._tenures.live[key].items()
        if all(owner not in view.members and view.client != owner for view in views):
            self._reported.add(key)
            self.report(
                f"{key[1][0]} {name} is held by {owner}, which nobody lists as a member of {key[0]}",
                tenure.own,
                views[-1],
            )
