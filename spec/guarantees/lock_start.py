"""LCK-2 and LCK-3: when an ordered call may begin.

A client may begin a call only on behalf of a live tenure and while it trusts the broker's last
yes: for the trust time after it heard it, and not after a no. It looks before it calls; the call
itself may begin later by the scheduling delay, or by a pause of the whole process, once. Because
trust, one request and that delay together are shorter than the lease, nobody begins a call while
the broker counts the queue as another's.

Two things look like a breach and are none. An unlock carries no tenure, so one that was sent for
an earlier tenure may arrive when the client has already taken the queue again. And a master that
restarts grants to another what the old holder still trusts: the promise is for one life of it.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.dialects.hole import Hole
from spec.guarantees.fold.call import Calls, Post, Work
from spec.guarantees.fold.environment import Environment
from spec.guarantees.fold.lease import Leases, Loss
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.declaration import Constants
from spec.history.event import Event, Outcome, queue_name
from spec.history.kind import Kind
from spec.override import override

PAUSED = "the process was paused between its check and the call"
LATE_UNLOCK = "an unlock sent for an earlier tenure arrived late"
SHUTDOWN_RACE = "a shutdown unlocks without waiting (K9)"


def derive_unlock_limit_ms(constants: Constants) -> int:
    """How long after a tenure's end its unlock may still arrive, as two clocks see it."""
    return (
        constants.unlock_delay_ms
        + constants.rebalance_ms
        + constants.request_limit_ms
        + constants.scheduling_delay_ms
        + constants.clock_skew_ms
    )


def is_late_unlock(work: Work, unlock: Event, limit_ms: int) -> bool:
    """Whether the unlock can have been sent for the tenure before this one."""
    before = work.predecessor_end
    return (
        before is not None
        and work.own is not None
        and unlock.sequence > work.own.sequence
        and unlock.time_ms - before.time_ms <= limit_ms
    )


def is_shutdown_race(terms: Terms, unlock: Event, start: Event) -> bool:
    """Whether the call began while a shutdown that waits for nothing was unlocking (K9)."""
    constants = terms.constants
    limit_ms = constants.request_limit_ms + constants.scheduling_delay_ms + constants.clock_skew_ms
    return Hole.K9 in terms.holes and start.time_ms - unlock.time_ms <= limit_ms


class StartMonitor(Monitor):
    """What the two rules about beginning a call share."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calls = folds.get(Calls)
        self._environment = folds.get(Environment)
        self._spent: dict[Post, int] = {}
        """Which pause the client's one late step on the queue was put down to."""
        constants = terms.constants
        self._delay_ms = constants.scheduling_delay_ms
        self._trust_ms = constants.lock_trust_ms + self._delay_ms
        self._unlock_limit_ms = derive_unlock_limit_ms(constants)

    def _is_after_pause(self, post: Post, start: Event, since: int) -> bool:
        """Whether a pause after that event explains the start; each explains one per queue."""
        pause = self._environment.paused.get(start.node)
        if pause is None or pause.sequence < since or self._spent.get(post) == pause.sequence:
            return False
        self._spent[post] = pause.sequence
        self.explain(PAUSED)
        return True


