"""A small world of ordered consumption that is right by construction.

Three clients share two ordered queues, second by second. Their wishes change at any time, so they
meet at the lock; listeners take long, suspend, answers are lost, processes crash, stand still or
are shut down, the master restarts with an empty table, an administrator resets a queue.

`flaw` breaks the world in one named place.
"""

from dataclasses import dataclass, field
from random import Random

from spec.history.declaration import Declaration, encode_declaration
from spec.history.event import Event, Outcome
from spec.history.kind import Kind

BROKER = "x"
QUEUES = (0, 1)
RENEW_S, TRUST_S, LEASE_S, UNLOCK_S, PASS_S, PERSIST_S, HELD_S = 20, 30, 60, 20, 20, 5, 15
BATCH = 1_000
"""How many messages a tenure pulls at its beginning: more than it will ever present."""


@dataclass
class Call:
    request: int
    offset: int
    attempt: int
    ends_s: int


@dataclass
class Seat:
    """A client's business with one queue."""

    number: int = 0
    is_live: bool = False
    is_wanted: bool = False
    trusted_s: int | None = None
    position: int = 0
    end: int = 0
    """Where the next pull belongs."""
    attempt: int = 0
    call: Call | None = None
    unlock_s: int | None = None
    is_last: bool = False


@dataclass
class Client:
    name: str
    tick: int
    is_up: bool = True
    is_leaving: bool = False
    paused_until_s: int = 0
    seats: dict[int, Seat] = field(default_factory=lambda: {queue: Seat() for queue in QUEUES})


