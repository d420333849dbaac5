"""OFF-4: a commit that falls has a reason.

"The committed offset never decreases" is false without any fault: a new owner reads 900, commits
902, then the old owner's last store of 1000 arrives, then the new owner commits 903. So a decrease
is legal, but only for one of a few reasons, and each one is attributed to exactly one of them:

- a reset, by an administrator;
- an offset correction, after the master answered that the offset does not exist;
- a restart or fail-over, if the value is one the broker held within the flush interval (and the
  slave's copying interval) before the stop;
- two tenures: the values come from different ones, and the later one was started where the broker
  told it to and is live or has only just ended;
- two carriers of one tenure (a pull and a periodic store) that overtook each other.

A deletion of group or topic ends the comparison. What is left is a defect, even if nothing is lost:
-1 taken for an offset, an overflow corrected to the beginning, a returning master's old table.

Events: `own`, `disown`, `pulled`, `commit` with client and tenure. A decrease whose commits name no
client cannot be attributed; the verdict is then unknown.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.dialects.hole import Hole
from spec.guarantees.fold.calm import Calm
from spec.guarantees.fold.commit import Commits, LedgerKey
from spec.guarantees.fold.custody import Custody, HolderKey
from spec.guarantees.fold.log import MASTER
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import CommitCause
from spec.history.event import ABSENT, Event
from spec.history.kind import Kind
from spec.override import override

RESET: Final = "reset"
CORRECTION: Final = "offset correction"
RESTART: Final = "restart or fail-over"
OTHER_TENURE: Final = "different tenures"
OTHER_CARRIER: Final = "two requests of one tenure overtook each other"


class DecreaseAttributed(Monitor):
    """OFF-4: every decrease of a commit has exactly one of the legal causes.

    Clause: guarantee.off.attributed-decrease
    """

    rule: ClassVar = Rule(
        "OFF-4",
        "guarantee.off.attributed-decrease",
        frozenset({Kind.OWN, Kind.DISOWN, Kind.PULLED, Kind.COMMIT, Kind.UP, Kind.DOWN}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calm = folds.get(Calm)
        self._custody = folds.get(Custody)
        self._commits = folds.get(Commits)
        self._moved: dict[LedgerKey, Event] = {}
        """Group and queue to the last answer that moved an offset."""
        self._ends: dict[tuple[str, str, int], int] = {}
        """Queue to its end at the last recovery: it has not become shorter since."""
        self._answers: dict[HolderKey, Event] = {}
        self._misled: dict[HolderKey, Event] = {}
        """Holder to its `own`, if that did not start where the broker told it to."""
        self._late_ms = self._commits.late_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.QUERIED: self.on_queried,
            Kind.OWN: self.on_own,
            Kind.PULLED: self.on_pulled,
            Kind.RANGE: self.on_range,
            Kind.COMMIT: self.on_commit,
        }

    def on_queried(self, event: Event) -> None:
        """Remember what the tenure to come was told."""
        self._answers[event.client, event.group, event.topic, event.broker, event.queue] = event

    def on_own(self, event: Event) -> None:
        """A tenure that starts elsewhere than it was told explains no decrease."""
        key = (event.client, event.group, event.topic, event.broker, event.queue)
        self._misled.pop(key, None)
        answer = self._answers.get(key)
        if answer is None or answer.tenure != event.tenure:
            return
        is_hole = answer.status == "error" and Hole.K1 in self.terms.holes
        is_told = answer.status == "none" or (answer.status == "value" and answer.offset == event.offset)
        if not (is_told or is_hole):
            self._misled[key] = event

    def on_pulled(self, event: Event) -> None:
        """Remember corrections."""
        if event.status == "moved":
            self._moved[event.group, event.topic, event.broker, event.queue] = event

    def on_range(self, event: Event) -> None:
        """Remember where the queue ends."""
        if event.replica in MASTER:
            self._ends[event.queue_key] = event.next

    def on_commit(self, event: Event) -> None:
        """A lower value needs a cause."""
        before = self._commits.previous
        if before is None:
            return
        self.exercised += 1
        if event.offset >= before.offset:
            return
        cause, evidence = self._attribute(before, event)
        if cause:
            self.explain(cause)
        elif not (event.client and before.client) and event.cause != CommitCause.REPLICATION:
            self.doubt = "a commit fell and does not name its client"
        else:
            self.report(
                f"the commit of {event.group} on {event.topic} {event.broker}:{event.queue} falls "
                f"from {before.offset} to {event.offset} for no legal reason",
                before,
                *evidence,
                event,
            )

    def _attribute(self, before: Event, event: Event) -> tuple[str, tuple[Event, ...]]:
        """The cause, or an empty word and the events that should have explained it."""
        key = (event.group, event.topic, event.broker, event.queue)
        reset = self._commits.resets.get(key)
        if event.cause == CommitCause.RESET or (
            reset is not None and (reset.sequence > before.sequence or reset.offset == event.offset)
        ):
            return RESET, ()
        moved = self._moved.get(key)
        is_correction = event.cause == CommitCause.CORRECTION
        if is_correction or (moved is not None and moved.next == event.offset):
            legal = moved is None or self._is_legal_correction(moved)
            return (CORRECTION, ()) if legal else ("", (moved,) if moved is not None else ())
        committed = self._commits.table[key]
        if self._commits.is_after_restart(committed, before, event):
            return RESTART, ()
        if self._is_racing_first(key, event):
            return "K2: racing first commits overwrote each other", ()
        return self._attribute_to_tenures(before, event)

    def _is_legal_correction(self, moved: Event) -> bool:
        """Whether a master sent it, and not back behind an end that it is known to have."""
        end = self._ends.get(moved.queue_key, 0)
        return moved.replica in MASTER and (moved.next >= moved.offset or moved.next >= end)

    def _is_racing_first(self, key: LedgerKey, event: Event) -> bool:
        first = self._commits.table[key].first
        return Hole.K2 in self.terms.holes and event.time_ms - first.time_ms <= self._late_ms

    def _attribute_to_tenures(self, before: Event, event: Event) -> tuple[str, tuple[Event, ...]]:
        if not event.client or not before.client:
            return "", ()
        key = (event.client, event.group, event.topic, event.broker, event.queue)
        start = self._find_start(key, event)
        if start is not None and event.offset < start.offset:
            return "", (start,)
        if self._is_other_tenure(before, event, key):
            misled = self._misled.get(key)
            if misled is not None and event.tenure in (ABSENT, misled.tenure):
                return "", (misled,)
            return (OTHER_TENURE, ()) if self._is_due(key, event) else ("", ())
        return (OTHER_CARRIER if self._may_overtake(before, event) else "", ())

    def _may_overtake(self, before: Event, event: Event) -> bool:
        """Whether the two were under way at once; a fault holds a request up, a restart loses it."""
        if event.time_ms - before.time_ms <= self._late_ms:
            return True
        is_faultless = self._calm.is_faultless_since(before.time_ms - self._late_ms)
        return not is_faultless and self._commits.stop_after(before) is None

    def _find_start(self, key: HolderKey, event: Event) -> Event | None:
        """Where the tenure that commits began: no position of it lies below."""
        holding = self._custody.held.get(key)
        if holding is None or event.tenure not in (ABSENT, holding.tenure) or holding.ended is not None:
            return None
        if self._commits.may_be_older(event, holding.own.node):
            return None
        answer = self._answers.get(key)
        is_again = answer is not None and answer.sequence > holding.own.sequence
        return None if is_again or (event.tenure == ABSENT and holding.tenure > 1) else holding.own

    def _is_other_tenure(self, before: Event, event: Event, key: HolderKey) -> bool:
        if before.client != event.client:
            return True
        holding = self._custody.held.get(key)
        if holding is not None and self._commits.has_stopped(
            holding.own.node, before.time_ms - self._late_ms
        ):
            return True
        if ABSENT not in (before.tenure, event.tenure):
            return before.tenure != event.tenure
        return holding is not None and holding.own.time_ms >= before.time_ms - self._late_ms

    def _is_due(self, key: HolderKey, event: Event) -> bool:
        """Whether the tenure that the value comes from is live, has only just ended, or is unknown."""
        holding = self._custody.held.get(key)
        if holding is None or event.tenure > holding.tenure:
            return True
        end = holding.ended
        if event.tenure not in (ABSENT, holding.tenure):
            end = holding.own
        return (
            end is None
            or event.time_ms - end.time_ms <= self._late_ms
            or not self._calm.is_faultless_since(end.time_ms - self._late_ms)
        )
