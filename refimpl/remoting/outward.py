"""The ways out of a core that its rooms are handed: telling a peer, and asking it."""

from typing import Protocol

from refimpl.remoting.calls import Continuation


class Push(Protocol):
    """Tells the peer at the other end of a connection; it does not answer."""

    def __call__(self, connection: int, code: int, fields: dict[str, str] | None, body: bytes = b"") -> None:
        """The peer is told."""


class Call(Protocol):
    """Asks the peer at the other end of a connection."""

    def __call__(
        self,
        connection: int,
        code: int,
        fields: dict[str, str] | None,
        body: bytes,
        *,
        now_ms: int,
        timeout_ms: int,
        then: Continuation,
    ) -> None:
        """`then` hears the answer, or that there is none."""
