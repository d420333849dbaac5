"""A small correct world, written down: seeded legal histories for tests and benchmarks.

One broker, one topic, a concurrent and an ordered group, members that come, go and crash,
listeners that sometimes fail. Everything is done the way the clauses demand, so a monitor that
reports anything about such a history is wrong. It is not the simulator: there is no network and
no code of the reference in it, only the order of events that a correct run shows.
"""

import random
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from spec.broker.schedule import DELAY_LEVELS
from spec.group.allocation.averagely import derive_average_slice
from spec.history.declaration import Declaration, encode_declaration
from spec.history.event import Event, Outcome, queue_name
from spec.history.kind import Kind
from spec.values.name import SCHEDULE_TOPIC, dead_letter_topic_of, retry_topic_of

BROKER: Final = "broker-a"
TOPIC: Final = "T"
GROUPS: Final = {"concurrent-group": "concurrent", "ordered-group": "ordered"}
ROUND_MS: Final = 1_000
REBALANCE_ROUNDS: Final = 20
RENEW_ROUNDS: Final = 20
PERSIST_ROUNDS: Final = 5
LEASE_ROUNDS: Final = 60
HOLD_ROUNDS: Final = 15
PULL_BATCH: Final = 8
BUFFER_LIMIT: Final = 24
RETRY_LIMIT: Final = 16
FIRST_RETRY_LEVEL: Final = 3

Place = tuple[str, int]
"""Topic and queue number."""


class Record(NamedTuple):
    """What the broker stored."""

    message: str
    origin: str
    attempt: int


class Waiting(NamedTuple):
    """A delayed message."""

    due_ms: int
    level: int
    offset: int
    record: Record
    target: Place


@dataclass(slots=True)
class Tenure:
    """A queue in a member's hands."""

    number: int
    cursor: int
    local: int
    pending: dict[int, Record] = field(default_factory=dict)
    held_since: int | None = None
    """The round in which its pull was suspended."""
    request: int = 0


@dataclass(slots=True)
class Member:
    """A consumer."""

    name: str
    group: str
    tick: int
    """When in the rebalance interval its passes happen."""
    tenures: dict[Place, Tenure] = field(default_factory=dict)

    @property
    def is_ordered(self) -> bool:
        """Whether its listener is called under the queue's lock."""
        return GROUPS[self.group] == "ordered"


