"""BRD: what a member keeps for itself when everybody gets everything.

Broadcasting has no shared progress and no locks. Each member's progress lies on its own disk, so
it is lost in its own ways: under a name that changes with every start, by rewriting the file
while a queue is absent for a moment, by reading a damaged file as an empty one. What holds: a
member that comes back to a queue begins where it had stored its progress, not behind it and not
ahead of it (BRD-1). Behind means duplicates, ahead means loss. It may begin behind by what it had
not stored yet: one persist interval when it crashed, two when its file was damaged and it fell
back to the previous copy.

And members do not exclude each other: nobody is refused a queue because another has it (BRD-2).
Apache 4.9 takes the cluster lock for an ordered listener even when broadcasting, and so breaks
this (K6).

Events: `own`, `disown`, `local`, `pulled` (corrections), `reset`, `up`, `down`; `lock` for BRD-2.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from spec.dialects.hole import Hole
from spec.guarantees.fold.call import Place, Post
from spec.guarantees.fold.custody import BROADCAST
from spec.guarantees.fold.tenure import Tenures
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import FaultCause
from spec.history.event import Event, Outcome, queue_name
from spec.history.kind import Kind
from spec.override import override


@dataclass(slots=True)
class Progress:
    """How far one member has come with one queue, and since when."""

    own: Event
    """The tenure's beginning."""
    latest: Event
    """What showed the present position."""
    position: int
    steps: list[tuple[int, int]]
    """Three times with the positions then, at least one persist interval apart, oldest first."""
    is_live: bool = True
    ended_ms: int = 0
    is_stored: bool = True
    """Whether the end stored the position; a crash does not."""
    is_restarted: bool = False

    def move(self, event: Event, position: int, interval_ms: int) -> None:
        """The member is at `position`."""
        self.latest, self.position = event, position
        if event.time_ms - self.steps[-1][0] >= interval_ms:
            self.steps = [*self.steps[1:], (event.time_ms, position)]

    def find_older(self, age_ms: int) -> int:
        """A position that the member had at least that long before its tenure ended."""
        for time_ms, position in reversed(self.steps):
            if self.ended_ms - time_ms >= age_ms:
                return min(position, self.position)
        return min(self.steps[0][1], self.position)


