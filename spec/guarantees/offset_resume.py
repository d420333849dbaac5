"""OFF-1: a tenure begins where the broker says the group stands.

"A consumer resumes where it stopped" leaves out who knows that. Only the broker does: what a
client remembers of an earlier tenure is stale the moment another member works on the queue. So
each tenure asks, and starts at the answer. The initial-position policy is for a group without
history: it may decide only when the answer was an explicit "none", and "none" is true only if
nothing was committed (or a restart lost the first commits, or the group was deleted). An error is
no answer, and no tenure begins on it. In ordered mode the question counts only if it was asked
after the lock was granted, since the old owner goes on committing until then.

Apache 4.9 takes any error answer for "none" (K1). Events: `query`, `queried`, `initial`, `own`,
`pull`; with `commit` and `locked` the answer's truth and the order of lock and question as well.
"""

from collections.abc import Mapping
from typing import ClassVar

from spec.dialects.hole import Hole
from spec.guarantees.fold.commit import Commits
from spec.guarantees.fold.custody import BROADCAST, ORDERED, Custody, HolderKey
from spec.guarantees.fold.disposal import Disposal
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.cause import InitialCause
from spec.history.event import Event, Outcome
from spec.history.kind import Kind
from spec.override import override
from spec.values.name import RETRY_PREFIX


def _holder(event: Event) -> HolderKey:
    return (event.client, event.group, event.topic, event.broker, event.queue)


class _Question:
    """One offset query, what the broker held when it was sent, and how it was answered."""

    __slots__ = ("answer", "initial", "query", "value")

    def __init__(self, query: Event, value: Event | None) -> None:
        self.query = query
        self.value = value
        self.answer: Event | None = None
        self.initial: Event | None = None


