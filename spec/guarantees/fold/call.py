"""What listeners were given and how they answered, tenure by tenure.

A listener call presents one message or a batch; all messages of a call share its request number.
The work of a tenure is the set of offsets it presented, those that succeeded, those it returned
for a retry, and the failures nobody has dealt with yet. Work whose tenure began before the
observation has no mode: rules that need one leave it alone.

The fold also says what the event just taken is about (`work`, `failure`, `is_repeated` ...), so
that the rules which follow need not look it up again.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from spec.guarantees.fold.custody import BROADCAST, ORDERED
from spec.guarantees.fold.offset_set import OffsetSet
from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import Event, Outcome
from spec.history.kind import Kind
from spec.override import override

SETTLED: Final = frozenset({"success", "commit"})
"""Answers of a listener that end the matter."""

FAILED: Final = frozenset({"retry", "suspend", "failed"})
"""Answers after which the message must be seen again. Whether a rollback is one depends on the
consumer: one that commits by itself takes it for a success."""

KEPT_TENURES: Final = 8
"""How many tenures of a client and queue are remembered: late effects name a recent one."""

Place = tuple[str, str, str, int]
"""Group, topic, broker and queue number."""

Post = tuple[str, str, str, str, int]
"""Client, and then the place."""


@dataclass(slots=True)
class GroupWork:
    """What a group did to a queue; when broadcasting, what one member did."""

    started: OffsetSet = field(default_factory=OffsetSet)
    high: int = 0
    """One past the highest offset ever presented."""
    calls: dict[tuple[str, int], "Call"] = field(default_factory=dict)
    """Node and request to the ordered calls that are running."""


@dataclass(slots=True)
class Failure:
    """A message that failed and has neither been returned nor presented again."""

    end: Event
    unreturned: Event | None = None
    """The answer, if returning it did not succeed."""


@dataclass(slots=True, eq=False)
class Work:
    """What one tenure did."""

    post: Post
    node: str
    tenure: int
    group: GroupWork
    own: Event | None = None
    """The beginning of the tenure; none if it was not seen."""
    is_ordered: bool = False
    """Whether this is ordered consumption by a cluster, seen from its beginning."""
    disown: Event | None = None
    predecessor_end: Event | None = None
    """How the client's tenure before this one ended, if it had one."""
    started: OffsetSet = field(default_factory=OffsetSet)
    high: int = 0
    succeeded: OffsetSet = field(default_factory=OffsetSet)
    returned: OffsetSet = field(default_factory=OffsetSet)
    failures: dict[int, Failure] = field(default_factory=dict)
    stored_attempts: dict[int, int] = field(default_factory=dict)
    """Offsets tried again in memory, with the attempt that the stored message has."""
    uncommitted: int | None = None
    """Ordered: the lowest offset that succeeded since the last explicit commit."""
    rolled_back: tuple[int, int] = (0, 0)
    """Ordered: the half-open range that the last rollback brought back."""
    last_end_ms: int | None = None
    """Ordered: when the last call returned."""

    @property
    def place(self) -> Place:
        """The group and the queue."""
        return self.post[1:]


@dataclass(slots=True, eq=False)
class Call:
    """An ordered listener call that is running."""

    work: Work
    start: Event
    pending: int = 1


