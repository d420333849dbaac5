"""FIL: who gets which message.

A message is filtered twice: by the broker, which sees only the hash of its tag, and by the
client, which sees the tag. So "the broker sends only what was asked for" is false, since hashes
collide, and "a message that some member wants is consumed" is false in a group whose members
want different things: the broker keeps one expression per group. What holds: what reaches a
listener matches the client's own expression exactly (FIL-1). And what matches the expression
that all members agree on is not passed over: a pull is never evaluated with an older expression
than the puller's, and no answer moves on past a wanted message that was readable (FIL-2).

A message that was pulled under a former expression may be presented after the change. If members
disagree and one of them passes over what another wants, the assumption of equal subscriptions is
broken, and the rule says that it cannot tell.

Events: `subscribe`, `start` with the tag (FIL-1); `dispatch` with the tag, `served` with the
versions, `pulled` and `retain` (FIL-2).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final

from spec.dialects.hole import Hole
from spec.guarantees.fold.call import Calls
from spec.guarantees.fold.log import MASTER
from spec.guarantees.fold.subscription import Interest, Subscriptions
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.history.event import ABSENT, Event, QueueKey, queue_name
from spec.history.kind import Kind
from spec.override import override
from spec.values.name import RETRY_PREFIX

TAGS_KEPT: Final = 16_384
"""How many messages of a queue are remembered with their tags; pulls further behind are not judged."""

JUDGED_ANSWERS: Final = frozenset({"found", "no-new", "no-match"})
"""Answers that claim to have looked at what they pass over."""


class ListenerMatch(Monitor):
    """FIL-1: a listener gets only what its client asked for."""

    rule: ClassVar = Rule("FIL-1", "guarantee.fil.listener-match", frozenset({Kind.START, Kind.SUBSCRIBE}))

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calls = folds.get(Calls)
        self._subscriptions = folds.get(Subscriptions)

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.START: self.on_start}

    def on_start(self, event: Event) -> None:
        """The tag must be among the wanted ones."""
        tag = event.tag
        if not tag:
            return
        interests = self._subscriptions.interests.get((event.client, event.group, event.topic))
        if interests is None:
            return
        self.exercised += 1
        latest = interests[-1]
        if latest.tags and tag not in latest.tags:
            self._check_former(event, latest)

    def _check_former(self, event: Event, latest: Interest) -> None:
        own = self._calls.work.own
        key = (event.client, event.group, event.topic)
        former = self._subscriptions.find_since(key, own.sequence if own is not None else -1)
        if event.topic.startswith(RETRY_PREFIX):
            return
        if all(interest.is_excluded(event.tag) for interest in former):
            self.report(
                f"{event.client} asked for {latest.subscribe.expression!r} of {event.topic} and its listener "
                f"got offset {event.offset} of {queue_name(event.broker, event.queue)} tagged {event.tag!r}",
                latest.subscribe,
                event,
            )
        else:
            self.explain("pulled under a former subscription")


@dataclass(slots=True)
class Tail:
    """The tags of the latest readable messages of a queue."""

    base: int
    tags: list[str] = field(default_factory=list)

    def add(self, offset: int, tag: str) -> None:
        """The message at `offset` is readable; after a gap, only what follows is known."""
        if offset != self.base + len(self.tags):
            self.base = offset
            self.tags.clear()
        elif len(self.tags) >= 2 * TAGS_KEPT:
            del self.tags[:TAGS_KEPT]
            self.base += TAGS_KEPT
        self.tags.append(tag)


class NothingWantedSkipped(Monitor):
    """FIL-2: a pull does not pass over what the group wants."""

    rule: ClassVar = Rule(
        "FIL-2",
        "guarantee.fil.nothing-wanted-skipped",
        frozenset({Kind.SUBSCRIBE, Kind.DISPATCH, Kind.SERVED, Kind.PULLED, Kind.RETAIN}),
        assumes=frozenset({"A3", "A5"}),
    )

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self._calls = folds.get(Calls)
        self._subscriptions = folds.get(Subscriptions)
        self._tails: dict[QueueKey, Tail] = {}
        self._retained: dict[QueueKey, int] = {}
        self._disturbed: set[str] = set()
        """Brokers that had a fault."""

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.DISPATCH: self.on_dispatch,
            Kind.SERVED: self.on_served,
            Kind.PULLED: self.on_pulled,
            Kind.RETAIN: self.on_retain,
            Kind.FAULT: self.on_fault,
            Kind.DOWN: self.on_down,
            Kind.DELETE: self.on_delete,
        }

    def on_dispatch(self, event: Event) -> None:
        """The message can be read from now on."""
        if event.replica not in MASTER:
            return
        key = event.queue_key
        tail = self._tails.get(key)
        if tail is None:
            tail = self._tails[key] = Tail(event.offset)
        tail.add(event.offset, event.tag)

    def on_served(self, event: Event) -> None:
        """A pull is refused rather than evaluated with an older subscription."""
        if ABSENT in (event.version, event.evaluated):
            return
        self.exercised += 1
        if event.evaluated < event.version and event.status != "error":
            self.report(
                f"a pull of {event.client} with subscription {event.version} of {event.topic} was evaluated "
                f"with the older {event.evaluated}",
                event,
            )

    def on_pulled(self, event: Event) -> None:
        """What the answer passes over must be unwanted, unreadable or unknown."""
        if event.next - event.offset <= len(event.offsets) or event.status not in JUDGED_ANSWERS:
            return
        tail = self._tails.get(event.queue_key)
        if tail is None:
            return
        low = max(event.offset, tail.base, self._retained.get(event.queue_key, 0))
        high = min(event.next, tail.base + len(tail.tags))
        if low >= high:
            return
        self.exercised += 1
        interests = self._find_interests(event)
        members = self._find_members(event)
        taken = set(event.offsets)
        for offset in range(low, high):
            if offset not in taken:
                self._check_skipped(event, offset, tail.tags[offset - tail.base], interests, members)

    def _find_interests(self, event: Event) -> list[Interest] | None:
        """What the puller wanted during its tenure; nothing if it wants every message."""
        key = (event.client, event.group, event.topic)
        if key not in self._subscriptions.interests and event.topic == RETRY_PREFIX + event.group:
            return None
        work = self._calls.find_latest((event.client, event.group, event.topic, event.broker, event.queue))
        own = work.own if work is not None else None
        return self._subscriptions.find_since(key, own.sequence if own is not None else -1)

    def _find_members(self, event: Event) -> list[Interest]:
        """What members want that differs from what the puller wants."""
        members = self._subscriptions.members.get((event.group, event.topic), {})
        mine = members.get(event.client)
        return [other for other in members.values() if mine is not None and other.tags != mine.tags]

    def _check_skipped(
        self, event: Event, offset: int, tag: str, interests: list[Interest] | None, members: list[Interest]
    ) -> None:
        if interests is None:
            is_wanted = True
        else:
            is_wanted = bool(interests) and all(
                interest.is_wanted(tag) and (tag or not interest.tags) for interest in interests
            )
        if not is_wanted:
            other = next((other for other in members if tag and other.is_wanted(tag)), None)
            if other is not None:
                self._doubt(event, offset, other)
        elif any(other.is_excluded(tag) or not other.is_readable for other in members):
            self._doubt(event, offset, members[0])
        elif event.broker in self._disturbed and Hole.K5 in self.terms.holes:
            self.explain("an unreadable file was skipped (K5)")
        else:
            queue = queue_name(event.broker, event.queue)
            tagged = f"tagged {tag!r}" if tag else "there"
            self.report(
                f"a pull of {event.client} passed over offset {offset} of {event.topic} {queue}, {tagged} "
                "and wanted",
                *((interests[-1].subscribe,) if interests else ()),
                event,
            )

    def _doubt(self, event: Event, offset: int, other: Interest) -> None:
        self.doubt = (
            f"{event.client} passed over offset {offset} of {event.topic} while {other.subscribe.client} "
            f"subscribes {other.subscribe.expression!r}: members of {event.group} differ (A3)"
        )

    def on_retain(self, event: Event) -> None:
        """What retention removed cannot be read."""
        self._retained[event.queue_key] = event.offset

    def on_fault(self, event: Event) -> None:
        """A broker's disturbance may make files unreadable."""
        self._disturbed.add(event.broker or event.node)

    def on_down(self, event: Event) -> None:
        """A broker that stops may come back without its tail."""
        for key in [key for key in self._tails if key[1] in (event.node, event.broker)]:
            del self._tails[key]

    def on_delete(self, event: Event) -> None:
        """A topic that is made again begins at zero."""
        for key in [key for key in self._tails if event.status == "topic" and key[0] == event.topic]:
            del self._tails[key]
