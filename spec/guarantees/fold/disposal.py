"""Which messages a group is done with, queue by queue.

A message is disposed for a group when some member's listener succeeded, when its retry or
dead-letter copy was acknowledged, when the subscription did not want it, when the store no longer
has it, or when it lies below the group's base: the start of its first tenure, or the last reset.
The lowest offset from the base on that is not disposed bounds every commit.

What was done before the observation began is unknown. The base is therefore never taken lower
than what the first tenure seen was told, and a commit that comes from a tenure whose beginning was
not seen lifts the base instead of being judged by it.
"""

from collections.abc import Mapping
from typing import Final

from spec.dialects.hole import Hole
from spec.guarantees.fold.commit import Commits, LedgerKey
from spec.guarantees.fold.custody import BROADCAST, FINISHING, Custody, HolderKey, passed_over
from spec.guarantees.fold.log import MASTER
from spec.guarantees.fold.offset_set import OffsetSet
from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.cause import CommitCause, InitialCause
from spec.history.event import ABSENT, Event, Outcome
from spec.history.kind import Kind
from spec.override import override
from spec.values.name import RETRY_PREFIX

DECIDED: Final = frozenset({CommitCause.RESET, CommitCause.REPLICATION})
"""Carriers of a commit that no tenure answers for."""


class Ledger:
    """One group and queue: its base and what is disposed."""

    __slots__ = ("base", "disposed", "has_unseen", "is_broadcast", "open_resets", "since")

    def __init__(self, since: int) -> None:
        self.since = since
        """The sequence number from which on the ledger knows everything."""
        self.base: int | None = None
        self.disposed = OffsetSet()
        self.has_unseen = False
        """Whether a tenure whose beginning was not seen has been at work here."""
        self.is_broadcast = False
        self.open_resets = 0


