"""Who holds the lock of which queue, as the broker decided, and how earlier holders lost it.

A lock is a lease in the memory of one master: it belongs to a client id, is renewed by asking
again, and is gone when the master restarts. The fold believes the broker's decisions; whether
they were right is for the rules to say.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from spec.guarantees.fold.call import Place
from spec.guarantees.monitor import Fold, Folds, Handler, Terms
from spec.history.event import ABSENT, Event, Outcome
from spec.history.kind import Kind
from spec.override import override


class Loss(Enum):
    """How a client lost a lock."""

    EXPIRED = "its lease ran out"
    TAKEN = "it was granted to another while its lease was valid"
    UNLOCKED = "it unlocked"
    RESTART = "the master restarted or changed"


@dataclass(slots=True)
class Lease:
    """An entry of the lock table."""

    client: str
    since: Event
    """The decision that made the entry."""
    renewed: Event
    """The latest one that kept it."""


@dataclass(slots=True)
class Lock:
    """All that was seen of one lock."""

    lease: Lease | None = None
    free_since: Event | None = None
    """Since when nobody is known to hold it; none if that is not known."""
    losses: dict[str, tuple[Loss, Event]] = field(default_factory=dict)
    """Client to how it lost the lock, until it is granted again."""


class Leases(Fold):
    """The lock tables of all masters."""

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.locks: dict[Place, Lock] = {}
        self.before: Lease | None = None
        """The entry as the event just taken found it."""
        self._begun: dict[str, Event] = {}
        """Broker to the latest start of its master."""
        self._lease_ms = terms.constants.lock_lease_ms

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {
            Kind.LOCK: self.on_lock,
            Kind.UNLOCK: self.on_unlock,
            Kind.UP: self.on_up,
            Kind.DOWN: self.on_down,
        }

    def find(self, event: Event) -> Lock:
        """The lock that the event is about."""
        place = (event.group, event.topic, event.broker, event.queue)
        lock = self.locks.get(place)
        if lock is None:
            lock = self.locks[place] = Lock(free_since=self._begun.get(event.broker))
        elif lock.lease is not None and lock.lease.renewed.node != event.node:
            self._lose(lock, Loss.RESTART, event)
            lock.free_since = None
        return lock

    def slack_ms(self, event: Event) -> int:
        """How far the observer's time may be from the broker's: nothing if it is the broker."""
        return 0 if event.node.startswith(event.broker) else self.terms.constants.request_limit_ms

    def is_expired(self, lease: Lease, event: Event) -> bool:
        """Whether more than the lease time has passed between the last grant and the event."""
        return event.time_ms - lease.renewed.time_ms > self._lease_ms

    def on_lock(self, event: Event) -> None:
        """A grant makes or renews the entry; a refusal changes nothing."""
        lock = self.find(event)
        lease = self.before = lock.lease
        if event.outcome is Outcome.UNKNOWN:
            lock.lease, lock.free_since = None, None
        if event.outcome is not Outcome.OK:
            return
        if lease is not None and lease.client == event.client:
            lease.renewed = event
            return
        if lease is not None:
            expired = self.is_expired(lease, event)
            lock.losses[lease.client] = (Loss.EXPIRED if expired else Loss.TAKEN, event)
        lock.lease, lock.free_since = Lease(event.client, event, event), None
        lock.losses.pop(event.client, None)

    def on_unlock(self, event: Event) -> None:
        """The holder's unlock frees the lock; another's changes nothing."""
        lock = self.find(event)
        lease = self.before = lock.lease
        if event.outcome is Outcome.UNKNOWN:
            lock.lease, lock.free_since = None, None
        elif event.outcome is Outcome.OK and (lease is None or lease.client == event.client):
            lock.losses[event.client] = (Loss.UNLOCKED, event)
            lock.lease, lock.free_since = None, event

    def on_up(self, event: Event) -> None:
        """A master begins with an empty table."""
        broker = event.broker or event.node
        self._empty(event, broker)
        if event.status == "broker" and event.replica in (ABSENT, 0) and not self._is_replica(event):
            self._begun[broker] = event
            for place, lock in self.locks.items():
                if place[2] == broker:
                    lock.free_since = event

    def _is_replica(self, event: Event) -> bool:
        return event.replica == ABSENT and event.broker not in ("", event.node)

    def on_down(self, event: Event) -> None:
        """The table of a broker that stops is gone."""
        self._empty(event, event.broker or event.node)

    def _empty(self, event: Event, broker: str) -> None:
        self._begun.pop(broker, None)
        for place, lock in self.locks.items():
            if place[2] == broker or (lock.lease is not None and lock.lease.renewed.node == event.node):
                self._lose(lock, Loss.RESTART, event)
                lock.free_since = None

    def _lose(self, lock: Lock, loss: Loss, event: Event) -> None:
        if lock.lease is not None:
            lock.losses[lock.lease.client] = (loss, event)
            lock.lease = None