class LockWorld:
    def __init__(self, chance: Random, flaw: str = "") -> None:
        self.chance = chance
        self.flaw = flaw
        self.now_s = 0
        self.requests = 0
        self.table: dict[int, tuple[str, int]] = {}
        self.committed = dict.fromkeys(QUEUES, 0)
        self.clients = [Client(name, tick) for tick, name in enumerate(("a", "b", "c"))]
        terms = encode_declaration(Declaration(frozenset(Kind)))
        self.events = [Event("run", 0, 0, "world", Kind.BEGIN, detail=terms)]

    def emit(self, node: str, kind: Kind, queue: int | None = None, **columns: object) -> None:
        place = {} if queue is None else {"group": "g", "topic": "T", "broker": BROKER, "queue": queue}
        values = {**place, **columns}
        event = Event("run", len(self.events), self.now_s * 1000, node, kind, **values)  # type: ignore[arg-type]  # by name
        self.events.append(event)

    def run(self, seconds: int) -> list[Event]:
        self.emit(BROKER, Kind.UP, status="broker")
        for client in self.clients:
            self.emit(client.name, Kind.UP, status="client")
        for self.now_s in range(1, seconds):
            self.disturb()
            for client in self.clients:
                if client.is_up and client.paused_until_s < self.now_s:
                    self.live(client)
        return self.events

    def disturb(self) -> None:
        draw, client = self.chance.random(), self.chance.choice(self.clients)
        if draw < 0.02:
            seat = client.seats[self.chance.choice(QUEUES)]
            seat.is_wanted = not seat.is_wanted
        elif draw < 0.024 and client.is_up and client.paused_until_s < self.now_s:
            client.paused_until_s = self.now_s + self.chance.randrange(5, 100)
            self.emit(client.name, Kind.FAULT, cause="pause")
        elif draw < 0.028:
            self.stop_or_start(client)
        elif draw < 0.030:
            self.table.clear()
            self.emit(BROKER, Kind.DOWN, status="crash")
            self.emit(BROKER, Kind.UP, status="broker")
        elif draw < 0.032:
            self.reset(self.chance.choice(QUEUES))

    def stop_or_start(self, client: Client) -> None:
        if not client.is_up:
            client.is_up, client.paused_until_s = True, 0
            self.emit(client.name, Kind.UP, status="client")
        elif self.chance.random() < 0.5:
            client.is_leaving = client.paused_until_s < self.now_s
        else:
            self.stop(client, "crash")

    def stop(self, client: Client, status: str) -> None:
        client.is_up = client.is_leaving = False
        numbers = {queue: seat.number for queue, seat in client.seats.items()}
        client.seats = {queue: Seat(number) for queue, number in numbers.items()}
        self.emit(client.name, Kind.DOWN, status=status)

    def reset(self, queue: int) -> None:
        """Everything older than the reset is fenced; running calls are overtaken."""
        self.committed[queue] = self.chance.randrange(self.committed[queue] + 5)
        self.emit(BROKER, Kind.RESET, queue, offset=self.committed[queue], status="begun")
        for client in self.clients:
            if client.is_up and client.seats[queue].is_live:
                self.drop(client, queue, "reset")
                self.unlock(client, queue)
        self.emit(BROKER, Kind.COMMIT, queue, offset=self.committed[queue], cause="reset")
        self.emit(BROKER, Kind.RESET, queue, offset=self.committed[queue], status="done")

    def live(self, client: Client) -> None:
        if client.paused_until_s:
            client.paused_until_s = 0
            self.emit(client.name, Kind.HEAL, cause="pause")
        if client.is_leaving:
            self.leave(client)
            return
        if self.now_s % RENEW_S == client.tick:
            for queue, seat in client.seats.items():
                if seat.is_live:
                    self.lock(client, queue)
        if self.now_s % PASS_S == client.tick + 5:
            self.make_pass(client)
        for queue, seat in client.seats.items():
            if seat.is_live and self.now_s % HELD_S == client.tick:
                self.pull(client, queue, seat.end, 0)
            if seat.is_live and self.now_s % PERSIST_S == client.tick:
                self.persist(client, queue, seat)
            self.work(client, queue)

    def leave(self, client: Client) -> None:
        for queue, seat in client.seats.items():
            if seat.is_live:
                self.drop(client, queue, "shutdown")
            if seat.call is not None and self.now_s >= seat.call.ends_s:
                self.finish(client, queue, seat.call)
        if all(seat.call is None for seat in client.seats.values()):
            for queue in QUEUES:
                self.unlock(client, queue)
            self.stop(client, "graceful")

    def make_pass(self, client: Client) -> None:
        wanted = tuple(f"{BROKER}:{queue}" for queue, seat in client.seats.items() if seat.is_wanted)
        for queue, seat in client.seats.items():
            if seat.is_live and not seat.is_wanted:
                self.drop(client, queue, "rebalance")
        self.emit(
            client.name,
            Kind.VIEW,
            group="g",
            topic="T",
            client=client.name,
            members=(client.name, f"seen-{self.now_s}"),
            queues=tuple(f"{BROKER}:{queue}" for queue in QUEUES),
            strategy="CONFIG",
            assigned=wanted,
        )
        for queue, seat in client.seats.items():
            if seat.is_wanted and not seat.is_live and seat.call is None and seat.unlock_s is None:
                self.acquire(client, queue, seat)

    def acquire(self, client: Client, queue: int, seat: Seat) -> None:
        if not self.lock(client, queue):
            return
        seat.number += 1
        tenure = {"client": client.name, "tenure": seat.number}
        start = self.committed[queue]
        if self.flaw == "begins ahead" and self.chance.random() < 0.5:
            start += 2
        self.emit(client.name, Kind.QUERY, queue, **tenure)
        self.emit(client.name, Kind.QUERIED, queue, **tenure, status="value", offset=self.committed[queue])
        self.emit(client.name, Kind.OWN, queue, **tenure, offset=start, mode="ordered")
        seat.is_live, seat.position, seat.attempt, seat.end = True, start, 0, start + BATCH
        self.pull(client, queue, start, BATCH)

    def pull(self, client: Client, queue: int, offset: int, count: int) -> None:
        tenure = {"client": client.name, "tenure": client.seats[queue].number, "offset": offset}
        tenure |= {"request": self.next_request()}
        self.emit(client.name, Kind.PULL, queue, **tenure)
        self.emit(
            client.name,
            Kind.PULLED,
            queue,
            **tenure,
            next=offset + count,
            status="found" if count else "no-new",
            offsets=tuple(range(offset, offset + count)),
        )

    def next_request(self) -> int:
        self.requests += 1
        return self.requests

    def lock(self, client: Client, queue: int) -> bool:
        holder, renewed_s = self.table.get(queue, ("", 0))
        lease_s = 10 if self.flaw == "grants too early" else LEASE_S
        is_granted = holder in ("", client.name) or self.now_s - renewed_s > lease_s
        if self.flaw == "refuses what is free" and self.chance.random() < 0.2:
            is_granted = False
        if is_granted:
            self.table[queue] = (client.name, self.now_s)
        outcome = Outcome.OK if is_granted else Outcome.FAIL
        self.emit(BROKER, Kind.LOCK, queue, client=client.name, outcome=outcome)
        if self.chance.random() < 0.03:
            self.emit(client.name, Kind.RPC, client=client.name, outcome=Outcome.UNKNOWN, cause="lock")
            self.emit(client.name, Kind.LOCKED, queue, client=client.name, outcome=Outcome.UNKNOWN)
            return False
        self.emit(client.name, Kind.LOCKED, queue, client=client.name, outcome=outcome)
        if is_granted or self.flaw != "ignores a refusal":
            client.seats[queue].trusted_s = self.now_s if is_granted else None
        return is_granted

    def unlock(self, client: Client, queue: int) -> None:
        client.seats[queue].unlock_s = None
        is_holder = self.table.get(queue, ("", 0))[0] == client.name
        if is_holder:
            del self.table[queue]
        client.seats[queue].trusted_s = None
        outcome = Outcome.OK if is_holder else Outcome.FAIL
        self.emit(BROKER, Kind.UNLOCK, queue, client=client.name, outcome=outcome)

    def drop(self, client: Client, queue: int, cause: str) -> None:
        seat = client.seats[queue]
        seat.is_live = False
        self.emit(client.name, Kind.DISOWN, queue, client=client.name, tenure=seat.number, cause=cause)
        if self.flaw == "unlocks during a call":
            self.unlock(client, queue)
        elif cause == "rebalance" and self.flaw != "never unlocks":
            seat.unlock_s = self.now_s + (UNLOCK_S if self.chance.random() < 0.5 else 0)

    def work(self, client: Client, queue: int) -> None:
        seat = client.seats[queue]
        if seat.call is not None:
            if self.now_s >= seat.call.ends_s:
                self.finish(client, queue, seat.call)
            elif self.flaw == "calls twice at once" and self.chance.random() < 0.05:
                self.begin(client, queue, seat)
        elif seat.unlock_s is not None and self.now_s >= seat.unlock_s:
            self.unlock(client, queue)
        elif seat.is_live and self.is_trusted(seat) and self.chance.random() < 0.3:
            self.begin(client, queue, seat)

    def is_trusted(self, seat: Seat) -> bool:
        if self.flaw == "inverts the expiry":
            return seat.trusted_s is not None and self.now_s - seat.trusted_s > TRUST_S
        if self.flaw == "ignores a refusal":
            return True
        return seat.trusted_s is not None and self.now_s - seat.trusted_s <= TRUST_S

    def begin(self, client: Client, queue: int, seat: Seat) -> None:
        lasts_s = self.chance.choice((1, 1, 2, 5, 40, 90))
        call = Call(self.next_request(), seat.position, seat.attempt, self.now_s + lasts_s)
        seat.call = call
        self.emit(client.name, Kind.START, queue, **self.describe(client, queue, call))

    def describe(self, client: Client, queue: int, call: Call) -> dict[str, object]:
        return {
            "client": client.name,
            "tenure": client.seats[queue].number,
            "offset": call.offset,
            "message": f"m{queue}-{call.offset}",
            "attempt": call.attempt,
            "request": call.request,
        }

    def finish(self, client: Client, queue: int, call: Call) -> None:
        seat = client.seats[queue]
        seat.call = None
        is_good = self.chance.random() < 0.8
        status = "success" if is_good else "suspend"
        self.emit(client.name, Kind.END, queue, **self.describe(client, queue, call), status=status)
        if not seat.is_live:
            return
        if is_good or self.flaw == "forgets what failed":
            seat.position, seat.attempt = call.offset + 1, 0
            if self.flaw == "presents it again" and self.chance.random() < 0.3:
                seat.position = call.offset
            moved = {"client": client.name, "tenure": seat.number, "offset": seat.position}
            self.emit(client.name, Kind.LOCAL, queue, **moved)
        elif self.flaw != "does not count":
            seat.attempt += 1

    def persist(self, client: Client, queue: int, seat: Seat) -> None:
        """The broker takes a position only from the lock's holder, so the group's is never behind it."""
        if seat.position == self.committed[queue]:
            return
        if self.table.get(queue, ("", 0))[0] != client.name:
            self.emit(client.name, Kind.RPC, client=client.name, outcome=Outcome.FAIL, cause="persist")
            return
        self.committed[queue] = seat.position
        who = {"client": client.name, "tenure": seat.number}
        self.emit(BROKER, Kind.COMMIT, queue, **who, offset=seat.position, cause="persist")
