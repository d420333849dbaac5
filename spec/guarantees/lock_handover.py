"""LCK-5: a lock is handed on in bounded time.

The lock delays a hand-over by design: a call must end, a dropped queue that still had messages
is unlocked a while later, a dead holder's lease must run out. What must not happen is that it
delays for longer, or for nothing. So: a queue that a live client dropped is unlocked at its next
tick without a running call, and the unlock delay later at most; a client that is shut down
unlocks; the broker refuses only what another validly holds, frees what the holder unlocks, and
tells the client what it decided; a granted lock leads to a tenure and the tenure to a pull,
without waiting beyond the next renewal (Apache before 4.9.5 does wait for that one); and a client
that has just been granted does not put its pulls off for want of the lock.

A deadline is judged by the client's own clock, at its passes and renewals, and only if no request
failed and no fault acted meanwhile.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.guarantees.fold.call import Calls, Place, Post, Work
from spec.guarantees.fold.environment import Environment
from spec.guarantees.fold.lease import Leases
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import DisownCause, FlowCause
from spec.history.event import Event, Outcome, queue_name
from spec.history.kind import Kind
from spec.override import override

KEPT_DECISIONS: Final = 8
"""How many decisions may be on their way to a client; more means that their answers were lost."""


def _name(event: Event) -> str:
    return f"{event.topic} {queue_name(event.broker, event.queue)}"


def _post(event: Event) -> Post:
    return (event.client, event.group, event.topic, event.broker, event.queue)


class HandedOn(Monitor):
    """LCK-5: locks are released, granted and used in bounded time."""

    rule: ClassVar = Rule(
        "LCK-5",
        "guarantee.lck.handed-on",
        frozenset(
            {
                Kind.LOCK,
                Kind.LOCKED,
                Kind.UNLOCK,
                Kind.OWN,
                Kind.DISOWN,
                Kind.QUERIED,
                Kind.PULL,
                Kind.START,
                Kind.END,
                Kind.UP,
                Kind.DOWN,
                Kind.FAULT,
                Kind.RPC,
            }
        ),
        assumes=frozenset({"A1", "A4"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calls = folds.get(Calls)
        self._leases = folds.get(Leases)
        self._environment = folds.get(Environment)
        self._decisions: dict[Post, list[Event]] = {}
        """Decisions that the client has not been told yet."""
        self._told: dict[Post, Event] = {}
        self._granted: dict[Post, Event] = {}
        """Grants that have not led to a tenure yet."""
        self._waiting: dict[Post, Event] = {}
        """Tenures that have not pulled yet."""
        self._dropped: dict[Post, tuple[Event, Work]] = {}
        """Ended tenures whose lock has not been released yet."""
        self._orphans: dict[Place, tuple[Event, Event | None]] = {}
        """Locks left behind by a shutdown, and the first refusal since."""
        constants = terms.constants
        slack_ms = constants.request_limit_ms + constants.scheduling_delay_ms
        self._trust_ms = constants.lock_trust_ms
        self._delay_ms = constants.scheduling_delay_ms
        self._request_ms = constants.request_limit_ms
        self._lease_ms = constants.lock_lease_ms
        self._unlock_ms = constants.rebalance_ms + constants.unlock_delay_ms + slack_ms
        self._use_ms = constants.lock_renew_ms + 2 * constants.request_limit_ms + slack_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.LOCK: self.on_lock,
            Kind.LOCKED: self.on_locked,
            Kind.UNLOCK: self.on_unlock,
            Kind.QUERIED: self.on_queried,
            Kind.OWN: self.on_own,
            Kind.PULL: self.on_pull,
            Kind.FLOW: self.on_flow,
            Kind.DISOWN: self.on_disown,
            Kind.VIEW: self.on_view,
            Kind.DOWN: self.on_down,
        }

    def on_lock(self, event: Event) -> None:
        """The broker refuses only what another validly holds."""
        post, before = _post(event), self._leases.before
        decisions = self._decisions.setdefault(post, [])
        decisions.append(event)
        del decisions[:-KEPT_DECISIONS]
        if event.outcome is Outcome.OK:
            self._orphans.pop(post[1:], None)
            if before is not None and before.client != event.client:
                self._dropped.pop((before.client, *post[1:]), None)
        elif event.outcome is Outcome.FAIL:
            self.exercised += 1
            self._check_refusal(event, post[1:])

    def _check_refusal(self, event: Event, place: Place) -> None:
        before, slack_ms = self._leases.before, self._leases.slack_ms(event)
        if before is None:
            free = self._leases.locks[place].free_since
            if free is not None and event.time_ms - free.time_ms >= slack_ms:
                self.report(f"{event.client} was refused {_name(event)}, which nobody holds", free, event)
        elif before.client == event.client:
            self.report(
                f"{event.client} was refused {_name(event)}, which it holds itself", before.renewed, event
            )
        elif event.time_ms - before.renewed.time_ms > self._lease_ms + slack_ms:
            held_ms = event.time_ms - before.renewed.time_ms
            self.report(
                f"{event.client} was refused {_name(event)} {held_ms} ms after {before.client}'s last grant",
                before.renewed,
                event,
            )
        elif place in self._orphans:
            self._check_orphan(event, place, before.renewed)

    def _check_orphan(self, event: Event, place: Place, grant: Event) -> None:
        down, refusal = self._orphans[place]
        if refusal is None or refusal.node != event.node:
            self._orphans[place] = (down, event)
        elif event.time_ms - refusal.time_ms >= self._request_ms:
            del self._orphans[place]
            if self._environment.is_smooth_since(grant.sequence):
                self.report(
                    f"{grant.client} was shut down without unlocking {_name(event)}", grant, down, event
                )

    def on_locked(self, event: Event) -> None:
        """The client is told what the broker decided, and a grant leads to a tenure."""
        post = _post(event)
        self._check_told(event, post)
        self._check_client(event)
        if event.outcome is Outcome.UNKNOWN:
            return
        self._told[post] = event
        work = self._calls.find_latest(post)
        if event.outcome is Outcome.FAIL:
            self._granted.pop(post, None)
        elif event.node in self._environment.up if work is None else work.disown is not None:
            # Without a tenure in sight, only a client seen from its start surely has none.
            self._granted.setdefault(post, event)

    def _check_told(self, event: Event, post: Post) -> None:
        decisions = self._decisions.get(post)
        if not decisions:
            return
        if event.outcome is Outcome.UNKNOWN:
            del decisions[0]
            return
        same = next((decision for decision in decisions if decision.outcome is event.outcome), None)
        if same is not None:
            del decisions[: decisions.index(same) + 1]
        elif event.outcome is Outcome.FAIL:
            self.report(
                f"{event.client} was granted {_name(event)} and told that it was refused",
                decisions[-1],
                event,
            )
            decisions.clear()

    def on_unlock(self, event: Event) -> None:
        """The holder's unlock takes effect, and what was owed is done."""
        post, before = _post(event), self._leases.before
        self._dropped.pop(post, None)
        self._granted.pop(post, None)
        self._orphans.pop(post[1:], None)
        if event.outcome is Outcome.FAIL and before is not None and before.client == event.client:
            self.report(
                f"{event.client} may not unlock {_name(event)}, which it holds", before.renewed, event
            )

    def on_queried(self, event: Event) -> None:
        """Without an offset there is no tenure; the next pass tries again."""
        if event.status == "error":
            self._granted.pop(_post(event), None)

    def on_own(self, event: Event) -> None:
        """The grant has led to a tenure, and the tenure owes a pull."""
        work = self._calls.work
        if work.is_ordered:
            self.exercised += 1
            self._granted.pop(work.post, None)
            self._dropped.pop(work.post, None)
            self._waiting[work.post] = event

    def on_pull(self, event: Event) -> None:
        """The tenure pulls."""
        if self._waiting:
            self._waiting.pop(_post(event), None)

    def on_flow(self, event: Event) -> None:
        """A pull may be put off, but not for want of a lock that was just granted."""
        post = _post(event)
        if event.cause != FlowCause.LOCK:
            self._waiting.pop(post, None)
            return
        told, work = self._told.get(post), self._calls.find_latest(post)
        if told is None or told.outcome is not Outcome.OK or told.node != event.node:
            return
        if work is None or work.own is None or told.sequence < work.own.sequence:
            return
        if not self._is_held(post):
            return
        age_ms = event.time_ms - told.time_ms
        if self._delay_ms < age_ms <= self._trust_ms:
            self.report(
                f"{event.client} does not trust its lock of {_name(event)}, renewed {age_ms} ms ago",
                told,
                event,
            )

    def on_disown(self, event: Event) -> None:
        """A tenure that ends owes an unlock."""
        work = self._calls.work
        self._waiting.pop(work.post, None)
        if work.is_ordered and self._is_held(work.post):
            self.exercised += 1
            if event.cause != DisownCause.SHUTDOWN:
                self._dropped[work.post] = (event, work)

    def on_view(self, event: Event) -> None:
        """A pass is when a client does what it owes."""
        self._check_client(event)
        for post, granted in list(self._granted.items()):
            if granted.node != event.node or post[:3] != (event.client, event.group, event.topic):
                continue
            if queue_name(post[3], post[4]) not in event.assigned:
                del self._granted[post]
            elif event.time_ms - granted.time_ms > self._use_ms:
                del self._granted[post]
                if self._environment.is_smooth_since(granted.sequence):
                    self.report(f"{event.client} was granted {_name(granted)} and does not take it", granted)

    def on_down(self, event: Event) -> None:
        """A crashed client owes nothing; one that was shut down owes its unlocks."""
        self._decisions.clear()
        for owed in (self._told, self._granted, self._waiting):
            for post in [post for post, since in owed.items() if since.node == event.node]:
                del owed[post]
        for post in [post for post, since in self._dropped.items() if since[0].node == event.node]:
            del self._dropped[post]
        if event.status != "graceful":
            return
        for work in self._calls.stopped:
            ended = work.disown
            is_left = ended is event or (ended is not None and ended.cause == DisownCause.SHUTDOWN)
            if is_left and work.is_ordered and self._is_held(work.post):
                self._orphans[work.place] = (event, None)

    @override
    def finish(self, now_ms: int) -> None:
        for node in sorted(
            {own.node for own in self._waiting.values()} | {d.node for d, _ in self._dropped.values()}
        ):
            self._check_node(node, now_ms)

    def _check_client(self, event: Event) -> None:
        if self._waiting or self._dropped:
            self._check_node(event.node, event.time_ms)

    def _check_node(self, node: str, now_ms: int) -> None:
        for post, own in list(self._waiting.items()):
            if own.node == node and now_ms - own.time_ms > self._use_ms:
                del self._waiting[post]
                if self._is_held(post) and self._environment.is_smooth_since(own.sequence):
                    self.report(f"{own.client} holds {_name(own)} and its lock, and does not pull", own)
        for post, (disown, work) in list(self._dropped.items()):
            if disown.node != node or any(call.work is work for call in work.group.calls.values()):
                continue
            idle_since_ms = max(disown.time_ms, work.last_end_ms or disown.time_ms)
            if now_ms - idle_since_ms > self._unlock_ms:
                del self._dropped[post]
                if self._is_held(post) and self._environment.is_smooth_since(disown.sequence):
                    self.report(f"{disown.client} dropped {_name(disown)} and keeps its lock", disown)

    def _is_held(self, post: Post) -> bool:
        lock = self._leases.locks.get(post[1:])
        return lock is not None and lock.lease is not None and lock.lease.client == post[0]
