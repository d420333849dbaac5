"""DUP: every duplicate has a cause.

"Each message is consumed once" is false, and "duplicates may happen" says nothing. What holds is
between the two: each further start of an offset is put down to exactly one cause, and in a calm
interval with listeners that succeed there is none left to apply, so each message starts once.

The causes. A copy that came back through the retry topic: an explicit retry, or the consume
timeout. Within a tenure: a local retry because returning the message failed; ordered consumption
that suspended or rolled back; a pull position that was corrected. In another tenure: one that
began at or below the offset, because the broker answered so. That one is told apart further, by
what brought it about: a reset, two owners with different views, or a plain hand-over, where the
last commit lay behind what had been started. A broker that lost commits shows up the same way.

Not a cause: a tenure that reaches back below its own beginning, and one that presents what it had
neither failed nor given back.

Events: `own`, `start`, `end`, `back`, `pulled`; `queried`, `view` and `reset` tell causes apart.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.guarantees.fold.call import Calls, Place, Post, Work
from spec.guarantees.fold.tenure import Tenures
from spec.guarantees.fold.view import Views
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import BackCause
from spec.history.event import Event, Outcome, queue_name
from spec.history.kind import Kind
from spec.override import override


class DuplicateExplained(Monitor):
    """DUP: each further start of an offset has exactly one cause."""

    rule: ClassVar = Rule(
        "DUP",
        "guarantee.dup.every-start-explained",
        frozenset({Kind.OWN, Kind.START, Kind.END, Kind.BACK, Kind.PULLED}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._tenures = folds.get(Tenures)
        self._views = folds.get(Views)
        self._calls = folds.get(Calls)
        self._answers: dict[Post, tuple[int, int]] = {}
        """The tenure that asked last, and the lowest offset it was answered."""
        self._corrections: dict[Post, Event] = {}
        self._resets: dict[Place, Event] = {}
        """Resets that no tenure has followed yet."""
        self._after_reset: dict[Post, Event] = {}
        """Tenures that were the first after a reset."""
        self._timeouts: set[str] = set()
        """Messages returned by timeout whose copy has not started yet."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.START: self.on_start,
            Kind.BACK: self.on_back,
            Kind.OWN: self.on_own,
            Kind.QUERIED: self.on_queried,
            Kind.PULLED: self.on_pulled,
            Kind.RESET: self.on_reset,
        }

    def on_own(self, event: Event) -> None:
        """A tenure begins, perhaps as the first after a reset."""
        work = self._calls.work
        self._corrections.pop(work.post, None)
        reset = self._resets.pop(work.place, None)
        if reset is not None:
            self._after_reset[work.post] = event
        else:
            self._after_reset.pop(work.post, None)

    def on_queried(self, event: Event) -> None:
        """The broker's answer is what allows a tenure to begin low."""
        if event.status == "value":
            post = (event.client, event.group, event.topic, event.broker, event.queue)
            tenure, lowest = self._answers.get(post, (event.tenure, event.offset))
            lowest = min(lowest, event.offset) if tenure == event.tenure else event.offset
            self._answers[post] = (event.tenure, lowest)

    def on_pulled(self, event: Event) -> None:
        """A correction moves the pull position."""
        if event.status == "moved":
            post = (event.client, event.group, event.topic, event.broker, event.queue)
            self._corrections[post] = event

    def on_reset(self, event: Event) -> None:
        """The next tenure begins where the administrator said."""
        self._resets[event.group, event.topic, event.broker, event.queue] = event

    def on_back(self, event: Event) -> None:
        """Remember why the copy will come."""
        if event.cause == BackCause.TIMEOUT and event.outcome is not Outcome.FAIL:
            self._timeouts.add(event.origin or event.message)

    def on_start(self, event: Event) -> None:
        """A first start is nothing; a further one has a cause or is reported."""
        self.exercised += 1
        calls = self._calls
        if calls.is_repeated:
            self._settle(event, self._find_cause_within(calls.work, event))
        elif calls.is_further:
            self._settle(event, self._find_cause_between(calls.work, event))
        elif event.origin:
            if event.origin in self._timeouts:
                self._timeouts.discard(event.origin)
                self.explain("consume timeout")
            else:
                self.explain("explicit retry")

    def _settle(self, event: Event, cause: str) -> None:
        if cause:
            self.explain(cause)
            return
        own = self._calls.work.own
        queue = queue_name(event.broker, event.queue)
        since = f", which began at {own.offset}" if own is not None else ""
        self.report(
            f"offset {event.offset} of {event.topic} {queue} starts again without a cause in tenure "
            f"{event.tenure} of {event.client}{since}",
            *((own,) if own is not None else ()),
            event,
        )

    def _find_cause_within(self, work: Work, event: Event) -> str:
        """Why a tenure presents an offset again, or nothing."""
        failure = self._calls.failure
        if failure is not None:
            if failure.unreturned is not None:
                return "local retry after a failed return"
            return "ordered suspend" if work.is_ordered or work.own is None else ""
        low, high = work.rolled_back
        if low <= event.offset < high:
            return "ordered rollback"
        if work.is_ordered and event.offset in work.returned:
            return "ordered suspend of a batch"
        return self._find_correction(work, event)

    def _find_correction(self, work: Work, event: Event) -> str:
        moved = self._corrections.get(work.post)
        is_cause = moved is not None and moved.tenure == event.tenure and moved.next <= event.offset
        return "corrected pull position" if is_cause else ""

    def _find_cause_between(self, work: Work, event: Event) -> str:
        """Why a tenure presents what another had presented, or nothing."""
        if work.own is None:
            return "a tenure whose beginning was not seen"
        tenure, answer = self._answers.get(work.post, (None, 0))
        began = answer if tenure == event.tenure else work.own.offset
        if event.offset < began:
            return self._find_correction(work, event)
        if self._after_reset.get(work.post) is work.own:
            return "reset"
        return "two owners with different views" if self._is_shared(event) else "hand-over"

    def _is_shared(self, event: Event) -> bool:
        """Whether another live owner bases its allocation on something else."""
        holders = self._tenures.live.get((event.group, event.queue_key), {})
        mine = self._views.latest.get((event.client, event.group, event.topic))
        for other in holders:
            theirs = self._views.latest.get((other, event.group, event.topic))
            if other != event.client and mine is not None and theirs is not None and mine[1] != theirs[1]:
                return True
        return False