class Disposal(Fold):
    """The ledgers of a run, and whether the current commit passes something."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.custody = folds.get(Custody)
        self.commits = folds.get(Commits)
        self.ledgers: dict[LedgerKey, Ledger] = {}
        self.answers: dict[HolderKey, Event] = {}
        """Holder to the last answer to its offset query."""
        self.removed: dict[tuple[str, str, int], int] = {}
        """Queue to the offset below which nothing is stored any more."""
        self.passed: int | None = None
        """The lowest offset that the current commit passes although it is not disposed."""
        self.is_judged = False
        """Whether the current commit was compared with what is disposed."""
        observes = terms.observes
        self._sees_resets = Kind.RESET in observes
        self._sees_deletions = Kind.DELETE in observes
        self._sees_decisions = observes >= {Kind.QUERIED, Kind.INITIAL}
        self._is_loose = terms.durability == "async" or Hole.K8 in terms.holes

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.QUERIED: self.on_queried,
            Kind.INITIAL: self.on_initial,
            Kind.OWN: self.on_own,
            Kind.PULLED: self.on_pulled,
            Kind.END: self.on_end,
            Kind.BACK: self.on_back,
            Kind.RETAIN: self.on_retain,
            Kind.RANGE: self.on_range,
            Kind.RESET: self.on_reset,
            Kind.DELETE: self.on_delete,
            Kind.COMMIT: self.on_commit,
        }

    def _ledger(self, event: Event) -> Ledger:
        key = (event.group, event.topic, event.broker, event.queue)
        ledger = self.ledgers.get(key)
        if ledger is None:
            ledger = self.ledgers[key] = Ledger(event.sequence)
        return ledger

    def on_queried(self, event: Event) -> None:
        """The answer decides whether an initial position is a decision."""
        self.answers[event.client, event.group, event.topic, event.broker, event.queue] = event

    def is_policy_due(self, event: Event) -> bool:
        """Whether the initial-position policy may decide: by all that is known, the group has no offset."""
        answer = self.answers.get((event.client, event.group, event.topic, event.broker, event.queue))
        if answer is None or answer.tenure != event.tenure:
            return True
        if answer.status == "error":
            return Hole.K1 in self.terms.holes and answer.outcome is not Outcome.UNKNOWN
        committed = self.commits.table.get((event.group, event.topic, event.broker, event.queue))
        return answer.status == "none" and (
            committed is None
            or not self._sees_deletions
            or self.commits.is_lost_by_restart(committed)
            or Hole.K2 in self.terms.holes
        )

    def on_initial(self, event: Event) -> None:
        """What lies below a position chosen by policy is skipped by decision; no retry copy ever is."""
        if self.is_policy_due(event):
            is_whole = event.topic.startswith(RETRY_PREFIX) and event.cause != InitialCause.TIMESTAMP
            ledger = self._ledger(event)
            ledger.base = max(ledger.base or 0, 0 if is_whole else event.offset)

    def on_own(self, event: Event) -> None:
        """The first tenure seen sets the base; so does a later one whose decision could not be seen."""
        ledger = self._ledger(event)
        ledger.is_broadcast = event.mode == BROADCAST
        if ledger.base is None or not self._sees_decisions:
            ledger.base = max(ledger.base or 0, event.offset)

    def on_pulled(self, event: Event) -> None:
        """What the answer passed over was filtered or is gone."""
        if self.custody.current is None:
            self._ledger(event).has_unseen = True
        if event.status == "error" or len(event.offsets) == event.next - event.offset:
            return
        disposed = self._ledger(event).disposed
        for start, end in passed_over(event):
            disposed.add_range(start, end)

    def on_end(self, event: Event) -> None:
        """A success disposes of the message, whoever had it; a broadcast failure drops it by design."""
        status = event.status
        ledger = self._ledger(event)
        if status in FINISHING or ledger.is_broadcast:
            ledger.disposed.add(event.offset)

    def on_back(self, event: Event) -> None:
        """An acknowledged copy disposes of the message; the copy is another one."""
        if event.outcome is Outcome.OK:
            self._ledger(event).disposed.add(event.offset)

    def on_retain(self, event: Event) -> None:
        """Nothing below is stored any more."""
        queue = event.queue_key
        self.removed[queue] = max(self.removed.get(queue, 0), event.offset)

    def on_range(self, event: Event) -> None:
        """The queue begins and ends here; offsets taken back will be given to other messages."""
        if event.replica not in MASTER:
            return
        self.on_retain(event)
        for key, ledger in self.ledgers.items():
            if key[1:] == (event.topic, event.broker, event.queue):
                ledger.disposed.cut(event.next)
                committed = self.commits.table.get(key)
                if self._is_loose and committed is not None and committed.latest.offset > event.next:
                    ledger.base = max(ledger.base or 0, committed.latest.offset)

    def on_reset(self, event: Event) -> None:
        """The reset is the base once it is done; until then nothing is judged."""
        ledger = self._ledger(event)
        if event.status == "begun":
            ledger.open_resets += 1
            return
        ledger.open_resets = max(0, ledger.open_resets - 1)
        ledger.base = event.offset

    def on_delete(self, event: Event) -> None:
        """A deleted group or topic begins anew, and nothing is known about it."""
        place, name = (0, event.group) if event.status == "group" else (1, event.topic)
        for key in [key for key in self.ledgers if key[place] == name]:
            self.ledgers[key] = ledger = Ledger(event.sequence)
            ledger.has_unseen = True

    def _is_unseen(self, event: Event, ledger: Ledger) -> bool:
        if not event.client:
            return ledger.has_unseen
        holding = self.custody.held.get((event.client, event.group, event.topic, event.broker, event.queue))
        if holding is None or holding.own.sequence < ledger.since:
            return True
        if self.commits.may_be_older(event, holding.own.node):
            return True
        if event.tenure != ABSENT:
            return event.tenure < holding.first_seen
        is_young = event.time_ms - holding.own.time_ms <= self.commits.late_ms
        return is_young and holding.first_seen == holding.tenure > 1

    def _is_reset_undone(self, event: Event) -> bool:
        """Whether a restart, or under K3 a tenure from before it, undid the reset that set the base."""
        reset = self.commits.resets.get((event.group, event.topic, event.broker, event.queue))
        if reset is None:
            return False
        if self.commits.is_undone_by_restart(reset):
            return True
        if Hole.K3 not in self.terms.holes:
            return False
        holding = self.custody.held.get((event.client, event.group, event.topic, event.broker, event.queue))
        return holding is None or event.tenure < holding.tenure or holding.own.sequence < reset.sequence

    def on_commit(self, event: Event) -> None:
        """Everything from the base up to the commit must be disposed."""
        self.passed = None
        self.is_judged = False
        ledger = self._ledger(event)
        value = event.offset
        base = ledger.base
        if base is None or event.cause in DECIDED or ledger.open_resets or ledger.is_broadcast:
            if base is None:
                ledger.base = value
                ledger.has_unseen = True
            elif event.cause == CommitCause.RESET and not self._sees_resets:
                ledger.base = value
            return
        if value <= base:
            return
        self.is_judged = True
        lowest = ledger.disposed.lowest_missing(base)
        if lowest >= value:
            return
        lowest = ledger.disposed.lowest_missing(max(lowest, self.removed.get(event.queue_key, 0)))
        if lowest < value:
            ledger.base = value
            is_excused = (
                self._is_unseen(event, ledger)
                or self._is_reset_undone(event)
                or (event.cause == CommitCause.CORRECTION and Hole.K3 in self.terms.holes)
            )
            self.is_judged = not is_excused
            self.passed = None if is_excused else lowest
