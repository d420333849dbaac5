"""NLS-1: no message is left where nobody will ever look.

"Every message is eventually consumed" is false: a first start at the end skips what is there, a
broadcast failure drops by design, and members with different tags skip each other's messages. What
holds at all times: a message at or above the group's base is disposed for the group, or it lies at
or above the group's commit and is readable, or a copy of it waits: in the group's retry topic at or
above the commit there, or in the delay store at or above the level's cursor. Nothing else.

It does not depend on exclusive ownership: two owners cost duplicates, never a message. Three things
leave a message behind, and are looked for: a commit that passes it (of the original's queue or of
the retry topic, whose base is its beginning), a cursor of the delay store that passes a copy which
was not delivered, and a queue that was shortened below a commit and then filled again.

Events: `append`, `own`, `pulled`, `end`, `back`, `commit`; with `deliver` and `cursor` also the
delay store.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.guarantees.fold.delay import Delays
from spec.guarantees.fold.disposal import Disposal
from spec.guarantees.fold.log import MASTER
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import Event, QueueKey
from spec.history.kind import Kind
from spec.override import override


class NoOrphan(Monitor):
    """NLS-1: every message is disposed, still to be read, or has a copy that waits.

    Clause: guarantee.nls.no-orphan
    """

    rule: ClassVar = Rule(
        "NLS-1",
        "guarantee.nls.no-orphan",
        frozenset({Kind.APPEND, Kind.OWN, Kind.PULLED, Kind.END, Kind.BACK, Kind.COMMIT, Kind.UP, Kind.DOWN}),
        assumes=frozenset({"A3", "A5"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._disposal = folds.get(Disposal)
        self._delays = folds.get(Delays)
        self._sees_delays = terms.observes >= {Kind.DELIVER, Kind.DIVERT, Kind.CURSOR, Kind.RETAIN}
        self._shortened: dict[QueueKey, Event] = {}
        """Queue to the `range` that put its end below some group's commit."""
        self._lost: set[tuple[str, int, int]] = set()
        """Broker, level and offset of the copies that were reported."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.APPEND: self.on_append,
            Kind.COMMIT: self.on_commit,
            Kind.RANGE: self.on_range,
            Kind.CURSOR: self.on_cursor,
        }

    def on_append(self, event: Event) -> None:
        """Nothing is stored below a commit."""
        if self._shortened and event.queue_key in self._shortened:
            self._check_refilled(event)

    def on_commit(self, event: Event) -> None:
        """The commit leaves nothing behind that is not disposed."""
        if self._disposal.is_judged:
            self.exercised += 1
        passed = self._disposal.passed
        if passed is None:
            return
        before = self._disposal.commits.previous
        self.report(
            f"offset {passed} of {event.topic} {event.broker}:{event.queue} is lost to {event.group}: "
            f"the commit {event.offset} passes it, and nobody has disposed of it",
            *((before,) if before is not None else ()),
            event,
        )

    def on_range(self, event: Event) -> None:
        """A queue that ends below a commit will give offsets out again."""
        queue = event.queue_key
        self._shortened.pop(queue, None)
        if event.replica not in MASTER:
            return
        for key, committed in self._disposal.commits.table.items():
            if key[1:] == queue and committed.latest.offset > event.next:
                self._shortened[queue] = event

    def _check_refilled(self, event: Event) -> None:
        queue = event.queue_key
        is_behind = False
        for key, committed in self._disposal.commits.table.items():
            ledger = self._disposal.ledgers.get(key)
            if key[1:] != queue or ledger is None or ledger.base is None:
                continue
            if event.offset < committed.latest.offset:
                is_behind = True
                if ledger.base <= event.offset:
                    self.report(
                        f"{event.message} is stored at {event.offset} of {event.topic} "
                        f"{event.broker}:{event.queue}, below the commit "
                        f"{committed.latest.offset} of {key[0]}",
                        committed.latest,
                        self._shortened[queue],
                        event,
                    )
        if not is_behind:
            del self._shortened[queue]

    def on_cursor(self, event: Event) -> None:
        """The level's cursor leaves no copy behind."""
        waiting = self._delays.waiting.get((event.broker, event.level))
        is_moved = event.status == "moved" and event.replica in MASTER
        if not waiting or not is_moved or not self._sees_delays:
            return
        self.exercised += 1
        for copy in [waiting[offset] for offset in waiting if offset < event.offset]:
            offset = copy.offset
            if not copy.origin or (event.broker, event.level, offset) in self._lost:
                continue
            self._lost.add((event.broker, event.level, offset))
            self.report(
                f"the retry copy {copy.message} of {copy.origin} is lost: level {event.level} of "
                f"{event.broker} goes on at {event.offset} and did not deliver {offset}",
                copy,
                event,
            )
