"""RTY: how often a failed message is tried again, and how many copies of it there are.

A retry is a new message in the group's retry topic. Its number of attempts is the only thing
that leads it to the dead-letter queue, so it must survive every path: the return request, the
fallback that sends an ordinary message, the local retry in memory. At the limit the message goes
to the dead-letter queue without delay; below it the delay level is two above the attempt that
the copy is. The fallback reaches the limit one attempt earlier, because its copy is counted
before it is judged. The broker counts from the message it stored, so an ordinary return after a
local retry may count one less than the client did (RTY-1).

"One copy per failure" is false as well: two tenures that both fail a message both return it, a
lost answer may hide a copy, and a crash before the commit brings the original back beside its
copy. Within a tenure it is true: each failed attempt is returned at most once, and what has
succeeded, has not started or is still running is not returned (RTY-2). The consume timeout is
the exception: it returns what is running, and with hole K7 a late failure returns it once more.

Events: `start`, `end`, `back` and `own`. `back.cause` says by which path: `send-back` or
`listener` (the ordinary return), `fallback`, `timeout`, `chosen` (the listener named a level or
the dead-letter queue) or `limit` (ordered consumption reached its own limit; the copy's attempt is
not raised). By other paths a copy may go anywhere. A `start` of a copy names its `origin`.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.dialects.hole import Hole
from spec.guarantees.fold.call import Calls, Work
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import BackCause
from spec.history.event import Event, Outcome, QueueKey, queue_name
from spec.history.kind import Kind
from spec.override import override

ORDINARY: Final = frozenset({BackCause.SEND_BACK, BackCause.LISTENER})
"""One path under the two names that its two sides have for it."""

LEVEL_ABOVE_ATTEMPT: Final = 2
"""Delay level 3 for the first copy, one more for each further attempt."""

HIGHEST_LEVEL: Final = 18
"""There are 18 delay levels; the broker clamps what is above."""

ORIGINS_KEPT: Final = 65_536
"""How many messages under retry are remembered; beyond that, skipped attempts are not judged."""


class AttemptCounted(Monitor):
    """RTY-1: attempts rise by one on every path, and the limit leads to the dead-letter queue."""

    rule: ClassVar = Rule(
        "RTY-1", "guarantee.rty.attempt-counted", frozenset({Kind.OWN, Kind.START, Kind.END, Kind.BACK})
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calls = folds.get(Calls)
        self._limit = terms.constants.retry_limit
        self._highest: dict[str, Event] = {}
        """Origin to the event that shows its highest attempt."""
        self._is_complete = True
        self._stored_from: dict[QueueKey, int] = {}
        """Queue to the lowest offset whose storing was seen: its messages have no past outside the run."""
        self._born: set[str] = set()
        """Origins of which every attempt was seen."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.START: self.on_start, Kind.BACK: self.on_back, Kind.APPEND: self.on_append}

    def on_append(self, event: Event) -> None:
        """Whatever becomes of this message will be seen."""
        queue = (event.topic, event.broker, event.queue)
        if queue not in self._stored_from:
            self._stored_from[queue] = event.offset

    def on_back(self, event: Event) -> None:
        """The copy's attempt, destination and delay follow from the failed attempt."""
        if event.outcome is Outcome.FAIL:
            return
        self.exercised += 1
        if not event.origin and event.offset >= self._stored_from.get(event.queue_key, event.offset + 1):
            self._born.add(event.message)
        self._raise(event.origin or event.message, event)
        if event.outcome is Outcome.UNKNOWN:
            return
        failure = self._calls.failure
        is_limit = event.cause == BackCause.LIMIT or self._calls.work.is_ordered
        if failure is not None and not self._is_counted(event, failure.end.attempt, is_limit=is_limit):
            self.report(
                f"{event.message} failed attempt {failure.end.attempt} and was returned as attempt "
                f"{event.attempt}",
                failure.end,
                event,
            )
            return
        if is_limit:
            if event.status != "dead-letter":
                self.report(f"{event.message} reached its limit and was returned for a retry", event)
        elif event.cause in ORDINARY or event.cause in (BackCause.FALLBACK, BackCause.TIMEOUT):
            self._check_destination(event)

    def _is_counted(self, event: Event, failed: int, *, is_limit: bool) -> bool:
        """Whether the copy's attempt follows from the one that failed, as whoever counts knew it."""
        if is_limit:
            return event.attempt in (failed, failed + 1)
        if event.attempt == failed + 1:
            return True
        if event.cause == BackCause.FALLBACK:
            return False
        if self._calls.work.own is None:
            # Local retries before the observation are not in what the broker stored.
            return 1 <= event.attempt <= failed
        return self._calls.stored_attempt is not None and event.attempt == self._calls.stored_attempt + 1

    def _check_destination(self, event: Event) -> None:
        spent = event.attempt if event.cause == BackCause.FALLBACK else event.attempt - 1
        is_dead = event.status == "dead-letter"
        if is_dead != (spent >= self._limit):
            way = "to the dead-letter queue" if is_dead else "for a retry"
            self.report(
                f"{event.message} was returned {way} as attempt {event.attempt}; the limit is {self._limit}",
                event,
            )
        elif is_dead:
            # Apache 4.9.3 forgets to clear the level when its fallback send is diverted.
            if event.level > 0 and not (event.cause == BackCause.FALLBACK and self.terms.holes):
                self.report(f"{event.message} goes to the dead-letter queue with level {event.level}", event)
        elif event.cause != BackCause.TIMEOUT:
            expected = min(event.attempt + LEVEL_ABOVE_ATTEMPT, HIGHEST_LEVEL)
            if min(event.level, HIGHEST_LEVEL) != expected:
                self.report(
                    f"attempt {event.attempt} of {event.message} has level {event.level}, not {expected}",
                    event,
                )

    def on_start(self, event: Event) -> None:
        """What starts again counts one attempt more than what failed."""
        failure = self._calls.failure
        if failure is not None:
            self.exercised += 1
            failed = failure.end.attempt
            if event.attempt != failed + 1:
                self.report(
                    f"{event.message} failed its attempt {failed} and is presented again as attempt "
                    f"{event.attempt}",
                    failure.end,
                    event,
                )
            if event.message in self._highest:
                self._raise(event.message, event)
        elif event.origin:
            self._check_copy(event)

    def _check_copy(self, event: Event) -> None:
        self.exercised += 1
        known = self._highest.get(event.origin)
        shown = () if known is None else (known,)
        if event.attempt < 1:
            self.report(
                f"the copy of {event.origin} counts as attempt {event.attempt}: its failures are forgotten",
                *shown,
                event,
            )
        elif (
            known is not None
            and event.attempt > self._delivered(known) + 1
            and self._is_complete
            and event.origin in self._born
        ):
            self.report(
                f"attempt {event.attempt} of {event.origin} follows attempt {self._delivered(known)}",
                known,
                event,
            )
        self._raise(event.origin, event)

    def _delivered(self, event: Event) -> int:
        """The attempt that had been made when the event was seen; a return announces the next."""
        return event.attempt - 1 if event.kind is Kind.BACK else event.attempt

    def _raise(self, origin: str, event: Event) -> None:
        known = self._highest.get(origin)
        if known is None and len(self._highest) >= ORIGINS_KEPT:
            self._highest.clear()
            self._born.clear()
            self._is_complete = False
        if known is None or self._delivered(event) > self._delivered(known):
            self._highest[origin] = event


