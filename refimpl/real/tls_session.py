"""The encryption of one connection, between its socket and its frames.

It works on bytes alone: what came from the socket goes in, and what has to go to the socket comes
out. So a port can look at the first byte before it decides, and no second transport is needed.
"""

import ssl
from typing import Final

HELLO: Final = 0x16
"""The first byte of a TLS connection: a handshake record. No legal frame begins so."""

_READ: Final = 1 << 16


class TlsSession:
    """One TLS connection; every method may raise `ssl.SSLError`."""

    __slots__ = ("_incoming", "_object", "_outgoing", "is_ended", "is_open")

    def __init__(self, context: ssl.SSLContext, *, is_server: bool) -> None:
        self._incoming = ssl.MemoryBIO()
        self._outgoing = ssl.MemoryBIO()
        self._object = context.wrap_bio(self._incoming, self._outgoing, server_side=is_server)
        self.is_open = False
        """Whether the handshake is over."""
        self.is_ended = False
        """Whether the peer said that nothing more will come."""

    def start(self) -> None:
        """A client has said hello; a server waits."""
        self._shake_hands()

    def receive(self, data: bytes) -> bytes:
        """What the peer has sent in clear; nothing while hands are shaken."""
        self._incoming.write(data)
        if not self.is_open:
            self._shake_hands()
        return self._read() if self.is_open else b""

    def send(self, data: bytes) -> None:
        """The data are encrypted; `take` has them."""
        at = 0
        view = memoryview(data)
        while at < len(view):
            at += self._object.write(view[at:])

    def end(self) -> None:
        """The peer will hear that nothing more comes."""
        try:
            self._object.unwrap()
        except ssl.SSLError:
            # The peer's own end has not come yet, or never will: nobody waits for it.
            return

    def take(self) -> bytes:
        """What has to go to the socket."""
        return self._outgoing.read()

    def _shake_hands(self) -> None:
        try:
            self._object.do_handshake()
        except ssl.SSLWantReadError:
            return
        self.is_open = True

    def _read(self) -> bytes:
        parts: list[bytes] = []
        try:
            while part := self._object.read(_READ):
                parts.append(part)
            self.is_ended = True
        except ssl.SSLWantReadError:
            pass
        except ssl.SSLZeroReturnError:
            self.is_ended = True
        return b"".join(parts)