class Calls(Fold):
    """The work of recent tenures and the ordered calls that are running."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._works: dict[tuple[str, str, str, str, int, int], Work] = {}
        self._numbers: dict[Post, list[int]] = {}
        self._groups: dict[tuple[str, ...] | Place | Post, GroupWork] = {}
        self.work = Work(("", "", "", "", 0), "", 0, GroupWork())
        """Whose event it was."""
        self.failure: Failure | None = None
        """The open failure of the event's message, before the event."""
        self.is_repeated = False
        """Whether the tenure had presented the offset before."""
        self.is_further = False
        """Whether anyone in the group had."""
        self.was_returned = False
        """Whether the tenure had returned the offset before."""
        self.stored_attempt: int | None = None
        """The attempt that the stored message has, if it was tried again in memory."""
        self.began: Call | None = None
        """The ordered call that the event began; none if it only joined one."""
        self.stopped: list[Work] = []
        """The works that a `down` or `up` ended."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.OWN: self.on_own,
            Kind.DISOWN: self.on_disown,
            Kind.START: self.on_start,
            Kind.END: self.on_end,
            Kind.BACK: self.on_back,
            Kind.DOWN: self.on_down,
            Kind.UP: self.on_down,
        }

    def find_latest(self, post: Post) -> Work | None:
        """The work of the client's latest tenure there."""
        numbers = self._numbers.get(post)
        return self._works.get((*post, numbers[-1])) if numbers else None

    def _enter(self, event: Event, own: Event | None) -> Work:
        post = (event.client, event.group, event.topic, event.broker, event.queue)
        is_broadcast = own is not None and own.mode == BROADCAST
        group = self._groups.setdefault(post if is_broadcast else post[1:], GroupWork())
        previous = self.find_latest(post)
        work = Work(post, event.node, event.tenure, group, own)
        work.is_ordered = own is not None and own.mode == ORDERED
        work.predecessor_end = previous.disown if previous is not None else None
        numbers = self._numbers.setdefault(post, [])
        if event.tenure in numbers:
            numbers.remove(event.tenure)
        numbers.append(event.tenure)
        if len(numbers) > KEPT_TENURES:
            del self._works[(*post, numbers.pop(0))]
        self._works[(*post, event.tenure)] = work
        return work

    def _find(self, event: Event) -> Work:
        key = (event.client, event.group, event.topic, event.broker, event.queue, event.tenure)
        return self._works.get(key) or self._enter(event, None)

    def on_own(self, event: Event) -> None:
        """A tenure begins, and nothing has been done in it."""
        self.work = self._enter(event, event)

    def on_disown(self, event: Event) -> None:
        """The tenure is over; calls that are running go on."""
        self.work = self._find(event)
        self.work.disown = event

    def on_start(self, event: Event) -> None:
        """The offset has been presented."""
        offset = event.offset
        key = (event.client, event.group, event.topic, event.broker, event.queue, event.tenure)
        work = self.work = self._works.get(key) or self._enter(event, None)
        group = work.group
        self.is_repeated = offset < work.high and offset in work.started
        self.is_further = offset < group.high and offset in group.started
        work.started.add(offset)
        group.started.add(offset)
        work.high = max(work.high, offset + 1)
        group.high = max(group.high, offset + 1)
        self.failure = work.failures.pop(offset, None) if work.failures else None
        if self.failure is not None:
            work.stored_attempts.setdefault(offset, self.failure.end.attempt)
        self.began = self._join_call(work, event) if work.is_ordered else None

    def _join_call(self, work: Work, event: Event) -> Call | None:
        call = work.group.calls.get((event.node, event.request))
        if call is not None:
            call.pending += 1
            return None
        call = Call(work, event)
        work.group.calls[event.node, event.request] = call
        return call

    def on_end(self, event: Event) -> None:
        """The answer is known: success, or an open failure."""
        work = self.work = self._find(event)
        if event.status in SETTLED:
            work.succeeded.add(event.offset)
            if work.stored_attempts:
                work.stored_attempts.pop(event.offset, None)
        elif event.status in FAILED:
            work.failures[event.offset] = Failure(event)
        if work.is_ordered:
            self._leave_call(work, event)

    def _leave_call(self, work: Work, event: Event) -> None:
        call = work.group.calls.get((event.node, event.request))
        if call is not None:
            call.pending -= 1
            if call.pending == 0:
                del work.group.calls[event.node, event.request]
        work.last_end_ms = event.time_ms
        if event.status == "commit":
            work.uncommitted = None
        elif event.status == "success":
            work.uncommitted = (
                event.offset if work.uncommitted is None else min(work.uncommitted, event.offset)
            )
        elif event.status == "rollback":
            lowest = event.offset if work.uncommitted is None else work.uncommitted
            work.rolled_back = (min(lowest, event.offset), event.offset + 1)

    def on_back(self, event: Event) -> None:
        """A message was returned, or returning it did not succeed."""
        work = self.work = self._find(event)
        self.failure = work.failures.get(event.offset)
        self.was_returned = event.offset in work.returned
        self.stored_attempt = work.stored_attempts.get(event.offset)
        if event.outcome is Outcome.OK:
            work.returned.add(event.offset)
            work.failures.pop(event.offset, None)
            work.stored_attempts.pop(event.offset, None)
        elif self.failure is not None:
            self.failure.unreturned = event

    def on_down(self, event: Event) -> None:
        """A process that stops, or starts anew, has ended its tenures and calls."""
        self.stopped = [work for work in self._works.values() if work.node == event.node]
        for work in self.stopped:
            work.disown = work.disown or event
            self._numbers[work.post].remove(work.tenure)
            del self._works[(*work.post, work.tenure)]
        for group in self._groups.values():
            for key in [key for key in group.calls if key[0] == event.node]:
                del group.calls[key]
