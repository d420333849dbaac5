"""TXN: what becomes of half messages.

"Every transaction is resolved" is false: a producer may be gone for good. What holds is that no
half message is forgotten: it is resolved, or it will be checked again, or it visibly exceeded its
limits, and the cursor of the checks passes it only then (TXN-1). And once a resolution is on
record, no later round asks about it (TXN-2).

Events: `half`, `resolve`, `round`, `check`, `requeue`, `exceed`, `half-cursor`. A half message
that is appended again keeps its identity and changes its offset.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.dialects.hole import Hole
from spec.guarantees.fold.calm import DISTURBANCES, Calm
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import ExceedCause
from spec.history.event import Event, Outcome
from spec.history.kind import Kind
from spec.override import override

Half = tuple[str, str]
"""Broker and message."""

PATIENCE_ROUNDS: Final = 3
"""Rounds that may go by without a check: one may be cut short, one may find the message too young."""


class NoHalfForgotten(Monitor):
    """TXN-1: a half message is resolved, checked again, or visibly given up."""

    rule: ClassVar = Rule(
        "TXN-1",
        "guarantee.txn.no-half-forgotten",
        frozenset(
            {Kind.HALF, Kind.RESOLVE, Kind.CHECK, Kind.REQUEUE, Kind.EXCEED, Kind.HALF_CURSOR, Kind.ROUND}
        )
        | DISTURBANCES,
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calm = folds.get(Calm)
        self._open: dict[str, dict[str, Event]] = {}
        """Broker to its open half messages, each with its newest `half`, `check` or `requeue`."""
        self._offsets: dict[Half, int] = {}
        self._asked: dict[Half, int] = {}
        """How often a producer was really asked."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.HALF: self.on_half,
            Kind.RESOLVE: self.on_resolve,
            Kind.CHECK: self.on_check,
            Kind.REQUEUE: self.on_requeue,
            Kind.EXCEED: self.on_exceed,
            Kind.HALF_CURSOR: self.on_half_cursor,
            Kind.ROUND: self.on_round,
        }

    def on_half(self, event: Event) -> None:
        """The message is open."""
        self._touch(event, event.offset)

    def on_requeue(self, event: Event) -> None:
        """The message is open at its new place."""
        if (event.broker, event.message) in self._offsets:
            self._touch(event, event.next)

    def on_check(self, event: Event) -> None:
        """A producer was asked, if the request really left."""
        half = (event.broker, event.message)
        if half in self._offsets:
            self._touch(event, self._offsets[half])
            self._asked[half] = self._asked.get(half, 0) + (event.outcome is not Outcome.FAIL)

    def _touch(self, event: Event, offset: int) -> None:
        self._open.setdefault(event.broker, {})[event.message] = event
        self._offsets[event.broker, event.message] = offset

    def on_resolve(self, event: Event) -> None:
        """The message is settled."""
        self.exercised += 1
        self._close(event)

    def on_exceed(self, event: Event) -> None:
        """The message was given up; if for too many checks, they must have been sent."""
        asked = self._asked.get((event.broker, event.message), 0)
        if (event.broker, event.message) in self._offsets:
            self.exercised += 1
            if event.cause == ExceedCause.CHECKS and asked < self.terms.constants.half_check_limit:
                self.report(f"{event.message} was given up after {asked} checks that left the broker", event)
        self._close(event)

    def _close(self, event: Event) -> None:
        self._open.get(event.broker, {}).pop(event.message, None)
        self._offsets.pop((event.broker, event.message), None)
        self._asked.pop((event.broker, event.message), None)

    def on_half_cursor(self, event: Event) -> None:
        """The cursor passes only what is settled or stands further on."""
        self.exercised += 1
        for message, last in list(self._open.get(event.broker, {}).items()):
            offset = self._offsets[event.broker, message]
            if offset < event.offset:
                self.report(f"the cursor passed {message} at {offset}, which is still open", last, event)
                self._close(last)

    def on_round(self, event: Event) -> None:
        """Every open message is asked about once in a few rounds."""
        self._check_open(event.broker, event.time_ms, event)

    @override
    def finish(self, now_ms: int) -> None:
        for broker in self._open:
            self._check_open(broker, now_ms)

    def _check_open(self, broker: str, now_ms: int, *seen: Event) -> None:
        patience_ms = PATIENCE_ROUNDS * self.terms.constants.half_check_ms
        for message, last in list(self._open.get(broker, {}).items()):
            if self._calm.length_ms(last.time_ms, now_ms) <= patience_ms:
                continue
            if Hole.K10 in self.terms.holes:
                self.explain("an exception stopped the cursor of the checks (K10)")
            else:
                self.report(f"{message} has been open for {patience_ms} ms without a check", last, *seen)
            self._close(last)


class NoCheckAfterResolution(Monitor):
    """TXN-2: nobody is asked about a message whose resolution precedes the round."""

    rule: ClassVar = Rule(
        "TXN-2", "guarantee.txn.no-check-after-resolution", frozenset({Kind.RESOLVE, Kind.ROUND, Kind.CHECK})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._resolved: dict[str, dict[str, Event]] = {}
        """Broker to the resolutions that precede its current round, by message."""
        self._fresh: dict[str, dict[str, Event]] = {}
        """Broker to the resolutions made during its current round."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.RESOLVE: self.on_resolve,
            Kind.ROUND: self.on_round,
            Kind.CHECK: self.on_check,
            Kind.HALF_CURSOR: self.on_half_cursor,
            Kind.RECOVER: self.on_recover,
        }

    def on_recover(self, event: Event) -> None:
        """Without synchronous durability a crash may take resolutions back."""
        if self.terms.durability != "sync":
            self._resolved.pop(event.broker, None)
            self._fresh.pop(event.broker, None)

    def on_resolve(self, event: Event) -> None:
        """The next round knows about it; the current one may not."""
        self._fresh.setdefault(event.broker, {})[event.message] = event

    def on_round(self, event: Event) -> None:
        """All resolutions so far precede this round."""
        self._resolved.setdefault(event.broker, {}).update(self._fresh.pop(event.broker, {}))

    def on_check(self, event: Event) -> None:
        """The message must not be resolved already."""
        self.exercised += 1
        resolution = self._resolved.get(event.broker, {}).get(event.message)
        if resolution is not None:
            self.report(f"{event.message} was checked after its {resolution.status}", resolution, event)

    def on_half_cursor(self, event: Event) -> None:
        """What the cursor has passed is not looked at again."""
        resolved = self._resolved.get(event.broker, {})
        for message in [
            message for message, resolution in resolved.items() if resolution.offset < event.offset
        ]:
            del resolved[message]
