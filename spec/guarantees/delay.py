"""DLY: when delayed messages come out.

"A delayed message is delivered at its time" is false: a level is first in, first out, a broker
may be down at the time, and a cursor flushed every ten seconds repeats deliveries after a crash.
What holds: never early (DLY-1); the level's cursor is a commit, everything below it was delivered
or put aside, and after a restart it is not older than its flush interval (DLY-2); and one message
that cannot be stored does not stop its level for good (DLY-3).

Events: `append` to the schedule topic (queue is level minus one), `deliver`, `divert`, `cursor`.
"""

from collections import deque
from collections.abc import Mapping
from typing import ClassVar

from spec.guarantees.fold.calm import DISTURBANCES, Calm
from spec.guarantees.fold.delay import Delays, Level
from spec.guarantees.fold.offset_set import OffsetSet
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import ABSENT, Event, Outcome
from spec.history.kind import Kind
from spec.override import override
from spec.values.name import SCHEDULE_TOPIC


class NeverEarly(Monitor):
    """DLY-1: a delayed message is stored to its target not before it is due."""

    rule: ClassVar = Rule("DLY-1", "guarantee.dly.never-early", frozenset({Kind.DELIVER}))

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._delays = folds.get(Delays)
        self._clock: dict[str, int] = {}
        """Node to the latest time it showed: a clock set back makes due times lie too far ahead."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.DELIVER: self.on_deliver, Kind.APPEND: self.on_append}

    def on_append(self, event: Event) -> None:
        """The node's clock showed this time when it stored something."""
        if event.topic == SCHEDULE_TOPIC:
            self._clock[event.node] = max(self._clock.get(event.node, 0), event.time_ms)

    def on_deliver(self, event: Event) -> None:
        """The broker's clock must have reached the due time."""
        if event.outcome is not Outcome.OK:
            return
        self.exercised += 1
        stored = self._delays.stored
        if stored is not None and stored.due_ms not in (ABSENT, event.due_ms):
            self.report(
                f"level {event.level} offset {event.offset} was stored as due at {stored.due_ms} ms and "
                f"comes out as due at {event.due_ms} ms",
                stored,
                event,
            )
            return
        if event.time_ms >= event.due_ms:
            return
        if event.time_ms < self._clock.get(event.node, 0):
            self.explain("the broker's clock was set back after the message was stored")
        else:
            early_ms = event.due_ms - event.time_ms
            self.report(f"level {event.level} offset {event.offset} came out {early_ms} ms early", event)


class CursorIsCommit(Monitor):
    """DLY-2: a level's cursor passes only what was delivered, and comes back recent."""

    rule: ClassVar = Rule(
        "DLY-2", "guarantee.dly.cursor-is-commit", frozenset({Kind.DELIVER, Kind.CURSOR, Kind.RETAIN})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._delays = folds.get(Delays)
        self._settled: dict[Level, OffsetSet] = {}
        """What was delivered or put aside, from the first offset that was seen on."""
        self._base: dict[Level, int] = {}
        self._moves: dict[Level, deque[Event]] = {}
        """The cursor's recent values at the master: enough to know how old a loaded one is."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.DELIVER: self.on_deliver, Kind.DIVERT: self.on_settled, Kind.CURSOR: self.on_cursor}

    def on_deliver(self, event: Event) -> None:
        """A successful delivery settles the offset."""
        if event.outcome is Outcome.OK:
            self.on_settled(event)
        else:
            self._base.setdefault((event.broker, event.level), event.offset)

    def on_settled(self, event: Event) -> None:
        """The cursor may pass the offset from now on."""
        level = (event.broker, event.level)
        self._base.setdefault(level, event.offset)
        self._settled.setdefault(level, OffsetSet()).add(event.offset)

    def on_cursor(self, event: Event) -> None:
        """Judge the value by how it came about."""
        level = (event.broker, event.level)
        base = self._base.setdefault(level, event.offset)
        self.exercised += 1
        if event.status in {"loaded", "copied"}:
            self._check_age(event, level)
        settled = self._settled.setdefault(level, OffsetSet())
        open_offset = settled.lowest_missing(max(base, self._delays.removed.get(level, 0)))
        if event.offset > open_offset:
            self.report(
                f"the cursor of level {event.level} is {event.offset}; {open_offset} was not delivered", event
            )
        elif event.status == "moved":
            self._remember(event, level)

    def _remember(self, event: Event, level: Level) -> None:
        moves = self._moves.setdefault(level, deque())
        moves.append(event)
        horizon_ms = self.terms.constants.cursor_flush_ms + self.terms.constants.replica_copy_ms
        while len(moves) > 1 and moves[1].time_ms < event.time_ms - 2 * horizon_ms:
            moves.popleft()

    def _check_age(self, event: Event, level: Level) -> None:
        moves = self._moves.get(level)
        if not moves:
            return
        constants = self.terms.constants
        allowed_ms = constants.cursor_flush_ms + constants.request_limit_ms
        if event.status == "copied" or event.node != moves[-1].node:
            allowed_ms += constants.replica_copy_ms + constants.clock_skew_ms
        limit_ms = (event.time_ms if event.status == "copied" else moves[-1].time_ms) - allowed_ms
        due = [move for move in moves if move.time_ms <= limit_ms]
        if due and event.offset < due[-1].offset:
            summary = (
                f"the cursor of level {event.level} came back as {event.offset}, older than {due[-1].offset}"
            )
            self.report(summary, due[-1], event)


class NoLevelStuck(Monitor):
    """DLY-3: one undeliverable message does not stop its level for good."""

    rule: ClassVar = Rule(
        "DLY-3",
        "guarantee.dly.no-level-stuck",
        frozenset({Kind.APPEND, Kind.DELIVER, Kind.DIVERT}) | DISTURBANCES,
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calm = folds.get(Calm)
        self._delays = folds.get(Delays)
        self._reported: set[Level] = set()

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.DELIVER: self.on_deliver, Kind.DIVERT: self.on_out}

    def on_deliver(self, event: Event) -> None:
        """Delivered means out; a failed try is a moment to look at the clock."""
        if event.outcome is Outcome.OK:
            self.on_out(event)
        else:
            self._check((event.broker, event.level), event.time_ms)

    def on_out(self, event: Event) -> None:
        """Those behind the message can move."""
        self.exercised += 1
        self._reported.discard((event.broker, event.level))

    @override
    def finish(self, now_ms: int) -> None:
        for level in self._delays.waiting:
            self._check(level, now_ms)

    def _check(self, level: Level, now_ms: int) -> None:
        head = next(iter(self._delays.waiting.get(level, {}).values()), None)
        if head is None or level in self._reported or head.due_ms == ABSENT:
            return
        overdue_ms = self._calm.length_ms(head.due_ms, now_ms)
        if overdue_ms > self.terms.constants.delay_bound_ms:
            self._reported.add(level)
            self.report(f"level {level[1]} stands at offset {head.offset}, {overdue_ms} ms overdue", head)