class LegalRun:
    """A world that does nothing wrong."""

    def __init__(
        self, seed: int, *, queue_count: int = 4, sends_a_round: int = 3, is_eventful: bool = True
    ) -> None:
        self._chance = random.Random(seed)
        self._queues: Final = [(TOPIC, number) for number in range(queue_count)]
        self._sends_a_round = sends_a_round
        self._is_eventful = is_eventful
        self._run = f"legal-{seed}"
        self.events: list[Event] = []
        self._round = 0
        self._numbers = 0
        self._log_position = 0
        self._records: dict[Place, list[Record]] = {}
        self._commits: dict[tuple[str, Place], int] = {}
        self._locks: dict[tuple[str, Place], tuple[str, int]] = {}
        """Group and queue to the holder and the round of its last grant."""
        self._delayed: list[Waiting] = []
        self._members: list[Member] = []
        self._abandoned: list[tuple[Tenure, Member, Place]] = []
        """Tenures that ended while the broker held their pull."""
        detail = encode_declaration(Declaration(frozenset(Kind)))
        self._emit(Kind.BEGIN, "recorder", detail=detail)
        self._emit(Kind.UP, "name-server", status="name-server")
        self._emit(Kind.UP, BROKER, status="broker")
        self._emit(Kind.REGISTER, "name-server", broker=BROKER, address="127.0.0.1:10911", replica=0)
        for group in GROUPS:
            for _ in range(2):
                self._join(group)

    def run(self, rounds: int) -> list[Event]:
        """The events of so many seconds, and of all before."""
        for _ in range(rounds):
            self._round += 1
            self._produce()
            self._deliver()
            self._answer_abandoned()
            for member in list(self._members):
                self._work(member)
            if self._is_eventful and self._chance.random() < 0.02:
                self._disturb()
        self._emit(Kind.END_OF_RUN, "recorder")
        return self.events

    def _emit(self, kind: Kind, node: str, place: Place | None = None, /, **columns: object) -> None:
        if place is not None:
            columns |= {"topic": place[0], "broker": BROKER, "queue": place[1]}
        time_ms = self._round * ROUND_MS
        event = Event(self._run, len(self.events), time_ms, node, kind, **columns)  # type: ignore[arg-type]  # by name
        self.events.append(event)

    def _note(self, kind: Kind, member: Member, place: Place, tenure: Tenure, **columns: object) -> None:
        columns |= {"group": member.group, "client": member.name, "tenure": tenure.number}
        self._emit(kind, member.name, place, **columns)

    def _number(self) -> int:
        self._numbers += 1
        return self._numbers

    # The broker

    def _store(self, place: Place, record: Record, **columns: object) -> int:
        records = self._records.setdefault(place, [])
        offset = len(records)
        records.append(record)
        columns |= {"offset": offset, "message": record.message, "position": self._log_position}
        columns |= {"origin": record.origin, "attempt": record.attempt}
        self._emit(Kind.APPEND, BROKER, place, **columns)
        self._emit(Kind.DISPATCH, BROKER, place, **columns)
        self._log_position += 100
        return offset

    def _produce(self) -> None:
        for _ in range(self._chance.randrange(2 * self._sends_a_round + 1)):
            message = f"m{self._number()}"
            place = self._chance.choice(self._queues)
            self._emit(Kind.SEND, "producer", client="producer", topic=TOPIC, message=message)
            offset = self._store(place, Record(message, "", 0))
            sent = {"client": "producer", "message": message, "offset": offset, "outcome": Outcome.OK}
            self._emit(Kind.SENT, "producer", place, **sent)

    def _deliver(self) -> None:
        now_ms = self._round * ROUND_MS
        for waiting in [waiting for waiting in self._delayed if waiting.due_ms <= now_ms]:
            self._delayed.remove(waiting)
            copy = Record(f"r{self._number()}", waiting.record.origin, waiting.record.attempt)
            level = {"broker": BROKER, "level": waiting.level}
            self._store(waiting.target, copy)
            delivered = {
                "offset": waiting.offset,
                "message": waiting.record.message,
                "due_ms": waiting.due_ms,
            }
            self._emit(Kind.DELIVER, BROKER, **level, **delivered, outcome=Outcome.OK)
            self._emit(Kind.CURSOR, BROKER, **level, offset=waiting.offset + 1, status="moved")

    def _answer_abandoned(self) -> None:
        for abandoned in list(self._abandoned):
            tenure, member, place = abandoned
            has_arrival = len(self._records.get(place, [])) > tenure.cursor
            if member not in self._members:
                self._abandoned.remove(abandoned)
            elif has_arrival or self._round - (tenure.held_since or 0) >= HOLD_ROUNDS:
                self._abandoned.remove(abandoned)
                who = {"group": member.group, "client": member.name, "request": tenure.request}
                self._emit(Kind.WAKE, BROKER, place, **who, cause="arrival" if has_arrival else "limit")

    def _commit(self, member: Member, place: Place, tenure: Tenure, cause: str) -> None:
        key = (member.group, place)
        if self._commits.get(key) == tenure.local and cause == "update":
            return
        self._commits[key] = tenure.local
        who = {"group": member.group, "client": member.name, "tenure": tenure.number}
        self._emit(Kind.COMMIT, BROKER, place, **who, offset=tenure.local, cause=cause)

    # Members

    def _join(self, group: str) -> None:
        member = Member(f"c{self._number()}", group, self._chance.randrange(REBALANCE_ROUNDS))
        who = {"group": group, "client": member.name}
        self._emit(Kind.UP, member.name, status="client")
        for topic in (TOPIC, retry_topic_of(group)):
            self._emit(Kind.SUBSCRIBE, member.name, **who, topic=topic, expression="*", version=1)
        self._emit(Kind.JOIN, BROKER, **who, broker=BROKER)
        self._members.append(member)

    def _disturb(self) -> None:
        group = self._chance.choice(list(GROUPS))
        members = [member for member in self._members if member.group == group]
        happening = self._chance.choice(["join", "leave", "crash"])
        if happening == "join" and len(members) < 5:
            self._join(group)
        elif happening != "join" and len(members) > 1:
            member = self._chance.choice(members)
            if happening == "leave":
                for place in list(member.tenures):
                    self._release(member, place, "shutdown")
            self._members.remove(member)
            self._emit(Kind.DOWN, member.name, status="graceful" if happening == "leave" else "crash")
            gone = {"group": group, "client": member.name, "broker": BROKER}
            self._emit(Kind.LEAVE, BROKER, **gone, cause="unregister" if happening == "leave" else "closed")

    def _work(self, member: Member) -> None:
        if self._round % REBALANCE_ROUNDS == member.tick:
            for topic in (TOPIC, retry_topic_of(member.group)):
                self._rebalance(member, topic)
        for place, tenure in list(member.tenures.items()):
            if member.is_ordered and self._round % RENEW_ROUNDS == 0:
                self._lock(member, place)
            self._pull(member, place, tenure)
            self._consume(member, place, tenure)
            if self._round % PERSIST_ROUNDS == 0:
                self._commit(member, place, tenure, "update")

    def _rebalance(self, member: Member, topic: str) -> None:
        queues = self._queues if topic == TOPIC else [(topic, 0)]
        names = sorted(other.name for other in self._members if other.group == member.group)
        start, end = derive_average_slice(len(queues), len(names), names.index(member.name))
        assigned = queues[start:end]
        for place in [place for place in member.tenures if place[0] == topic and place not in assigned]:
            self._release(member, place, "rebalance")
        self._emit(
            Kind.VIEW,
            member.name,
            group=member.group,
            client=member.name,
            topic=topic,
            members=tuple(names),
            queues=tuple(queue_name(BROKER, number) for _, number in queues),
            strategy="AVG",
            assigned=tuple(queue_name(BROKER, number) for _, number in assigned),
        )
        for place in assigned:
            if place not in member.tenures:
                self._acquire(member, place)

    def _lock(self, member: Member, place: Place) -> bool:
        key = (member.group, place)
        holder, granted = self._locks.get(key, (member.name, self._round))
        is_granted = holder == member.name or self._round - granted > LEASE_ROUNDS
        if is_granted:
            self._locks[key] = (member.name, self._round)
        answer = {
            "group": member.group,
            "client": member.name,
            "outcome": Outcome.OK if is_granted else Outcome.FAIL,
        }
        self._emit(Kind.LOCK, BROKER, place, **answer)
        self._emit(Kind.LOCKED, member.name, place, **answer)
        return is_granted

    def _acquire(self, member: Member, place: Place) -> None:
        if member.is_ordered and not self._lock(member, place):
            return
        tenure = Tenure(self._number(), 0, 0)
        self._note(Kind.QUERY, member, place, tenure)
        value = self._commits.get((member.group, place))
        if value is None:
            self._note(Kind.QUERIED, member, place, tenure, status="none")
            self._note(Kind.INITIAL, member, place, tenure, offset=0, cause="first")
        else:
            self._note(Kind.QUERIED, member, place, tenure, status="value", offset=value)
            tenure.cursor = tenure.local = value
        self._note(Kind.OWN, member, place, tenure, offset=tenure.cursor, mode=GROUPS[member.group])
        member.tenures[place] = tenure

    def _release(self, member: Member, place: Place, cause: str) -> None:
        tenure = member.tenures.pop(place)
        if tenure.held_since is not None:
            self._abandoned.append((tenure, member, place))
        self._note(Kind.DISOWN, member, place, tenure, cause=cause)
        self._commit(member, place, tenure, "update")
        if member.is_ordered:
            del self._locks[member.group, place]
            who = {"group": member.group, "client": member.name}
            self._emit(Kind.UNLOCK, BROKER, place, **who, outcome=Outcome.OK)

    def _pull(self, member: Member, place: Place, tenure: Tenure) -> None:
        if len(tenure.pending) > BUFFER_LIMIT:
            counts = {"message_count": len(tenure.pending), "offsets": tuple(tenure.pending)}
            self._note(Kind.FLOW, member, place, tenure, cause="count", **counts)
            return
        at_broker = {"group": member.group, "client": member.name}
        found = self._records.get(place, [])[tenure.cursor : tenure.cursor + PULL_BATCH]
        if tenure.held_since is None:
            tenure.request = self._number()
            self._note(Kind.PULL, member, place, tenure, offset=tenure.cursor, request=tenure.request)
            if not found:
                tenure.held_since = self._round
                held = {"offset": tenure.cursor, "request": tenure.request}
                self._emit(Kind.HOLD, BROKER, place, **at_broker, **held)
        if tenure.held_since is not None:
            if not found and self._round - tenure.held_since < HOLD_ROUNDS:
                return
            cause = "arrival" if found else "limit"
            self._emit(Kind.WAKE, BROKER, place, **at_broker, request=tenure.request, cause=cause)
            tenure.held_since = None
        offsets = tuple(range(tenure.cursor, tenure.cursor + len(found)))
        answer: dict[str, object] = {
            "offset": tenure.cursor,
            "next": tenure.cursor + len(found),
            "request": tenure.request,
        }
        answer["status"] = "found" if found else "no-new"
        self._emit(Kind.SERVED, BROKER, place, **at_broker, **answer)
        self._note(Kind.PULLED, member, place, tenure, **answer, offsets=offsets)
        tenure.pending.update(zip(offsets, found, strict=True))
        tenure.cursor += len(found)

    def _consume(self, member: Member, place: Place, tenure: Tenure) -> None:
        order: Iterable[int] = list(tenure.pending)[:PULL_BATCH]
        if not member.is_ordered:
            order = self._chance.sample(list(order), len(list(order)))
        for offset in order:
            if self._chance.random() < 0.1:
                return
            if not self._call(member, place, tenure, offset):
                return

    def _call(self, member: Member, place: Place, tenure: Tenure, offset: int) -> bool:
        record = tenure.pending[offset]
        call = {
            "offset": offset,
            "message": record.message,
            "origin": record.origin,
            "attempt": record.attempt,
        }
        call["request"] = self._number()
        self._note(Kind.START, member, place, tenure, **call)
        is_success = self._chance.random() < 0.95
        if is_success:
            self._note(Kind.END, member, place, tenure, **call, status="success")
        elif member.is_ordered:
            self._note(Kind.END, member, place, tenure, **call, status="suspend")
            tenure.pending[offset] = record._replace(attempt=record.attempt + 1)
            return False
        else:
            self._note(Kind.END, member, place, tenure, **call, status="retry")
            self._send_back(member, place, tenure, offset)
        del tenure.pending[offset]
        local = min(tenure.pending, default=tenure.cursor)
        if local != tenure.local:
            tenure.local = local
            self._note(Kind.LOCAL, member, place, tenure, offset=local)
        return True

    def _send_back(self, member: Member, place: Place, tenure: Tenure, offset: int) -> None:
        record = tenure.pending[offset]
        origin = record.origin or record.message
        is_dead = record.attempt >= RETRY_LIMIT
        level = 0 if is_dead else FIRST_RETRY_LEVEL + record.attempt
        copy = Record(f"r{self._number()}", origin, record.attempt + 1)
        if is_dead:
            self._store((dead_letter_topic_of(member.group), 0), copy)
        else:
            due_ms = self._round * ROUND_MS + DELAY_LEVELS[level - 1]
            stored = self._store((SCHEDULE_TOPIC, level - 1), copy, level=level, due_ms=due_ms)
            self._delayed.append(Waiting(due_ms, level, stored, copy, (retry_topic_of(member.group), 0)))
        self._note(
            Kind.BACK,
            member,
            place,
            tenure,
            offset=offset,
            message=record.message,
            origin=origin,
            attempt=copy.attempt,
            level=level,
            status="dead-letter" if is_dead else "retry",
            outcome=Outcome.OK,
            cause="listener",
        )