class ReturnedOnce(Monitor):
    """RTY-2: a tenure returns each failed attempt at most once, and nothing else."""

    rule: ClassVar = Rule(
        "RTY-2",
        "guarantee.rty.returned-once",
        frozenset({Kind.OWN, Kind.START, Kind.END, Kind.BACK}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calls = folds.get(Calls)
        self._timed_out: dict[str, Event] = {}
        """Messages returned by timeout, until their tenure ends."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.BACK: self.on_back, Kind.DISOWN: self.on_end_of_tenure}

    def on_end_of_tenure(self, event: Event) -> None:
        """Results of an ended tenure are discarded; nothing more is returned."""
        post = self._calls.work.post
        for message in [
            message
            for message, back in self._timed_out.items()
            if (back.client, back.group, back.topic, back.broker, back.queue) == post
            and back.tenure == event.tenure
        ]:
            del self._timed_out[message]

    def on_back(self, event: Event) -> None:
        """What was returned had failed, and had not been returned."""
        work = self._calls.work
        if event.outcome is not Outcome.OK or work.own is None:
            return
        self.exercised += 1
        is_timeout = event.cause == BackCause.TIMEOUT
        if event.offset not in work.started:
            self._report("has not started", event)
        elif self._calls.was_returned:
            self._check_second(work, event)
        elif event.offset in work.succeeded:
            if is_timeout:
                self.explain("the listener succeeded while the timeout returned the message")
            else:
                self._report("had succeeded", event)
        elif self._calls.failure is None and not is_timeout:
            self._report("was still being processed", event)
        if is_timeout:
            self._timed_out[event.message] = event

    def _check_second(self, work: Work, event: Event) -> None:
        first = self._timed_out.get(event.message)
        if (first is not None or event.cause == BackCause.TIMEOUT) and Hole.K7 in self.terms.holes:
            self.explain("a consume timeout and a late failure gave two copies (K7)")
        elif work.is_ordered and self._calls.failure is not None:
            self.explain("an ordered batch was presented and failed again as a whole")
        else:
            self._report("had been returned before", event, *((first,) if first is not None else ()))

    def _report(self, state: str, event: Event, *before: Event) -> None:
        queue = queue_name(event.broker, event.queue)
        self.report(
            f"{event.client} returned offset {event.offset} of {event.topic} {queue}, which {state}",
            *before,
            event,
        )
