"""NLS-3: a failed message changes custody, it does not slip out of it.

A client that gives a failed message back must hold it until the broker has the copy. What holds: a
failed message leaves its tenure's custody only after the return was acknowledged (a refused or
unanswered return leaves it where it is); the acknowledged copy really is in the group's retry
topic, in the delay store on its way there, or in the dead-letter topic; and one failed attempt
gives at most one copy, whose attempt number is one higher.

Legal and similar: a crash between acknowledgement and commit gives a redelivery beside the copy, in
another tenure; after an unanswered return the fallback may store a second copy. Apache's consume
timeout may add a copy of its own (K7), and a group without retry queues is acknowledged for
nothing (K4). Events: `own`, `end`, `back`, `local`; with `append` the copy itself.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from spec.dialects.hole import Hole
from spec.guarantees.fold.calm import Calm
from spec.guarantees.fold.custody import FINISHING, ORDERED, Custody, Holding
from spec.guarantees.fold.log import MASTER, Logs
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import BackCause
from spec.history.event import ABSENT, Event, Outcome
from spec.history.kind import Kind
from spec.override import override
from spec.values.name import DEAD_LETTER_PREFIX, RETRY_PREFIX, SCHEDULE_TOPIC

ORIGINS_KEPT: Final = 16_384
"""Of how many failing messages the copies are counted; beyond that the oldest are forgotten."""

COPY_MEMORY_MS: Final = 60_000
"""How long a stored copy waits for the answer that speaks of it; an answer older than that is a timeout."""


class _Failure:
    """A failed attempt of one offset, and the returns it led to."""

    __slots__ = ("end", "refusals", "returned")

    def __init__(self, end: Event, refusals: int) -> None:
        self.end = end
        self.refusals = refusals
        """Returns that were not acknowledged: each allows a local attempt that the broker does not count."""
        self.returned: Event | None = None


class _Family:
    """A message stored during the observation, and its copies."""

    __slots__ = ("copies", "failed", "first", "surplus")

    def __init__(self, first: Event) -> None:
        self.first = first
        """Its first failure."""
        self.failed = 0
        """Attempts that failed or timed out, and returns whose answer nobody knows: each may give a copy."""
        self.copies = 0
        self.surplus: Event | None = None
        """The first copy that nothing seen so far had asked for."""


class CustodyTransferred(Monitor):
    """NLS-3: a failed message leaves custody by one acknowledged copy, one attempt higher.

    Clause: guarantee.nls.custody-transfer
    """

    rule: ClassVar = Rule(
        "NLS-3",
        "guarantee.nls.custody-transfer",
        frozenset({Kind.OWN, Kind.PULLED, Kind.END, Kind.BACK, Kind.LOCAL}),
        assumes=frozenset({"A5"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._custody = folds.get(Custody)
        self._failures: dict[Holding, dict[int, _Failure]] = {}
        """Tenure to its failed offsets, until its position has passed them."""
        self._copies: dict[tuple[str, int], Event] = {}
        """Origin and attempt to the copy that was stored last, oldest first."""
        self._sees_copies = Kind.APPEND in terms.observes
        self._logs = folds.get(Logs)
        self._calm = folds.get(Calm)
        self._families: dict[str, _Family] = {}
        """Origin to its copies, oldest first."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.END: self.on_end,
            Kind.BACK: self.on_back,
            Kind.LOCAL: self.on_local,
            Kind.BUFFER: self.on_buffer,
            Kind.APPEND: self.on_append,
        }

    def on_own(self, _: Event) -> None:
        """The tenure before is forgotten with its failures."""
        before = self._custody.before
        if before is not None:
            self._failures.pop(before, None)

    def on_append(self, event: Event) -> None:
        """A copy is stored; old ones that nobody asked for are forgotten."""
        if not event.origin:
            return
        self._count_copy(event)
        self._copies.pop((event.origin, event.attempt), None)
        self._copies[event.origin, event.attempt] = event
        oldest = next(iter(self._copies.values()))
        if event.time_ms - oldest.time_ms > COPY_MEMORY_MS:
            del self._copies[oldest.origin, oldest.attempt]

    def _count_copy(self, event: Event) -> None:
        family = self._families.get(event.origin)
        is_new = event.topic == SCHEDULE_TOPIC or event.topic.startswith(DEAD_LETTER_PREFIX)
        if family is None or not is_new or event.replica not in MASTER:
            return
        family.copies += 1
        if family.copies > family.failed and self._calm.is_faultless_since(family.first.time_ms):
            family.surplus = family.surplus or event

    def _count_failure(self, event: Event) -> None:
        family = self._families.get(event.origin or event.message)
        if family is None:
            first = self._logs.first_kept.get(event.queue_key)
            if event.origin or first is None or event.offset < first:
                return
            if len(self._families) >= ORIGINS_KEPT:
                del self._families[next(iter(self._families))]
            family = self._families[event.message] = _Family(event)
        family.failed += 1

    @override
    def finish(self, now_ms: int) -> None:  # noqa: ARG002 - no deadline: a late answer may ask for the copy
        for origin, family in self._families.items():
            if family.surplus is not None and family.copies > family.failed:
                self.report(
                    f"{family.failed} failed attempts of {origin} gave {family.copies} copies",
                    family.first,
                    family.surplus,
                )

    def on_end(self, event: Event) -> None:
        """A failure is remembered; a success after it settles it."""
        if event.status not in FINISHING:
            self._count_failure(event)
        holding = self._custody.current
        if holding is None:
            return
        failures = self._failures.get(holding)
        if event.status in FINISHING:
            if failures:
                failures.pop(event.offset, None)
            return
        if failures is None:
            failures = self._failures[holding] = {}
        before = failures.get(event.offset)
        if before is None or before.returned is None:
            failures[event.offset] = _Failure(event, 0 if before is None else before.refusals)

    def on_back(self, event: Event) -> None:
        """An acknowledged return belongs to one failed attempt, and its copy exists."""
        if event.cause == BackCause.TIMEOUT or event.outcome is Outcome.UNKNOWN:
            self._count_failure(event)
        holding = self._custody.current
        if holding is None:
            return
        self.exercised += 1
        failure = self._failures.get(holding, {}).get(event.offset)
        if event.outcome is not Outcome.OK:
            if failure is not None:
                failure.refusals += 1
            return
        if self._custody.was_finished:
            self._judge_second(event, failure)
        elif failure is not None:
            self._check_attempt(event, failure, holding)
        if failure is None:
            # Nothing failed yet: a consume timeout returns what still runs.
            failure = _Failure(event, 0)
            self._failures.setdefault(holding, {})[event.offset] = failure
        failure.returned = event
        if self._sees_copies:
            self._check_copy(event)

    def _judge_second(self, event: Event, failure: _Failure | None) -> None:
        where = f"{event.message} at {event.offset} of {event.topic} {event.broker}:{event.queue}"
        if failure is None or failure.returned is None:
            self.report(f"{event.client} returns {where}, which had succeeded or was passed over", event)
        elif Hole.K7 in self.terms.holes and BackCause.TIMEOUT in (failure.returned.cause, event.cause):
            self.explain("K7: a consume timeout and a late failure gave two copies")
        else:
            self.report(f"{event.client} returns {where} twice for one attempt", failure.returned, event)

    def _check_attempt(self, event: Event, failure: _Failure, holding: Holding) -> None:
        expected = failure.end.attempt + 1
        if holding.own.mode == ORDERED or ABSENT in (event.attempt, failure.end.attempt):
            return
        if not expected - failure.refusals <= event.attempt <= expected:
            self.report(
                f"the copy of {event.message} has attempt {event.attempt} after attempt "
                f"{failure.end.attempt} failed",
                failure.end,
                event,
            )

    def _check_copy(self, event: Event) -> None:
        """The broker stored the copy before it answered, and where somebody will read it."""
        if event.cause == BackCause.FALLBACK:
            return
        keys = [(name, event.attempt) for name in (event.message, event.origin) if name]
        copy = next((self._copies[key] for key in keys if key in self._copies), None)
        if copy is None:
            if Hole.K4 in self.terms.holes:
                self.explain("K4: a group without retry queues is acknowledged for nothing")
            else:
                self.report(f"the return of {event.message} was acknowledged and no copy is stored", event)
        elif copy.topic not in {
            RETRY_PREFIX + event.group,
            DEAD_LETTER_PREFIX + event.group,
            SCHEDULE_TOPIC,
        }:
            self.report(
                f"the copy of {event.message} lies in {copy.topic}, where {event.group} will not find it",
                copy,
                event,
            )

    def on_local(self, event: Event) -> None:
        """The position passes no failure that was not returned."""
        holding = self._custody.current
        if holding is None:
            return
        failures = self._failures.get(holding)
        if not failures:
            return
        for offset in [offset for offset in failures if offset < event.offset]:
            failure = failures.pop(offset)
            if failure.returned is None:
                self._report_gone(failure.end, event)

    def on_buffer(self, event: Event) -> None:
        """A failure that was not returned is still in the buffer."""
        holding = self._custody.current
        failures = self._failures.get(holding) if holding is not None else None
        if holding is None or not failures or holding.ended is not None or holding.own.mode == ORDERED:
            return
        held = set(event.offsets)
        for offset, failure in list(failures.items()):
            if failure.returned is None and offset not in held:
                del failures[offset]
                self._report_gone(failure.end, event)

    def _report_gone(self, end: Event, event: Event) -> None:
        self.report(
            f"{end.message} at {end.offset} of {end.topic} {end.broker}:{end.queue} failed and leaves "
            f"custody without an acknowledged copy",
            end,
            event,
        )
