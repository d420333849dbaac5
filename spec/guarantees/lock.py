"""LCK: what the lock of an ordered queue promises.

"At most one ordered listener per queue runs in the group" is false. The lock is a lease without
a fencing token: a client that stands still for longer than the lease goes on with its call when
it wakes, beside the next holder's. It is kept in the memory of one master: after a restart the
table is empty, and clients trust what they were granted before. And a client that is shut down
without waiting unlocks while its listener runs.

What holds is told in five steps. Within one life of a master, a lock passes to another client
only after its holder unlocked or its lease ran out (LCK-1, here). A client begins a call only
while it trusts a grant, and trust is shorter than the lease (LCK-2, `lock_start`); hence nobody
begins a call under another's lease (LCK-3). Calls of different clients overlap only if the lease
ran out, the client was stopped, or the master changed meanwhile (LCK-4, `lock_execution`). And a
lock that is no longer needed is handed on in bounded time (LCK-5, `lock_handover`).

Events: `lock` and `unlock` are the broker's decisions, `locked` is what the client was told;
`start` and `end` with call numbers, `own` and `disown` with the mode; `up` and `down`. Only the
lease itself is measured with a clock, and only with the clock of the one who recorded both ends.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.guarantees.fold.lease import Leases
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import Event, Outcome, queue_name
from spec.history.kind import Kind
from spec.override import override


class LeaseRespected(Monitor):
    """LCK-1: another client is granted only what is free, unlocked or expired."""

    rule: ClassVar = Rule(
        "LCK-1", "guarantee.lck.lease-respected", frozenset({Kind.LOCK, Kind.UNLOCK, Kind.UP})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._leases = folds.get(Leases)
        self._lease_ms = terms.constants.lock_lease_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.LOCK: self.on_lock, Kind.UNLOCK: self.on_unlock}

    def on_lock(self, event: Event) -> None:
        """A grant must not find another's valid lease."""
        if event.outcome is not Outcome.OK:
            return
        self.exercised += 1
        before = self._leases.before
        if before is None or before.client == event.client:
            return
        held_ms = event.time_ms - before.renewed.time_ms
        if held_ms + self._leases.slack_ms(event) > self._lease_ms:
            self.explain("the holder's lease had run out")
            return
        queue = queue_name(event.broker, event.queue)
        self.report(
            f"{event.topic} {queue} was granted to {event.client} {held_ms} ms after {before.client}'s last "
            f"grant, which is good for {self._lease_ms} ms",
            before.renewed,
            event,
        )

    def on_unlock(self, event: Event) -> None:
        """Only the holder's unlock may take effect."""
        before = self._leases.before
        if before is None or before.client == event.client:
            return
        self.exercised += 1
        if event.outcome is Outcome.OK:
            queue = queue_name(event.broker, event.queue)
            self.report(
                f"{event.client} unlocked {event.topic} {queue}, which {before.client} holds",
                before.renewed,
                event,
            )
