"""OFF-6: what an administrator decided stays decided.

"A reset moves the group" is false if the reset only waits and hopes: a listener that passed its
check, or a long poll that comes home, stores its old number over the new one. What holds once a
reset is done: the first tenure that begins on the queue starts at the reset's offset, nothing that
a tenure from before the reset held is applied any more, and the group's other queues keep their
offsets. After a deletion nothing from before is visible.

Apache 4.9 pauses ten seconds instead of fencing (K3). Events: `reset`, `own`, `commit` with client
and tenure; with `queried` the other queues and deletions as well.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.dialects.hole import Hole
from spec.guarantees.fold.commit import Commits, LedgerKey
from spec.guarantees.fold.custody import BROADCAST, Custody
from spec.guarantees.fold.environment import Environment
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import CommitCause
from spec.history.event import ABSENT, Event
from spec.history.kind import Kind
from spec.override import override


class _Decision:
    """The resets of one group and queue: those under way, and the last one that is done."""

    __slots__ = ("begun", "done", "fresh", "offsets", "under_way")

    def __init__(self) -> None:
        self.under_way = 0
        self.begun: Event | None = None
        """The first event of the latest resets; tenures before it are earlier ones."""
        self.done: Event | None = None
        self.offsets: set[int] = set()
        """Where the group may be now: resets at the same time leave it open which one came last."""
        self.fresh = False
        """Whether no later tenure has begun or committed since."""


class DecisionsStick(Monitor):
    """OFF-6: after a reset the group is where it was put, after a deletion nowhere.

    Clause: guarantee.off.decisions-stick
    """

    rule: ClassVar = Rule(
        "OFF-6",
        "guarantee.off.decisions-stick",
        frozenset({Kind.RESET, Kind.OWN, Kind.COMMIT, Kind.UP, Kind.DOWN}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._custody = folds.get(Custody)
        self._commits = folds.get(Commits)
        self._environment = folds.get(Environment)
        self._decisions: dict[LedgerKey, _Decision] = {}
        self._reset_groups: dict[str, Event] = {}
        self._deleted: dict[tuple[str, str], Event] = {}
        """Status and name of what was deleted."""
        self._is_loose = Hole.K3 in terms.holes

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.RESET: self.on_reset,
            Kind.DELETE: self.on_delete,
            Kind.OWN: self.on_own,
            Kind.COMMIT: self.on_commit,
            Kind.QUERIED: self.on_queried,
        }

    def on_reset(self, event: Event) -> None:
        """A reset is in force once it is done and no other one is under way."""
        key = (event.group, event.topic, event.broker, event.queue)
        decision = self._decisions.setdefault(key, _Decision())
        if decision.under_way == 0 and (event.status == "begun" or decision.fresh or decision.done):
            decision.offsets.clear()
        if decision.under_way == 0:
            decision.begun = event
        decision.under_way = max(0, decision.under_way + (1 if event.status == "begun" else -1))
        decision.offsets.add(event.offset)
        decision.done = event if event.status == "done" and decision.under_way == 0 else None
        decision.fresh = decision.done is not None
        self._reset_groups[event.group] = event

    def on_delete(self, event: Event) -> None:
        """The deleted group's or topic's resets are over as well."""
        place, name = (0, event.group) if event.status == "group" else (1, event.topic)
        self._deleted[event.status, name] = event
        for key in [key for key in self._decisions if key[place] == name]:
            del self._decisions[key]

    def on_own(self, event: Event) -> None:
        """The first tenure after a reset starts where the group was put."""
        if not self._decisions:
            return
        decision = self._decisions.get((event.group, event.topic, event.broker, event.queue))
        if decision is None or decision.done is None or not decision.fresh or event.mode == BROADCAST:
            return
        decision.fresh = False
        self.exercised += 1
        if event.offset in decision.offsets:
            return
        self._judge(
            decision.done,
            f"{event.client} begins at {event.offset} on {event.topic} {event.broker}:{event.queue} "
            f"after {event.group} was reset to {decision.done.offset}",
            decision.done,
            event,
        )

    def _judge(self, done: Event, summary: str, *events: Event) -> None:
        if self._commits.is_undone_by_restart(done):
            self.explain("a restart brought back what was held before the reset")
        elif self._is_loose:
            self.explain("K3: the reset waits instead of fencing earlier tenures")
        else:
            self.report(summary, *events)

    def on_commit(self, event: Event) -> None:
        """No value of a tenure from before the reset is applied after it, and no other queue is moved."""
        if not self._decisions:
            return
        decision = self._decisions.get((event.group, event.topic, event.broker, event.queue))
        if decision is None and event.cause == CommitCause.RESET:
            self._check_other_queue(event)
        if decision is None or decision.done is None or decision.begun is None:
            return
        if event.cause == CommitCause.RESET or event.offset in decision.offsets:
            return
        own = self._find_own(event)
        if own is None:
            return
        self.exercised += 1
        if own.sequence < decision.begun.sequence:
            self._judge(
                decision.done,
                f"{event.client} commits {event.offset} on {event.topic} {event.broker}:{event.queue} "
                f"from a tenure older than the reset to {decision.done.offset}",
                own,
                decision.done,
                event,
            )
        else:
            decision.fresh = False

    def _check_other_queue(self, event: Event) -> None:
        reset = self._reset_groups.get(event.group)
        # Only a broker seen from its start surely has no reset under way that began before.
        if reset is not None and event.node in self._environment.up:
            self.exercised += 1
            self.report(
                f"a reset moves {event.group} to {event.offset} on {event.topic} "
                f"{event.broker}:{event.queue}, which it does not name",
                reset,
                event,
            )

    def _find_own(self, event: Event) -> Event | None:
        """The beginning of the tenure that the commit comes from; a later one if it is an ended one."""
        holding = self._custody.held.get((event.client, event.group, event.topic, event.broker, event.queue))
        if holding is None or event.tenure > holding.tenure:
            return None
        if event.tenure in (ABSENT, holding.tenure):
            return holding.own
        return self._ended_own(event)

    def _ended_own(self, event: Event) -> Event | None:
        before = self._custody.replaced.get(
            (event.client, event.group, event.topic, event.broker, event.queue)
        )
        return before if before is not None and before.tenure == event.tenure else None

    def on_queried(self, event: Event) -> None:
        """A reset hides no other queue's offset; a deletion hides everything from before."""
        if event.status == "none" and self._reset_groups and Kind.DELETE in self.terms.observes:
            self._check_hidden(event)
        elif event.status == "value" and event.offset > 0 and self._deleted:
            self._check_visible(event)

    def _check_hidden(self, event: Event) -> None:
        reset = self._reset_groups.get(event.group)
        key = (event.group, event.topic, event.broker, event.queue)
        committed = self._commits.table.get(key)
        if reset is None or committed is None or key in self._decisions:
            return
        if reset.sequence > committed.latest.sequence and not self._commits.is_lost_by_restart(committed):
            self.exercised += 1
            self.report(
                f"after a reset of another queue the broker answers none for {event.group} on "
                f"{event.topic} {event.broker}:{event.queue}, where it held {committed.latest.offset}",
                committed.latest,
                reset,
                event,
            )

    def _check_visible(self, event: Event) -> None:
        deleted = self._deleted.get(("group", event.group)) or self._deleted.get(("topic", event.topic))
        key = (event.group, event.topic, event.broker, event.queue)
        if deleted is None or deleted.broker not in ("", event.broker):
            return
        self.exercised += 1
        if key not in self._commits.table and key not in self._commits.resets:
            self.report(
                f"the broker answers {event.offset} for {event.group} on {event.topic} "
                f"{event.broker}:{event.queue}, committed before the {deleted.status} was deleted",
                deleted,
                event,
            )
