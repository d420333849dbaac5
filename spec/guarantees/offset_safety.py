"""OFF-2: nothing below a commit is left undone.

"A commit means that the committing member consumed everything below" is too strong: during double
ownership a member may pass what another one finished. What holds: whenever the broker holds v for
a group, every offset from the group's base up to v is disposed, by whichever member. And inside one
tenure, where nobody else's work counts: its position is never above the lowest offset in its
custody or in process, nor above its pull cursor when it holds nothing.

The base is the start of the group's first tenure under the initial-position policy, or the last
reset; what counts as disposed is said in `fold.disposal`. Events: `own`, `pulled`, `end`, `back`,
`local`, `commit`.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.guarantees.fold.custody import Custody, Holding
from spec.guarantees.fold.disposal import Disposal
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import Event
from spec.history.kind import Kind
from spec.override import override


class CommitPassesNothing(Monitor):
    """OFF-2: every offset below a commit is disposed, every one below a position is finished.

    Clause: guarantee.off.safety
    """

    rule: ClassVar = Rule(
        "OFF-2",
        "guarantee.off.safety",
        frozenset(
            {Kind.OWN, Kind.DISOWN, Kind.PULLED, Kind.END, Kind.BACK, Kind.LOCAL, Kind.COMMIT}
            | {Kind.UP, Kind.DOWN}
        ),
        assumes=frozenset({"A3", "A5"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._custody = folds.get(Custody)
        self._disposal = folds.get(Disposal)

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.LOCAL: self.on_local, Kind.COMMIT: self.on_commit}

    def on_local(self, event: Event) -> None:
        """The tenure's position is at most its lowest unfinished offset."""
        holding = self._custody.current
        if holding is None or event.offset <= holding.start:
            return
        self.exercised += 1
        lowest = holding.finished.lowest_missing(holding.start)
        if event.offset > lowest:
            self._judge(event, holding, lowest)

    def _judge(self, event: Event, holding: Holding, lowest: int) -> None:
        queue = event.queue_key
        lowest = holding.finished.lowest_missing(max(lowest, self._disposal.removed.get(queue, 0)))
        reset = self._disposal.commits.resets.get((event.group, *queue))
        if event.offset <= lowest:
            return
        if reset is not None and reset.sequence > holding.own.sequence:
            self.explain("a reset moved the position")
            return
        failed = holding.failing.get(lowest)
        self.report(
            f"tenure {event.tenure} of {event.client} moves to {event.offset} on {event.topic} "
            f"{event.broker}:{event.queue} while {lowest} is not finished",
            *((holding.own,) if failed is None else (failed,)),
            event,
        )

    def on_commit(self, event: Event) -> None:
        """The commit passes nothing that some member has not disposed of."""
        if self._disposal.is_judged:
            self.exercised += 1
        passed = self._disposal.passed
        if passed is None:
            return
        before = self._disposal.commits.previous
        self.report(
            f"the commit {event.offset} of {event.group} on {event.topic} {event.broker}:{event.queue} "
            f"passes {passed}, which nobody has disposed of",
            *((before,) if before is not None else ()),
            event,
        )
