"""ORD: in which order an ordered queue is presented.

"Messages of a queue are consumed in order, once" is false: whoever takes a queue over begins at
the committed offset, which may lie behind what the last owner finished. What holds: within a
tenure, calls present offsets in rising order, and a batch that failed is presented again before
anything later, until it succeeds, has been returned, or the tenure ends (ORD-1). And over the
whole group, a call never begins beyond the first offset that has not been dealt with: replays of
a suffix, never a jump ahead (ORD-2).

Dealt with means: succeeded in some member's listener, returned, filtered or gone (a pull passed
over it), or given up by decision (a reset, a correction, what lies below the first start). A
commit of a tenure that the observation did not see begin is believed; one of a known tenure is
not, for it may be the very mistake that makes the next owner jump.

Events: `own` with the mode, `start` and `end` with call numbers, `back`; for ORD-2 also `pulled`,
`queried`, `commit` and `reset`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from spec.guarantees.fold.call import SETTLED, Calls, Place, Work
from spec.guarantees.fold.offset_set import OffsetSet
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import Event, Outcome, queue_name
from spec.history.kind import Kind
from spec.override import override


class TenureOrder(Monitor):
    """ORD-1: a tenure presents offsets in rising order and repeats what failed first."""

    rule: ClassVar = Rule(
        "ORD-1", "guarantee.ord.tenure-order", frozenset({Kind.OWN, Kind.START, Kind.END, Kind.BACK})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calls = folds.get(Calls)

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.START: self.on_start}

    def on_start(self, event: Event) -> None:
        """The offset is the next one, or the lowest that failed."""
        calls = self._calls
        work = calls.work
        if not work.is_ordered:
            return
        self.exercised += 1
        if calls.began is not None and len(work.group.calls) > 1:
            self._check_running(work, event)
        if work.failures:
            self._check_skipped(work, event)
        if calls.is_repeated:
            self._check_repeated(work, event)
        elif work.high > event.offset + 1:
            queue = queue_name(event.broker, event.queue)
            self.report(
                f"{event.client} presents offset {event.offset} of {event.topic} {queue} after offset "
                f"{work.high - 1}",
                event,
            )

    def _check_running(self, work: Work, event: Event) -> None:
        for call in work.group.calls.values():
            if call.work is work and call is not self._calls.began:
                self.report(
                    f"{event.client} presents offset {event.offset} of {event.topic} "
                    f"{queue_name(event.broker, event.queue)} while its call on {call.start.offset} runs",
                    call.start,
                    event,
                )

    def _check_skipped(self, work: Work, event: Event) -> None:
        lowest = min(work.failures)
        failure = work.failures[lowest]
        if lowest >= event.offset:
            return
        if failure.unreturned is not None and failure.unreturned.outcome is Outcome.UNKNOWN:
            self.explain("whether the failed message was returned is not known")
            del work.failures[lowest]
        else:
            self.report(
                f"{event.client} presents offset {event.offset} of {event.topic} "
                f"{queue_name(event.broker, event.queue)} before offset {lowest}, which failed",
                failure.end,
                event,
            )

    def _check_repeated(self, work: Work, event: Event) -> None:
        low, high = work.rolled_back
        if self._calls.failure is not None:
            self.explain("presented again after it failed")
        elif low <= event.offset < high:
            self.explain("presented again after a rollback")
        elif event.offset in work.returned:
            self.explain("presented again with the batch it belongs to")
        else:
            self.report(
                f"{event.client} presents offset {event.offset} of {event.topic} "
                f"{queue_name(event.broker, event.queue)} again although it did not fail",
                event,
            )


@dataclass(slots=True)
class Progress:
    """How far a group has come with an ordered queue."""

    since: int
    """Which event began it; what older tenures did before is not known."""
    base: int
    """Below it the group is not responsible."""
    done: OffsetSet = field(default_factory=OffsetSet)
    committed: int | None = None

    @property
    def front(self) -> int:
        """The lowest offset that has not been dealt with."""
        return self.done.lowest_missing(self.base)


class GroupOrder(Monitor):
    """ORD-2: a group never jumps ahead on an ordered queue."""

    rule: ClassVar = Rule(
        "ORD-2",
        "guarantee.ord.no-jump-ahead",
        frozenset(
            {Kind.OWN, Kind.START, Kind.END, Kind.BACK, Kind.PULLED, Kind.QUERIED, Kind.COMMIT, Kind.RESET}
        ),
        assumes=frozenset({"A3", "A5"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calls = folds.get(Calls)
        self._progress: dict[Place, Progress] = {}

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.START: self.on_start,
            Kind.END: self.on_end,
            Kind.BACK: self.on_back,
            Kind.PULLED: self.on_pulled,
            Kind.QUERIED: self.on_queried,
            Kind.COMMIT: self.on_commit,
            Kind.RESET: self.on_reset,
            Kind.RETAIN: self.on_reset,
            Kind.DELETE: self.on_delete,
        }

    def _find(self, event: Event) -> Progress | None:
        if not self._progress:
            return None
        return self._progress.get((event.group, event.topic, event.broker, event.queue))

    def on_own(self, event: Event) -> None:
        """The first tenure says where the group begins."""
        work = self._calls.work
        if work.is_ordered and work.place not in self._progress:
            self._progress[work.place] = Progress(event.sequence, event.offset)

    def on_start(self, event: Event) -> None:
        """A call must not begin beyond the front."""
        call = self._calls.began
        if call is None:
            return
        progress = self._progress.get(call.work.place)
        if progress is None:
            return
        self.exercised += 1
        front = progress.front
        own = call.work.own
        if event.offset > front and (own is None or own.sequence < progress.since):
            self._give_up(progress, event.offset)
        elif event.offset > front:
            self.report(
                f"{event.client} begins with offset {event.offset} of {event.topic} "
                f"{queue_name(event.broker, event.queue)} while offset {front} has not been dealt with",
                *((own,) if own is not None else ()),
                event,
            )
            progress.base = event.offset

    def on_end(self, event: Event) -> None:
        """What succeeded is dealt with."""
        progress = self._find(event)
        if progress is not None and (event.status in SETTLED or event.status == "rollback"):
            progress.done.add(event.offset)

    def on_back(self, event: Event) -> None:
        """What was returned, or may have been, is dealt with."""
        progress = self._find(event)
        if progress is not None and event.outcome is not Outcome.FAIL:
            progress.done.add(event.offset)

    def on_pulled(self, event: Event) -> None:
        """What a pull passed over was filtered or is gone."""
        progress = self._find(event)
        if progress is None or event.next - event.offset == len(event.offsets):
            return
        if event.status == "moved":
            self._give_up(progress, event.next)
        position = event.offset
        for offset in sorted(event.offsets):
            progress.done.add_range(position, offset)
            position = offset + 1
        progress.done.add_range(position, event.next)

    def on_queried(self, event: Event) -> None:
        """A value that no commit of this run explains comes from before it."""
        progress = self._find(event)
        if progress is not None and event.status == "value" and event.offset != progress.committed:
            self._give_up(progress, event.offset)

    def on_commit(self, event: Event) -> None:
        """A commit of a tenure that was not seen tells what happened before."""
        progress = self._find(event)
        if progress is None:
            return
        progress.committed = event.offset
        work = self._calls.find_latest((event.client, event.group, event.topic, event.broker, event.queue))
        own = work.own if work is not None else None
        if own is None or own.tenure != event.tenure or own.sequence < progress.since:
            self._give_up(progress, event.offset)

    def on_reset(self, event: Event) -> None:
        """What an administrator or retention gave up is not the group's any more."""
        for place in self._places(event):
            self._give_up(self._progress[place], event.offset)

    def on_delete(self, event: Event) -> None:
        """A deleted group or topic begins anew."""
        for place in self._places(event):
            del self._progress[place]

    def _places(self, event: Event) -> list[Place]:
        named = ((0, event.group), (1, event.topic), (2, event.broker))
        return [
            place
            for place in self._progress
            if all(name in ("", place[part]) for part, name in named)
            and (event.queue == place[3] or event.kind is Kind.DELETE)
        ]

    def _give_up(self, progress: Progress, offset: int) -> None:
        progress.base = max(progress.base, offset)
