"""LCK-4: when two ordered calls on one queue may overlap.

Users expect that they never do. The promise has four provisos, and each of them is a way in
which real systems lose it: (i) during a call the client renews its lease in time; (ii) it is
neither reset nor stopped while the call runs, or stopping waits for the call; (iii) the master
neither restarts nor changes; (iv) client ids are unique. Every overlap is put down to the proviso
that failed; one with all provisos intact is a breach.

The second half of (ii) is a promise of its own: a client that is shut down drains its calls
before it unlocks. An overlap after an early unlock is therefore a breach too, unless the dialect
admits that shutdown does not wait (K9). Calls of one process never overlap, without provisos.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.dialects.hole import Hole
from spec.guarantees.fold.call import Call, Calls, Place
from spec.guarantees.fold.environment import Environment
from spec.guarantees.fold.lease import Leases, Lock, Loss
from spec.guarantees.lock_start import derive_unlock_limit_ms, is_late_unlock, is_shutdown_race
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import DisownCause
from spec.history.event import Event, queue_name
from spec.history.kind import Kind
from spec.override import override

RENEWAL = "(i) the lease ran out during a call"
RESET = "(ii) the queue was reset during a call"
SHUTDOWN = "(ii) the client was shut down during a call"
LATE = "(ii) an unlock sent for an earlier tenure arrived during a call"
MASTER = "(iii) the master restarted or changed"
IDENTITY = "(iv) two processes share a client id"
IN_ORDER = ""
BREACH = "no proviso failed"


class ExecutionExclusive(Monitor):
    """LCK-4: ordered calls on a queue do not overlap, unless a named proviso failed."""

    rule: ClassVar = Rule(
        "LCK-4",
        "guarantee.lck.execution-exclusive",
        frozenset(
            {
                Kind.START,
                Kind.END,
                Kind.OWN,
                Kind.LOCK,
                Kind.UNLOCK,
                Kind.RESET,
                Kind.UP,
                Kind.DOWN,
                Kind.FAULT,
            }
        ),
        assumes=frozenset({"A1", "A4"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calls = folds.get(Calls)
        self._leases = folds.get(Leases)
        self._environment = folds.get(Environment)
        self._resets: dict[Place, Event] = {}
        self._unlock_limit_ms = derive_unlock_limit_ms(terms.constants)

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.START: self.on_start, Kind.RESET: self.on_reset}

    def on_reset(self, event: Event) -> None:
        """Calls that are running now may be overtaken."""
        self._resets[event.group, event.topic, event.broker, event.queue] = event

    def on_start(self, _event: Event) -> None:
        """A call that begins meets no other, or the proviso that failed is found."""
        call = self._calls.began
        if call is None:
            return
        self.exercised += 1
        running = call.work.group.calls
        if len(running) > 1:
            for other in list(running.values()):
                if other is not call:
                    self._check(other, call)

    def _check(self, running: Call, beginning: Call) -> None:
        first, second = running.start, beginning.start
        queue = f"{second.topic} {queue_name(second.broker, second.queue)}"
        if first.client == second.client:
            if first.node == second.node:
                self.report(f"{first.client} runs two calls on {queue} at once", first, second)
            else:
                self.explain(IDENTITY)
            return
        lock = self._leases.locks.get(beginning.work.place)
        if lock is None:
            self._check_unlocked(first, second, queue)
            return
        causes = (self._find_cause(running, lock), self._find_cause(beginning, lock))
        if BREACH in causes:
            evidence = self._find_evidence(lock, first, second)
            self.report(
                f"{first.client} and {second.client} both run calls on {queue}; no proviso failed",
                *sorted({first, second, *evidence}, key=lambda event: event.sequence),
            )
        else:
            self.explain(next((cause for cause in causes if cause is not IN_ORDER), RENEWAL))

    def _check_unlocked(self, first: Event, second: Event, queue: str) -> None:
        if first.node in self._environment.up and second.node in self._environment.up:
            self.report(
                f"{first.client} and {second.client} both run calls on {queue}, which nobody locked",
                first,
                second,
            )
        else:
            self.doubt = "locks may be older than the observation"

    def _find_evidence(self, lock: Lock, first: Event, second: Event) -> list[Event]:
        lost = [lock.losses[event.client][1] for event in (first, second) if event.client in lock.losses]
        return [*lost, *([lock.lease.since] if lock.lease is not None else [])]

    def _find_cause(self, call: Call, lock: Lock) -> str:
        """Why the client runs a call: it holds the lock, a proviso failed, or there is no excuse."""
        start = call.start
        if lock.lease is not None and lock.lease.client == start.client:
            return IN_ORDER
        loss, lost = lock.losses.get(start.client, (None, None))
        if loss is None or lost is None:
            is_older = lock.lease is None or start.sequence < lock.lease.since.sequence
            return RENEWAL if is_older and start.node not in self._environment.up else BREACH
        match loss:
            case Loss.RESTART:
                return MASTER
            case Loss.EXPIRED:
                return RENEWAL if self._had_begun(start, lost) else BREACH
            case Loss.UNLOCKED:
                return self._excuse_unlock(call, lost)
            case Loss.TAKEN:
                return BREACH

    def _had_begun(self, start: Event, lost: Event) -> bool:
        """Whether the call began, or had been decided on before a pause, when the lease ran out."""
        pause = self._environment.paused.get(start.node)
        return start.sequence < lost.sequence or (pause is not None and pause.sequence > lost.sequence)

    def _excuse_unlock(self, call: Call, unlock: Event) -> str:
        work, start = call.work, call.start
        reset = self._resets.get(work.place)
        if reset is not None and reset.sequence > start.sequence:
            return RESET
        if is_late_unlock(work, unlock, self._unlock_limit_ms):
            return LATE
        is_stopping = work.disown is None or work.disown.cause == DisownCause.SHUTDOWN
        had_begun = start.sequence < unlock.sequence or is_shutdown_race(self.terms, unlock, start)
        if is_stopping and had_begun and Hole.K9 in self.terms.holes:
            return SHUTDOWN
        return BREACH
