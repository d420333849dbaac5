"""What the broker holds for each group and queue, and what it held lately.

Every value applied at the broker is a `commit`. A restart may bring back an older one: the table
goes to disk every few seconds, and a slave copies it less often still. So the fold remembers, in
coarse steps, what was held within that window, and when each node last stopped.
"""

from collections import deque
from collections.abc import Mapping
from typing import Final

from spec.guarantees.fold.environment import Environment
from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.cause import CommitCause
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override

LedgerKey = tuple[str, str, str, int]
"""Group, topic, broker and queue number."""

COPIED: Final = CommitCause.REPLICATION
DECIDED: Final = CommitCause.RESET

STEPS: Final = 8
"""Into how many steps the flush interval is cut: a value counts as up to one step older than it is."""

STOP_MEMORY: Final = 64
"""How many stops of a node are remembered."""


class Committed:
    """The value of one group and queue."""

    __slots__ = ("count", "first", "lately", "latest")

    def __init__(self, event: Event) -> None:
        self.first = self.latest = event
        self.count = 1
        self.lately: deque[tuple[int, int]] = deque([(event.time_ms, event.offset)])
        """Time and value at the beginning of each step."""

    def value_at(self, time_ms: int) -> int | None:
        """A value held at that time or up to one step before it; None if that is too long ago."""
        found: int | None = None
        for since_ms, offset in self.lately:
            if since_ms > time_ms:
                break
            found = offset
        return found


class Commits(Fold):
    """The newest commit of each group and queue, the one before it, and recent stops."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.table: dict[LedgerKey, Committed] = {}
        self.previous: Event | None = None
        """What the current `commit` replaces."""
        self.resets: dict[LedgerKey, Event] = {}
        """The last reset of each; the commit that it led to, where resets themselves are not recorded."""
        self._sees_resets = Kind.RESET in terms.observes
        self.stops: dict[str, deque[Event]] = {}
        """Node to its stops: each a `down`, or the `up` after it if the stop itself was not seen."""
        self.stopped_at_ms: dict[str, int] = {}
        """Node to when it last stopped or started."""
        constants = terms.constants
        self.window_ms = constants.offset_flush_ms + constants.replica_copy_ms
        self.late_ms = constants.request_limit_ms + constants.scheduling_delay_ms + constants.clock_skew_ms
        """How long after it was sent a client's request may take effect, as two clocks see it."""
        self._environment = folds.get(Environment)
        self._begun_ms = 0
        self._step_ms = max(1, constants.offset_flush_ms // STEPS)

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.BEGIN: self.on_begin,
            Kind.COMMIT: self.on_commit,
            Kind.RESET: self.on_reset,
            Kind.DELETE: self.on_delete,
            Kind.DOWN: self.on_down,
            Kind.UP: self.on_up,
        }

    def on_begin(self, event: Event) -> None:
        """What was sent before this was not seen."""
        self._begun_ms = event.time_ms

    def on_commit(self, event: Event) -> None:
        """The broker holds this value now; a slave's copy of another node's value is not news."""
        key = (event.group, event.topic, event.broker, event.queue)
        committed = self.table.get(key)
        if event.cause == DECIDED and not self._sees_resets:
            self.resets[key] = event
        if event.cause == COPIED and (committed is None or committed.latest.node != event.node):
            self.previous = None
            return
        if committed is None:
            self.previous = None
            self.table[key] = Committed(event)
            return
        self.previous = committed.latest
        committed.latest = event
        committed.count += 1
        lately = committed.lately
        if event.time_ms - lately[-1][0] >= self._step_ms:
            lately.append((event.time_ms, event.offset))
            # Counted from the value before, because that is the one a stop may have undone.
            oldest_ms = self.previous.time_ms - self.window_ms - 2 * self._step_ms
            while len(lately) > 1 and lately[1][0] <= oldest_ms:
                lately.popleft()

    def on_reset(self, event: Event) -> None:
        """An administrator's decision is remembered for each queue."""
        self.resets[event.group, event.topic, event.broker, event.queue] = event

    def on_delete(self, event: Event) -> None:
        """What was committed for the deleted group or topic counts no more."""
        place, name = (0, event.group) if event.status == "group" else (1, event.topic)
        for key in [key for key in self.table if key[place] == name]:
            del self.table[key]

    def on_down(self, event: Event) -> None:
        """The node stops here."""
        self.stops.setdefault(event.node, deque(maxlen=STOP_MEMORY)).append(event)
        self.stopped_at_ms[event.node] = event.time_ms

    def on_up(self, event: Event) -> None:
        """The node had stopped before; if nobody saw it, this is the nearest known moment."""
        self.stopped_at_ms[event.node] = event.time_ms
        stops = self.stops.get(event.node)
        if not stops or stops[-1].kind is Kind.UP:
            self.on_down(event)

    def stop_after(self, event: Event) -> Event | None:
        """The first stop of the node that held the value, after it was applied."""
        stops = self.stops.get(event.node) or self.stops.get(event.broker)
        if not stops or stops[-1].sequence < event.sequence:
            return None
        return next(stop for stop in stops if stop.sequence > event.sequence)

    def may_be_older(self, commit: Event, node: str) -> bool:
        """Whether a process on the node that was never seen may have sent the commit."""
        if self.has_stopped(node, commit.time_ms - self.late_ms):
            return True
        return node not in self._environment.up and commit.time_ms - self._begun_ms <= self.late_ms

    def is_lost_by_restart(self, committed: Committed) -> bool:
        """Whether a restart may have brought back a time before the first commit."""
        stop = self.stop_after(committed.first)
        return stop is not None and committed.first.time_ms >= stop.time_ms - self.window_ms - self._step_ms

    def is_undone_by_restart(self, decision: Event) -> bool:
        """Whether the broker stopped so soon after the decision that it may not have been on disk."""
        stop = self.stop_after(decision)
        return stop is not None and stop.time_ms - decision.time_ms <= self.window_ms + self._step_ms

    def has_stopped(self, node: str, since_ms: int) -> bool:
        """Whether the node stopped or started at that time or later."""
        stopped_ms = self.stopped_at_ms.get(node)
        return stopped_ms is not None and stopped_ms >= since_ms

    def is_after_restart(self, committed: Committed, before: Event, event: Event) -> bool:
        """Whether a stop between the two explains that the later value is that old."""
        stop = self.stop_after(before)
        if stop is None:
            return False
        is_replica = before.node != event.node
        constants = self.terms.constants
        age_ms = self.window_ms + constants.clock_skew_ms if is_replica else constants.offset_flush_ms
        oldest_ms = (stop.time_ms if stop.kind is Kind.DOWN else before.time_ms) - age_ms
        # What a still earlier stop brought back may be what this one did not flush over.
        for earlier in reversed(self.stops.get(before.node) or self.stops.get(before.broker) or ()):
            if oldest_ms <= earlier.time_ms and earlier.sequence < stop.sequence:
                oldest_ms = min(oldest_ms, earlier.time_ms - age_ms)
        oldest = committed.value_at(oldest_ms)
        return oldest is None or event.offset >= oldest
