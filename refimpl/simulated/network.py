"""The simulated network: who listens where, and how long everything takes that is on its way.

Bytes arrive in their order and at most once. What one end sent before it closed still arrives; what
is on its way to an end that closes does not.
"""

from collections.abc import Callable
from itertools import count
from random import Random
from typing import Final

from refimpl.simulated.delivery import Delivery, DeliveryKind
from refimpl.simulated.link import LinkEnd, LinkOwner
from refimpl.simulated.scheduler import Scheduler
from spec.values.host import Host

FIRST_LINK_PORT: Final = 40_000
"""The port of the first connection at the side that asked for it; the next one has the next."""
LINK_PORTS: Final = 20_000


class Network:
    """Links between owners; chance says how long each thing takes that is sent."""

    def __init__(
        self, scheduler: Scheduler, random: Random, latencies_ms: range, watch: Callable[[Delivery], None]
    ) -> None:
        self._scheduler = scheduler
        self._random = random
        self._latencies_ms = latencies_ms
        self._watch = watch
        self._listeners: dict[str, tuple[LinkOwner, Host]] = {}
        self._numbers = count(1)
        self._ports = count()

    def listen(self, host: Host, owner: LinkOwner) -> None:
        """Whoever connects to the host reaches this owner."""
        if str(host) in self._listeners:
            raise ValueError(f"{owner.name} cannot listen: {host} is in use")
        self._listeners[str(host)] = (owner, host)

    def stop_listening(self, host: Host) -> None:
        """Nobody is reached at the host."""
        del self._listeners[str(host)]

    def connect(self, owner: LinkOwner, connection: int, source: bytes, address: str) -> LinkEnd:
        """The end of a connection that will be open, or else closed, after some time."""
        port = FIRST_LINK_PORT + next(self._ports) % LINK_PORTS
        end = LinkEnd(owner, connection, Host(source, port))
        self._carry(end, lambda: self._accept(end, address))
        return end

    def send(self, end: LinkEnd, data: bytes) -> None:
        """The bytes are on their way to the other end; where there is none they are lost."""
        peer = end.peer
        if peer is not None and end.is_writable:
            self._carry(peer, lambda: self._deliver(peer, DeliveryKind.DATA, data))

    def close(self, end: LinkEnd) -> None:
        """The end's owner will be told that it is closed, and the other one after what was sent before."""
        if end.is_writable:
            end.is_writable = False
            self._scheduler.after(0, lambda _: self._close(end))

    def reset(self, end: LinkEnd) -> None:
        """The end is gone with its owner, who is told nothing."""
        if end.is_alive:
            end.is_alive = end.is_writable = False
            self._end_peer(end)

    def _close(self, end: LinkEnd) -> None:
        self._end_peer(end)
        self._deliver(end, DeliveryKind.CLOSE)

    def _end_peer(self, end: LinkEnd) -> None:
        peer = end.peer
        if peer is not None:
            self._carry(peer, lambda: self._deliver(peer, DeliveryKind.CLOSE))

    def _accept(self, end: LinkEnd, address: str) -> None:
        """Whoever listens at the address has the other end."""
        if not end.is_alive:
            return
        found = self._listeners.get(address)
        if found is None:
            self._carry(end, lambda: self._deliver(end, DeliveryKind.CLOSE))
            return
        owner, host = found
        other = LinkEnd(owner, next(self._numbers), host)
        end.join(other)
        self._deliver(other, DeliveryKind.OPEN)
        self._carry(end, lambda: self._deliver(end, DeliveryKind.OPEN))

    def _carry(self, end: LinkEnd, arrive: Callable[[], None]) -> None:
        """It arrives at the end after a while, and after all that was sent there before."""
        latency_ms = self._random.choice(self._latencies_ms)
        end.clear_ms = max(end.clear_ms, self._scheduler.now_ms + latency_ms)
        self._scheduler.at(end.clear_ms, lambda _: arrive())

    def _deliver(self, end: LinkEnd, kind: DeliveryKind, data: bytes = b"") -> None:
        """The owner knows, if he still cares."""
        if not end.is_alive:
            return
        self._watch(Delivery(self._scheduler.now_ms, end.owner.name, kind, end.connection, data))
        if kind is DeliveryKind.DATA:
            end.owner.on_data(end, data)
        elif kind is DeliveryKind.CLOSE:
            end.is_alive = end.is_writable = False
            end.owner.on_close(end)
        elif end.peer is not None:
            end.owner.on_open(end, end.peer.host)
