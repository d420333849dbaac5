"""A small world that is right by construction, for histories that no rule may complain about.

Two clients share the queues of a topic and of its retry topic. Passes come at different times, so
queues have two owners or none for a while; listeners fail, returns are refused or unanswered,
stores are in flight for seconds and overtake each other, clients crash, the broker restarts with a
table of some seconds ago, an administrator resets. Every step is drawn from one source of chance.

`flaw` breaks the world in one named place.
"""

from dataclasses import dataclass, field
from random import Random

from spec.history.declaration import Declaration, encode_declaration
from spec.history.event import Event, Outcome
from spec.history.kind import Kind

BROKER = "x"
GROUP = "g"
RETRY_TOPIC = "%RETRY%g"
QUEUES = (("T", 0), ("T", 1), (RETRY_TOPIC, 0))
Queue = tuple[str, int]


@dataclass
class Held:
    tenure: int
    cursor: int
    position: int
    highest: int
    custody: dict[int, int] = field(default_factory=dict)
    """Offset to the attempt that the client counts."""
    running: dict[int, int] = field(default_factory=dict)
    """Offset to the number of the call."""


@dataclass
class Client:
    name: str
    is_up: bool = True
    tenures: dict[Queue, int] = field(default_factory=dict)
    held: dict[Queue, Held] = field(default_factory=dict)
    known: list[str] = field(default_factory=list)
    stored_at_ms: int = 0


@dataclass
class Store:
    due_ms: int
    queue: Queue
    value: int
    client: str
    tenure: int
    cause: str


