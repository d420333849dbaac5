"""OFF-5: what is finished gets committed.

Safety alone is kept by never committing. What holds in a calm interval: once everything below v is
finished in a live tenure, the broker holds at least v within one persist period and one request.
Messages that nobody wants count as finished too, but their client learns so only from an empty
answer, so over a filtered tail the limit is longer by one held pull.

In ordered mode the listener may put the commit off, so there the tenure's own position is what must
reach the broker. A client's first persist comes one period later than the others. Events: `own`,
`disown`, `pulled`, `end`, `back`, `local`, `commit`, and whatever disturbs.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.guarantees.fold.calm import Calm
from spec.guarantees.fold.commit import LedgerKey
from spec.guarantees.fold.custody import BROADCAST, Custody, Holding
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override


class _Debt:
    """A value that the broker must hold, since when, and within what time."""

    __slots__ = ("limit_ms", "since", "since_ms", "value")

    def __init__(self, value: int, since: Event, since_ms: int, limit_ms: int) -> None:
        self.value = value
        self.since = since
        self.since_ms = since_ms
        self.limit_ms = limit_ms


class FinishedIsCommitted(Monitor):
    """OFF-5: the broker's value follows what a live tenure has finished.

    Clause: guarantee.off.progress
    """

    rule: ClassVar = Rule(
        "OFF-5",
        "guarantee.off.progress",
        frozenset(
            {Kind.OWN, Kind.DISOWN, Kind.PULLED, Kind.END, Kind.BACK, Kind.LOCAL, Kind.COMMIT}
            | {Kind.UP, Kind.DOWN, Kind.FAULT, Kind.RPC}
        ),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calm = folds.get(Calm)
        self._custody = folds.get(Custody)
        self._reached: dict[LedgerKey, int] = {}
        """Group and queue to the highest value that the broker has held since the last reset."""
        self._debts: dict[Holding, _Debt] = {}
        self._debtors: dict[LedgerKey, dict[str, Holding]] = {}
        """Group and queue to those who owe a commit there, by client."""
        constants = terms.constants
        self._persist_ms = constants.offset_persist_ms
        self._short_ms = constants.offset_persist_ms + constants.request_limit_ms + constants.clock_skew_ms
        self._long_ms = self._short_ms + constants.hold_limit_ms + constants.hold_sweep_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.PULLED: self.on_pulled,
            Kind.END: self.on_done,
            Kind.BACK: self.on_done,
            Kind.LOCAL: self.on_local,
            Kind.COMMIT: self.on_commit,
            Kind.RESET: self.on_reset,
            Kind.DELETE: self.on_delete,
        }

    def on_own(self, event: Event) -> None:
        """The broker holds at least what the tenure was told; a new tenure owes nothing yet."""
        before = self._custody.before
        if before is not None:
            self._forgive(before)
        key = (event.group, event.topic, event.broker, event.queue)
        self._reached[key] = max(self._reached.get(key, event.offset), event.offset)

    def on_reset(self, event: Event) -> None:
        """Whatever was owed before the decision is void."""
        key = (event.group, event.topic, event.broker, event.queue)
        self._reached[key] = event.offset
        for holding in list(self._debtors.get(key, {}).values()):
            self._forgive(holding)

    def on_delete(self, event: Event) -> None:
        """A deleted group or topic is owed nothing."""
        place, name = (0, event.group) if event.status == "group" else (1, event.topic)
        for key in [key for key in self._reached if key[place] == name]:
            del self._reached[key]
            for holding in list(self._debtors.get(key, {}).values()):
                self._forgive(holding)

    def on_pulled(self, event: Event) -> None:
        """An answer without anything for this subscription may leave nothing unfinished."""
        holding = self._custody.current
        if holding is None or holding.ended is not None or event.offsets:
            return
        if holding.own.mode == "concurrent" and not self._is_owing(holding, event):
            self._owe(holding, holding.frontier, event, self._long_ms)

    def on_done(self, event: Event) -> None:
        """What is done up to the highest finished offset must be committed."""
        holding = self._custody.current
        if holding is None or holding.ended is not None or holding.own.mode != "concurrent":
            return
        if not self._is_owing(holding, event):
            self._owe(holding, min(holding.frontier, holding.highest_done + 1), event, self._short_ms)

    def on_local(self, event: Event) -> None:
        """A position that was stored locally must be committed."""
        holding = self._custody.current
        if holding is None or holding.ended is not None or holding.own.mode == BROADCAST:
            return
        if not self._is_owing(holding, event):
            self._owe(holding, event.offset, event, self._short_ms)

    def _is_owing(self, holding: Holding, event: Event) -> bool:
        debt = self._debts.get(holding)
        if debt is None:
            return False
        if event.time_ms - debt.since_ms > debt.limit_ms:
            self._check(holding, debt, event.time_ms)
        return True

    def _owe(self, holding: Holding, value: int, event: Event, limit_ms: int) -> None:
        key = (event.group, event.topic, event.broker, event.queue)
        if value > self._reached.get(key, holding.start):
            since_ms = max(event.time_ms, holding.own.time_ms + self._persist_ms)
            self._debts[holding] = _Debt(value, event, since_ms, limit_ms)
            self._debtors.setdefault(key, {})[event.client] = holding

    def _forgive(self, holding: Holding) -> None:
        own = holding.own
        self._debts.pop(holding, None)
        self._debtors.get((own.group, own.topic, own.broker, own.queue), {}).pop(own.client, None)

    def on_commit(self, event: Event) -> None:
        """Whoever commits that much pays the debt."""
        key = (event.group, event.topic, event.broker, event.queue)
        reached = self._reached.get(key)
        if reached is None:
            return
        if event.offset > reached:
            self._reached[key] = event.offset
        for holding in list(self._debtors.get(key, {}).values()):
            debt = self._debts[holding]
            self._check(holding, debt, event.time_ms)
            if event.offset >= debt.value:
                self._forgive(holding)
                self.exercised += 1

    @override
    def finish(self, now_ms: int) -> None:
        for holding, debt in list(self._debts.items()):
            self._check(holding, debt, now_ms)

    def _check(self, holding: Holding, debt: _Debt, now_ms: int) -> None:
        if holding.ended is not None:
            self._forgive(holding)
            return
        owed_ms = self._calm.length_ms(debt.since_ms, now_ms)
        if owed_ms <= debt.limit_ms:
            return
        own = holding.own
        self.report(
            f"{own.client} is done up to {debt.value} on {own.topic} {own.broker}:{own.queue}, "
            f"and {owed_ms} ms later {own.group} has not committed it",
            own,
            debt.since,
        )
        self._forgive(holding)
        self._reached[own.group, own.topic, own.broker, own.queue] = debt.value