class StartsWhereToldTo(Monitor):
    """OFF-1: the first pull of a tenure is at the broker's answer to its own query.

    Clause: guarantee.off.resume
    """

    rule: ClassVar = Rule(
        "OFF-1",
        "guarantee.off.resume",
        frozenset({Kind.QUERY, Kind.QUERIED, Kind.INITIAL, Kind.OWN, Kind.PULL, Kind.UP, Kind.DOWN}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._custody = folds.get(Custody)
        self._commits = folds.get(Commits)
        self._disposal = folds.get(Disposal)
        self._questions: dict[HolderKey, _Question] = {}
        """Holder to the newest question of it."""
        self._unpulled: dict[HolderKey, Event] = {}
        """Holder to its `own`, until the first pull."""
        self._granted: dict[HolderKey, tuple[Event, int]] = {}
        """Holder to the grant that began its present hold of the lock, and when it was last renewed."""
        self._begun_ms = 0
        self._request_ms = terms.constants.request_limit_ms + terms.constants.clock_skew_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.BEGIN: self.on_begin,
            Kind.QUERY: self.on_query,
            Kind.QUERIED: self.on_queried,
            Kind.INITIAL: self.on_initial,
            Kind.OWN: self.on_own,
            Kind.PULL: self.on_pull,
            Kind.LOCKED: self.on_locked,
        }

    def on_begin(self, event: Event) -> None:
        """Questions asked before this were not seen."""
        self._begun_ms = event.time_ms

    def on_query(self, event: Event) -> None:
        """A question is asked on behalf of one tenure."""
        committed = self._commits.table.get((event.group, event.topic, event.broker, event.queue))
        self._questions[_holder(event)] = _Question(event, None if committed is None else committed.latest)

    def _find(self, event: Event) -> _Question | None:
        question = self._questions.get(_holder(event))
        return question if question is not None and question.query.tenure == event.tenure else None

    def on_queried(self, event: Event) -> None:
        """The answer must be true, as far as the broker's values were seen."""
        question = self._find(event)
        if question is None:
            return
        question.answer = event
        if event.status == "none":
            self._check_none(event)
        elif event.status == "value":
            self._check_value(event, question)

    def _check_none(self, event: Event) -> None:
        committed = self._commits.table.get((event.group, event.topic, event.broker, event.queue))
        if committed is None or committed.latest.offset < 0:
            return
        if Kind.DELETE not in self.terms.observes:
            self.explain("the group may have been deleted unseen")
        elif self._commits.is_lost_by_restart(committed):
            self.explain("a restart lost the group's first commits")
        elif Hole.K2 in self.terms.holes and committed.count == 1:
            self.explain("K2: racing first commits overwrote each other")
        elif event.replica <= 0:
            self.report(
                f"the broker answers none for {event.group} on {event.topic} {event.broker}:{event.queue} "
                f"though it holds {committed.latest.offset}",
                committed.latest,
                event,
            )

    def _check_value(self, event: Event, question: _Question) -> None:
        key = (event.group, event.topic, event.broker, event.queue)
        committed, before = self._commits.table.get(key), question.value
        if committed is None or before is None or event.offset in (committed.latest.offset, before.offset):
            return
        reset = self._commits.resets.get(key)
        is_moving = committed.latest.sequence > question.query.sequence
        is_decided = reset is not None and (
            reset.sequence > committed.latest.sequence or reset.offset == event.offset
        )
        if is_moving or is_decided or event.replica > 0 or self._commits.stop_after(committed.latest):
            return
        self.report(
            f"the broker answers {event.offset} for {event.group} on {event.topic} "
            f"{event.broker}:{event.queue} though it holds {committed.latest.offset}",
            committed.latest,
            event,
        )

    def on_initial(self, event: Event) -> None:
        """The policy may decide only after an explicit none; a retry topic starts at its beginning."""
        question = self._find(event)
        if question is None:
            return
        question.initial = event
        is_by_time = event.cause == InitialCause.TIMESTAMP
        if event.topic.startswith(RETRY_PREFIX) and event.offset > 0 and not is_by_time:
            self.report(
                f"{event.client} starts the retry topic of {event.group} at {event.offset} instead of 0",
                event,
            )

    def on_own(self, event: Event) -> None:
        """The start is the answer's value, or the policy's after a none, or there is no tenure."""
        self._unpulled[_holder(event)] = event
        question = self._find(event)
        if event.mode == BROADCAST:
            return
        if question is None:
            if event.time_ms - self._begun_ms > self._request_ms:
                self._report_start(event, "without asking the broker")
            return
        self.exercised += 1
        answer = question.answer
        if answer is None:
            self._report_start(event, "before the broker answered", question.query)
        elif answer.status == "value":
            if event.offset != answer.offset:
                self._report_start(event, f"though the broker answered {answer.offset}", answer)
        elif answer.status == "error":
            if question.initial is not None and self._disposal.is_policy_due(event):
                self.explain("K1: an error answer was taken for none")
            else:
                self._report_start(event, "though its query failed", answer)
        else:
            self._check_policy(event, answer, question.initial)

    def _check_policy(self, own: Event, answer: Event, initial: Event | None) -> None:
        if initial is None:
            self._report_start(own, "though the broker answered none and no policy chose", answer)
        elif own.offset != initial.offset:
            self._report_start(own, f"though its policy chose {initial.offset}", initial)

    def _report_start(self, own: Event, why: str, *evidence: Event) -> None:
        self.report(
            f"{own.client} begins tenure {own.tenure} of {own.topic} {own.broker}:{own.queue} "
            f"at {own.offset} {why}",
            *evidence,
            own,
        )

    def on_pull(self, event: Event) -> None:
        """The first pull is where the tenure was told to start; in ordered mode after the lock."""
        if not self._unpulled:
            return
        key = _holder(event)
        own = self._unpulled.get(key)
        if own is None or own.tenure != event.tenure:
            return
        del self._unpulled[key]
        question = self._find(event)
        start, source = own.offset, own
        if question is not None and own.mode == ORDERED:
            self._check_lock(key, question, event)
            again = question.answer if question.initial is None else question.initial
            if again is not None and again.sequence > own.sequence and again.status in {"value", ""}:
                start, source = again.offset, again
        if event.offset != start:
            self.report(
                f"{event.client} first pulls {event.topic} {event.broker}:{event.queue} at {event.offset} "
                f"in a tenure that starts at {start}",
                source,
                event,
            )

    def on_locked(self, event: Event) -> None:
        """A grant begins a hold; a renewal within the lease goes on with it."""
        key = _holder(event)
        if event.outcome is not Outcome.OK:
            self._granted.pop(key, None)
            return
        held = self._granted.get(key)
        goes_on = (
            held is not None
            and held[0].node == event.node
            and event.time_ms - held[1] <= self.terms.constants.lock_lease_ms
        )
        self._granted[key] = (held[0] if held is not None and goes_on else event, event.time_ms)

    def _check_lock(self, key: HolderKey, question: _Question, pull: Event) -> None:
        grant = self._granted.get(key)
        if grant is None or grant[0].sequence < question.query.sequence:
            return
        self.report(
            f"{pull.client} asked for its offset on {pull.topic} {pull.broker}:{pull.queue} "
            f"before it had the lock, and not again",
            question.query,
            grant[0],
            pull,
        )