class ProgressKept(Monitor):
    """BRD-1: a broadcast member begins again where it had stored its progress."""

    rule: ClassVar = Rule(
        "BRD-1",
        "guarantee.brd.progress-kept",
        frozenset(
            {
                Kind.OWN,
                Kind.DISOWN,
                Kind.LOCAL,
                Kind.PULLED,
                Kind.RESET,
                Kind.UP,
                Kind.DOWN,
                Kind.FAULT,
            }
        ),
        assumes=frozenset({"A1"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._progress: dict[Post, Progress] = {}
        self._faults: dict[str, Event] = {}
        """Node to the latest beginning or end of a fault there."""
        self._renamed: list[tuple[Progress, Event]] = []
        """Tenures that look like an earlier member under a new name."""
        self._interval_ms = terms.constants.offset_persist_ms + terms.constants.scheduling_delay_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.LOCAL: self.on_local,
            Kind.PULLED: self.on_pulled,
            Kind.DISOWN: self.on_disown,
            Kind.DOWN: self.on_down,
            Kind.FAULT: self.on_fault,
            Kind.HEAL: self.on_fault,
            Kind.RESET: self.on_reset,
            Kind.DELETE: self.on_reset,
        }

    def on_own(self, event: Event) -> None:
        """The member begins where it left off."""
        if event.mode != BROADCAST:
            return
        self.exercised += 1
        post = (event.client, event.group, event.topic, event.broker, event.queue)
        progress = self._progress.get(post)
        if progress is not None:
            self._check(progress, event)
            self._renamed = [
                (kept, own) for kept, own in self._renamed if kept is not progress or own.node != event.node
            ]
        else:
            self._note_renamed(post, event)
        self._progress[post] = Progress(event, event, event.offset, [(event.time_ms, event.offset)] * 3)

    def _note_renamed(self, post: Post, event: Event) -> None:
        """One member stopped with this process, and one new name came up with it."""
        stopped = [
            progress
            for other, progress in self._progress.items()
            if other[1:] == post[1:] and progress.latest.node == event.node and progress.is_restarted
        ]
        if len(stopped) == 1 and all(own.node != event.node for _, own in self._renamed):
            self._renamed.append((stopped[0], event))

    def _check(self, progress: Progress, event: Event) -> None:
        fault = self._faults.get(event.node)
        if fault is not None and fault.kind is Kind.HEAL and fault.sequence < progress.own.sequence:
            fault = None
        floor = self._find_floor(progress, fault)
        if progress.is_restarted and fault is not None and fault.cause != FaultCause.DAMAGE:
            self.explain("the member's process or disk was disturbed before it restarted")
        elif event.offset < floor:
            self._report("behind", progress, event)
        elif event.offset > progress.position:
            self._report("ahead of", progress, event)
        elif event.offset < progress.position:
            self.explain("progress that was not stored yet")

    def _find_floor(self, progress: Progress, fault: Event | None) -> int:
        if progress.is_live:
            return min(position for _, position in progress.steps)
        if fault is not None and fault.cause == FaultCause.DAMAGE:
            return progress.find_older(2 * self._interval_ms)
        is_exact = progress.is_stored and not self.terms.holes
        return progress.position if is_exact else progress.find_older(self._interval_ms)

    def _report(self, where: str, progress: Progress, event: Event) -> None:
        queue = queue_name(event.broker, event.queue)
        self.report(
            f"{event.client} begins {event.topic} {queue} at {event.offset}, {where} the {progress.position} "
            f"that {progress.latest.client} had reached",
            progress.latest,
            event,
        )

    def on_local(self, event: Event) -> None:
        """The member has moved on."""
        if self._progress:
            post = (event.client, event.group, event.topic, event.broker, event.queue)
            progress = self._progress.get(post)
            if progress is not None:
                progress.move(event, event.offset, self._interval_ms)

    def on_pulled(self, event: Event) -> None:
        """A correction replaces the position, wherever it was."""
        if event.status != "moved" or not self._progress:
            return
        progress = self._progress.get((event.client, event.group, event.topic, event.broker, event.queue))
        if progress is not None:
            progress.latest, progress.position = event, event.next
            progress.steps = [(event.time_ms, event.next)] * 3

    def on_disown(self, event: Event) -> None:
        """A queue that goes away is stored first."""
        if self._progress:
            post = (event.client, event.group, event.topic, event.broker, event.queue)
            self._end(self._progress.get(post), event, is_stored=True)

    def on_down(self, event: Event) -> None:
        """A member that is shut down stores its progress; one that crashes does not."""
        for progress in self._progress.values():
            if progress.latest.node == event.node:
                self._end(progress, event, is_stored=event.status == "graceful")
                progress.is_restarted = True

    def _end(self, progress: Progress | None, event: Event, *, is_stored: bool) -> None:
        if progress is not None and progress.is_live:
            progress.is_live, progress.ended_ms, progress.is_stored = False, event.time_ms, is_stored

    def on_fault(self, event: Event) -> None:
        """The process or its disk is disturbed, or no longer."""
        self._faults[event.node] = event

    def on_reset(self, event: Event) -> None:
        """Progress that an administrator replaced or deleted is not judged."""
        for post in [post for post in self._progress if self._is_named(event, post[1:])]:
            del self._progress[post]

    def _is_named(self, event: Event, place: Place) -> bool:
        named = zip((event.group, event.topic, event.broker), place[:3], strict=True)
        return all(name in ("", part) for name, part in named)

    @override
    def finish(self, now_ms: int) -> None:  # noqa: ARG002 - no deadline: the name never came back
        for progress, own in self._renamed:
            if own.offset != progress.position and own.node not in self._faults:
                where = "behind" if own.offset < progress.position else "ahead of"
                self._report(where, progress, own)


class NobodyExcluded(Monitor):
    """BRD-2: broadcast members do not exclude each other."""

    rule: ClassVar = Rule("BRD-2", "guarantee.brd.nobody-excluded", frozenset({Kind.OWN, Kind.LOCK}))

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._tenures = folds.get(Tenures)
        self._groups: dict[str, Event] = {}
        """Groups whose latest tenure is a broadcast one."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.OWN: self.on_own, Kind.LOCK: self.on_lock}

    def on_own(self, event: Event) -> None:
        """The group is known by what its members do."""
        if event.mode == BROADCAST:
            self._groups[event.group] = event
            self.exercised += len(self._tenures.live[event.group, event.queue_key]) > 1
        elif self._groups:
            self._groups.pop(event.group, None)

    def on_lock(self, event: Event) -> None:
        """Nobody is refused."""
        own = self._groups.get(event.group)
        if own is None:
            return
        self.exercised += 1
        if event.outcome is not Outcome.FAIL:
            return
        if Hole.K6 in self.terms.holes:
            self.explain("an ordered broadcast listener takes the cluster lock (K6)")
        else:
            self.report(
                f"{event.client} was refused {event.topic} {queue_name(event.broker, event.queue)} though "
                f"{event.group} broadcasts",
                own,
                event,
            )