class StartGated(StartMonitor):
    """LCK-2: a call begins only for a live tenure and under a fresh grant."""

    rule: ClassVar = Rule(
        "LCK-2",
        "guarantee.lck.start-gated",
        frozenset({Kind.START, Kind.OWN, Kind.DISOWN, Kind.LOCKED, Kind.FAULT}),
        assumes=frozenset({"A4"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._answers: dict[Post, Event] = {}
        """The last yes or no that the client heard."""
        self._unlocks: dict[Post, Event] = {}

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.LOCKED: self.on_locked,
            Kind.UNLOCK: self.on_unlock,
            Kind.START: self.on_start,
            Kind.DOWN: self.on_down,
        }

    def on_locked(self, event: Event) -> None:
        """A yes renews the trust, a no ends it; an answer that was lost changes nothing."""
        if event.outcome is not Outcome.UNKNOWN:
            self._answers[event.client, event.group, event.topic, event.broker, event.queue] = event

    def on_unlock(self, event: Event) -> None:
        """The client asked for this, so it knows that it holds nothing."""
        if event.outcome is Outcome.OK:
            self._unlocks[event.client, event.group, event.topic, event.broker, event.queue] = event

    def on_down(self, event: Event) -> None:
        """A process that stops trusts nothing any more."""
        for post in [post for post, answer in self._answers.items() if answer.node == event.node]:
            del self._answers[post]

    def on_start(self, event: Event) -> None:
        """The call that begins must have a live tenure and a fresh grant."""
        call = self._calls.began
        if call is None:
            return
        work = call.work
        answer = self._answers.get(work.post)
        if answer is not None and answer.node != event.node:
            return
        self.exercised += 1
        queue = f"{event.topic} {queue_name(event.broker, event.queue)}"
        if work.disown is not None:
            self._check_ended(work, work.disown, queue, event)
        elif answer is None:
            self._check_untold(work, queue, event)
        else:
            self._check_answer(work, answer, queue, event)

    def _check_ended(self, work: Work, disown: Event, queue: str, start: Event) -> None:
        late_ms = start.time_ms - disown.time_ms
        if late_ms <= self._delay_ms:
            self.explain("the tenure ended between the check and the call")
        elif not self._is_after_pause(work.post, start, disown.sequence):
            self.report(
                f"{start.client} begins a call on {queue} {late_ms} ms after its tenure {start.tenure} ended",
                disown,
                start,
            )

    def _check_untold(self, work: Work, queue: str, start: Event) -> None:
        own = work.own
        if own is None:
            return
        if own.node in self._environment.up or start.time_ms - own.time_ms > self._trust_ms:
            self.report(f"{start.client} begins a call on {queue} and was never granted its lock", own, start)
        else:
            self.explain("the grant may be older than the observation")

    def _check_answer(self, work: Work, answer: Event, queue: str, start: Event) -> None:
        age_ms = start.time_ms - answer.time_ms
        limit_ms = self._trust_ms if answer.outcome is Outcome.OK else self._delay_ms
        unlock = self._unlocks.get(work.post)
        if age_ms > limit_ms:
            if not self._is_after_pause(work.post, start, answer.sequence):
                told = "granted" if answer.outcome is Outcome.OK else "refused"
                self.report(
                    f"{start.client} begins a call on {queue} {age_ms} ms after it was {told} the lock",
                    answer,
                    start,
                )
        elif unlock is not None and unlock.sequence > answer.sequence:
            if is_late_unlock(work, unlock, self._unlock_limit_ms):
                self.explain(LATE_UNLOCK)
            elif is_shutdown_race(self.terms, unlock, start):
                self.explain(SHUTDOWN_RACE)
            else:
                self.report(
                    f"{start.client} begins a call on {queue} after it unlocked it", answer, unlock, start
                )


class StartExclusive(StartMonitor):
    """LCK-3: nobody begins a call while the broker counts the queue as another's."""

    rule: ClassVar = Rule(
        "LCK-3",
        "guarantee.lck.start-exclusive",
        frozenset({Kind.START, Kind.OWN, Kind.LOCK, Kind.UNLOCK, Kind.UP, Kind.DOWN, Kind.FAULT}),
        assumes=frozenset({"A1", "A4"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._leases = folds.get(Leases)
        self._starts: dict[Post, tuple[Event, Event | None]] = {}
        """The client's last call on the queue, and its last one seen at another process."""
        constants = terms.constants
        self._is_promised = self._trust_ms + constants.request_limit_ms < constants.lock_lease_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.START: self.on_start, Kind.DOWN: self.on_down}

    def on_down(self, event: Event) -> None:
        """A process that stopped shares its client id with nobody."""
        for post, (latest, other) in list(self._starts.items()):
            if latest.node == event.node or (other is not None and other.node == event.node):
                del self._starts[post]

    def on_start(self, event: Event) -> None:
        """The call that begins must not be under another's lease."""
        call = self._calls.began
        if call is None:
            return
        work = call.work
        lock = self._leases.locks.get(work.place)
        if lock is None or lock.lease is None:
            return
        if not self._is_promised:
            self.explain("the lease is not longer than trust, request and delay together")
            return
        self.exercised += 1
        lease = lock.lease
        if lease.client == event.client:
            self._check_process(work, event)
            return
        loss, lost = lock.losses.get(event.client, (None, None))
        if loss is Loss.RESTART:
            self.explain("the master restarted or changed after the client's grant")
        elif loss is None and event.node not in self._environment.up:
            self.explain("the client's grant may be older than the observation")
        elif loss is Loss.UNLOCKED and lost and is_late_unlock(work, lost, self._unlock_limit_ms):
            self.explain(LATE_UNLOCK)
        elif loss is Loss.UNLOCKED and lost and is_shutdown_race(self.terms, lost, event):
            self.explain(SHUTDOWN_RACE)
        elif not self._is_after_pause(work.post, event, lost.sequence if lost else 0):
            self.report(
                f"{event.client} begins a call on {event.topic} {queue_name(event.broker, event.queue)} "
                f"while {lease.client} holds its lock",
                *((lost,) if lost is not None and lost is not lease.since else ()),
                lease.renewed,
                event,
            )

    def _check_process(self, work: Work, event: Event) -> None:
        latest, other = self._starts.get(work.post, (event, None))
        if latest.node == event.node:
            self._starts[work.post] = (event, other)
        elif other is not None and other.node == event.node:
            self._starts[work.post] = (event, latest)
            self.report(
                f"two processes, {latest.node} and {event.node}, begin calls on {event.topic} "
                f"{queue_name(event.broker, event.queue)} as {event.client}; the lock cannot tell them apart",
                other,
                latest,
                event,
            )
        else:
            self._starts[work.post] = (event, latest)
