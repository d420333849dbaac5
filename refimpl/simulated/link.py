"""A connection of the simulated network: two ends, each known to its owner under a number of his own."""

from typing import Protocol

from spec.values.host import Host


class LinkOwner(Protocol):
    """Who is told what happens at an end."""

    @property
    def name(self) -> str:
        """What the trace calls the owner."""

    def on_open(self, end: "LinkEnd", peer: Host) -> None:
        """The connection is open."""

    def on_data(self, end: "LinkEnd", data: bytes) -> None:
        """Bytes have arrived."""

    def on_close(self, end: "LinkEnd") -> None:
        """The connection has ended, or could not be opened."""


class LinkEnd:
    """One end of a connection, from the moment in which it is asked for."""

    def __init__(self, owner: LinkOwner, connection: int, host: Host) -> None:
        self.owner = owner
        self.connection = connection
        self.host = host
        self.is_alive = True
        """Whether the owner still listens: he was not told that the end is closed, and did not vanish."""
        self.is_writable = True
        """Whether the owner may still send: he did not close the end either."""
        self.peer: LinkEnd | None = None
        self.clear_ms = 0
        """When the last that is on its way to this end will have arrived."""

    def join(self, other: "LinkEnd") -> None:
        """The two are the ends of one connection."""
        self.peer, other.peer = other, self