class World:
    def __init__(self, chance: Random, flaw: str = "") -> None:
        self.chance = chance
        self.flaw = flaw
        self.now_ms = 0
        self.events: list[Event] = []
        self.log: dict[Queue, list[tuple[str, str, int]]] = {queue: [] for queue in QUEUES}
        self.committed: dict[Queue, int] = {}
        self.flushed: dict[Queue, int] = {}
        self.flushed_at_ms = 0
        self.stores: list[Store] = []
        self.delayed: list[tuple[int, int, str, str, int]] = []
        self.delay_ends: dict[int, int] = {}
        self.clients = [Client("a"), Client("b")]
        self.calls = 0
        self.position = 0
        self.emit(Kind.BEGIN, "recorder", detail=encode_declaration(Declaration(frozenset(Kind))))
        self.begin = self.events[0]

    def emit(self, kind: Kind, node: str, **columns: object) -> None:
        if node in {"a", "b"}:
            columns.setdefault("client", node)
        self.events.append(
            Event("run", len(self.events), self.now_ms, node, kind, **columns)  # type: ignore[arg-type]  # columns by name
        )

    def at(self, queue: Queue) -> dict[str, object]:
        return {"topic": queue[0], "broker": BROKER, "queue": queue[1]}

    def of(self, client: Client, queue: Queue) -> dict[str, object]:
        return {"group": GROUP, **self.at(queue), "tenure": client.held[queue].tenure}

    # The broker.

    def append(self, queue: Queue, message: str, origin: str = "", attempt: int = 0) -> None:
        offset = len(self.log[queue])
        self.log[queue].append((message, origin, attempt))
        self.position += 100
        columns = self.at(queue) | {"offset": offset, "message": message, "position": self.position}
        if origin:
            columns |= {"origin": origin, "attempt": attempt}
        self.emit(Kind.APPEND, BROKER, **columns)

    def produce(self) -> None:
        queue = self.chance.choice(QUEUES[:2])
        self.append(queue, f"m{queue[1]}-{len(self.log[queue])}")

    def commit(self, queue: Queue, value: int, cause: str, **who: object) -> None:
        self.committed[queue] = value
        columns = self.at(queue) | {"group": GROUP, "offset": value, "cause": cause} | who
        self.emit(Kind.COMMIT, BROKER, **columns)

    def deliver_due(self) -> None:
        for entry in [entry for entry in self.delayed if entry[0] <= self.now_ms]:
            self.delayed.remove(entry)
            due_ms, offset, message, origin, attempt = entry
            self.append(QUEUES[2], message, origin, attempt)
            level = 2 + attempt
            delivered = {"broker": BROKER, "level": level, "offset": offset, "message": message}
            self.emit(Kind.DELIVER, BROKER, **delivered, due_ms=due_ms, outcome=Outcome.OK)
            self.emit(Kind.CURSOR, BROKER, broker=BROKER, level=level, offset=offset + 1, status="moved")

    def apply_stores(self) -> None:
        due = [store for store in self.stores if store.due_ms <= self.now_ms]
        for store in sorted(due, key=lambda store: store.due_ms):
            self.stores.remove(store)
            self.commit(store.queue, store.value, store.cause, client=store.client, tenure=store.tenure)

    def flush(self) -> None:
        if self.now_ms - self.flushed_at_ms >= 4_000:
            self.flushed = dict(self.committed)
            self.flushed_at_ms = self.now_ms

    def restart_broker(self) -> None:
        self.emit(Kind.DOWN, BROKER, status="crash")
        self.stores.clear()
        self.committed = dict(self.flushed)
        self.emit(Kind.UP, BROKER, status="broker")

    def reset(self) -> None:
        queue = self.chance.choice(QUEUES[:2])
        offset = self.chance.randrange(len(self.log[queue]) + 1)
        columns = self.at(queue) | {"group": GROUP, "offset": offset}
        self.emit(Kind.RESET, BROKER, status="begun", **columns)
        for client in self.clients:
            if queue in client.held and self.flaw != "reset does not fence":
                self.drop(client, queue, "reset", is_stored=False)
        if self.flaw != "reset does not fence":
            self.stores = [store for store in self.stores if store.queue != queue]
        self.commit(queue, offset, "reset")
        self.emit(Kind.RESET, BROKER, status="done", **columns)

    # The clients.

    def rebalance(self, client: Client) -> None:
        if self.chance.random() < 0.8 or not client.known:
            client.known = sorted(other.name for other in self.clients if other.is_up)
        for topic in ("T", RETRY_TOPIC):
            queues = [queue for queue in QUEUES if queue[0] == topic]
            mine = self.allocate(client, queues)
            for queue in [queue for queue in client.held if queue[0] == topic and queue not in mine]:
                self.drop(client, queue, "rebalance", is_stored=True)
            self.emit(
                Kind.VIEW,
                client.name,
                group=GROUP,
                topic=topic,
                members=tuple(client.known),
                queues=tuple(f"{BROKER}:{queue[1]}" for queue in queues),
                strategy="AVG_BY_CIRCLE",
                assigned=tuple(f"{BROKER}:{queue[1]}" for queue in mine),
            )
            for queue in mine:
                if queue not in client.held:
                    self.acquire(client, queue)

    def allocate(self, client: Client, queues: list[Queue]) -> list[Queue]:
        if client.name not in client.known:
            return []
        place = client.known.index(client.name)
        if self.flaw == "members sort differently" and client.name == "b":
            place = len(client.known) - 1 - place
        return [queue for number, queue in enumerate(queues) if number % len(client.known) == place]

    def acquire(self, client: Client, queue: Queue) -> None:
        tenure = client.tenures[queue] = client.tenures.get(queue, 0) + 1
        columns = {"group": GROUP, **self.at(queue), "tenure": tenure}
        self.emit(Kind.QUERY, client.name, **columns)
        answer = self.committed.get(queue)
        if self.chance.random() < 0.1:
            self.emit(Kind.QUERIED, client.name, **columns, status="error", outcome=Outcome.FAIL)
            if self.flaw != "error is none":
                return
            answer = None
        elif answer is None:
            self.emit(Kind.QUERIED, client.name, **columns, status="none")
        else:
            self.emit(Kind.QUERIED, client.name, **columns, status="value", offset=answer)
        if answer is None:
            is_last = queue[0] == "T" and self.chance.random() < 0.5
            answer = len(self.log[queue]) if is_last else 0
            self.emit(Kind.INITIAL, client.name, **columns, offset=answer, cause="policy")
        self.emit(Kind.OWN, client.name, **columns, offset=answer, mode="concurrent")
        client.held[queue] = Held(tenure, answer, answer, answer - 1)

    def drop(self, client: Client, queue: Queue, cause: str, *, is_stored: bool) -> None:
        held = client.held[queue]
        self.emit(Kind.DISOWN, client.name, **self.of(client, queue), cause=cause)
        if is_stored:
            self.send_store(client, queue, held, "update")
        del client.held[queue]

    def send_store(self, client: Client, queue: Queue, held: Held, cause: str) -> None:
        value = held.position
        if self.flaw == "commits what was pulled":
            value = held.cursor
        delay_ms = self.chance.choice((0, 0, 300, 1_500))
        self.stores.append(Store(self.now_ms + delay_ms, queue, value, client.name, held.tenure, cause))

    def store_all(self, client: Client) -> None:
        if client.is_up and self.now_ms - client.stored_at_ms >= 4_000 and self.flaw != "never stores":
            client.stored_at_ms = self.now_ms
            for queue, held in client.held.items():
                self.send_store(client, queue, held, "update")

    def pull(self, client: Client, queue: Queue) -> None:
        held = client.held[queue]
        self.calls += 1
        columns = self.of(client, queue) | {"offset": held.cursor, "request": self.calls}
        self.emit(Kind.PULL, client.name, **columns)
        if self.chance.random() < 0.3:
            self.send_store(client, queue, held, "pull")
        end = min(len(self.log[queue]), held.cursor + 4)
        if held.cursor > len(self.log[queue]):
            raise AssertionError("the world never loses its tail")
        admitted = tuple(offset for offset in range(held.cursor, end) if offset % 5 != 3)
        status = "found" if admitted else "no-match" if end > held.cursor else "no-new"
        self.emit(Kind.PULLED, client.name, **columns, next=end, status=status, offsets=admitted)
        held.cursor = end
        for offset in admitted:
            held.custody[offset] = self.log[queue][offset][2]
        if admitted:
            held.highest = admitted[-1]
        elif not held.custody:
            self.move(client, queue, end)

    def move(self, client: Client, queue: Queue, position: int) -> None:
        held = client.held[queue]
        if position > held.position:
            held.position = position
            self.emit(Kind.LOCAL, client.name, **self.of(client, queue), offset=position)

    def message(self, client: Client, queue: Queue, offset: int) -> dict[str, object]:
        name, origin, _ = self.log[queue][offset]
        columns = self.of(client, queue) | {"offset": offset, "message": name}
        return columns | ({"origin": origin} if origin else {})

    def start(self, client: Client, queue: Queue) -> None:
        held = client.held[queue]
        waiting = [offset for offset in held.custody if offset not in held.running]
        if not waiting:
            return
        offset = self.chance.choice(waiting)
        self.calls += 1
        held.running[offset] = self.calls
        call = {"attempt": held.custody[offset], "request": self.calls}
        self.emit(Kind.START, client.name, **self.message(client, queue, offset), **call)

    def end(self, client: Client, queue: Queue) -> None:
        held = client.held[queue]
        if not held.running:
            return
        offset = self.chance.choice(sorted(held.running))
        attempt = held.custody[offset]
        call = {"attempt": attempt, "request": held.running.pop(offset)}
        is_done = attempt >= 10 or self.chance.random() < 0.7
        status = "success" if is_done else "retry"
        self.emit(Kind.END, client.name, **self.message(client, queue, offset), **call, status=status)
        if not is_done and not self.give_back(client, queue, offset):
            held.custody[offset] = attempt + 1
            if self.flaw != "refused return is forgotten":
                return
        del held.custody[offset]
        self.move(client, queue, min(held.custody, default=held.highest + 1))

    def give_back(self, client: Client, queue: Queue, offset: int) -> bool:
        name, origin, attempt = self.log[queue][offset]
        outcome = self.chance.choice((Outcome.OK, Outcome.OK, Outcome.FAIL, Outcome.UNKNOWN))
        level = 3 + attempt
        if outcome is not Outcome.FAIL:
            self.store_copy(level, origin or name, attempt + 1)
        back = {"attempt": attempt + 1, "level": level, "status": "retry", "cause": "listener"}
        self.emit(Kind.BACK, client.name, **self.message(client, queue, offset), **back, outcome=outcome)
        return outcome is Outcome.OK

    def store_copy(self, level: int, origin: str, attempt: int) -> None:
        self.position += 100
        copy, due_ms = f"r{self.position}", self.now_ms + 10_000
        offset = self.delay_ends.get(level, 0)
        self.delay_ends[level] = offset + 1
        self.emit(
            Kind.APPEND,
            BROKER,
            topic="SCHEDULE_TOPIC_XXXX",
            broker=BROKER,
            queue=level - 1,
            offset=offset,
            message=copy,
            origin=origin,
            attempt=attempt,
            position=self.position,
            due_ms=due_ms,
        )
        self.delayed.append((due_ms, offset, copy, origin, attempt))

    def crash(self, client: Client) -> None:
        self.emit(Kind.DOWN, client.name, status="crash")
        client.is_up = False
        client.held.clear()
        client.tenures.clear()
        client.known = []

    def recover(self, client: Client) -> None:
        self.emit(Kind.UP, client.name, status="client")
        client.is_up = True

    # The course of things.

    def step(self) -> None:
        self.now_ms += self.chance.choice((0, 0, 1, 100, 700))
        self.apply_stores()
        self.deliver_due()
        self.flush()
        for client in self.clients:
            self.store_all(client)
        drawn = self.chance.random()
        if drawn < 0.01:
            self.restart_broker()
        elif drawn < 0.02:
            self.reset()
        elif drawn < 0.2:
            self.produce()
        else:
            self.act(self.chance.choice(self.clients), drawn)

    def act(self, client: Client, drawn: float) -> None:
        if not client.is_up:
            if drawn < 0.3:
                self.recover(client)
            return
        if drawn < 0.21:
            self.crash(client)
        elif drawn < 0.3:
            self.rebalance(client)
        elif client.held:
            queue = self.chance.choice(sorted(client.held))
            if drawn < 0.6:
                self.pull(client, queue)
            elif drawn < 0.8:
                self.start(client, queue)
            else:
                self.end(client, queue)

    def run(self, steps: int) -> list[Event]:
        for _ in range(steps):
            self.step()
        return self.events
