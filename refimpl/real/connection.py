"""One connection: bytes from the socket wait here for their turn, frames to the peer are sent at its end.

Nothing is decided here. A connection counts what it holds and what it owes, and reads only while
that is little; its node takes frames out when it is its turn.
"""

import asyncio
import ssl
from typing import TYPE_CHECKING, Final

from refimpl.real.tls import TlsMode, explain_failure
from refimpl.real.tls_session import HELLO, TlsSession
from spec.override import override
from spec.rejection import Rejection
from spec.wire.connection import is_idle
from spec.wire.frame import Frame, FrameReader
from spec.wire.remoting_header import is_oneway, is_response

if TYPE_CHECKING:
    from refimpl.real.node import Node

NO_FRAME: Final = -1
"""The time of a frame that has not begun."""


class Connection(asyncio.Protocol):
    """A connection of a node, opened by a peer or by the node itself."""

    __slots__ = (
        "_is_reading",
        "_node",
        "_tls",
        "_transport",
        "_unsent_bytes",
        "began_ms",
        "close_reason",
        "closed_ms",
        "fed_bytes",
        "frame_began_ms",
        "has_backlog",
        "has_sent_frame",
        "held_bytes",
        "in_hand",
        "is_closing",
        "is_ended",
        "is_fast",
        "is_open",
        "is_shut",
        "is_stuffed",
        "last_read_ms",
        "last_write_ms",
        "number",
        "out",
        "peer",
        "reader",
    )

    def __init__(self, node: "Node", number: int = 0, *, is_fast: bool = False) -> None:
        self._node = node
        self._transport: asyncio.Transport | None = None
        self._tls: TlsSession | None = None
        self._is_reading = True
        self._unsent_bytes = 0
        self.number = number
        """Negative if the node asked for it; 0 until it is admitted."""
        self.is_fast = is_fast
        """Whether it came in on the fast port."""
        self.peer = "?"
        self.reader = FrameReader(frame_limit=node.limits.frame_bytes)
        self.out: list[bytes] = []
        """Frames to be written at the end of the turn."""
        self.began_ms = self.last_read_ms = self.last_write_ms = 0
        self.frame_began_ms = NO_FRAME
        """Since when the peer has been sending a frame that is not whole yet."""
        self.held_bytes = 0
        """What the process counts as held for this connection."""
        self.fed_bytes = 0
        """Read since its last turn."""
        self.in_hand = 0
        """Requests without their answer."""
        self.has_backlog = False
        """Whether whole frames may wait for the next turn."""
        self.has_sent_frame = False
        self.is_stuffed = False
        """Whether the peer does not read fast enough."""
        self.is_ended = False
        """Whether the peer has sent all it will send."""
        self.is_open = False
        """Whether the core knows it."""
        self.is_closing = False
        """Whether nothing more is taken from the peer; what it is owed is still sent."""
        self.is_shut = False
        """Whether the core closed it: what is sent after that is dropped."""
        self.close_reason = ""
        self.closed_ms = 0

    # What the loop calls

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's classes, but have all their methods.
        self._transport = transport  # type: ignore[assignment]
        self._node.admit(self)

    @override
    def data_received(self, data: bytes) -> None:
        if self.is_closing:
            return
        node = self._node
        node.traffic.bytes_in += len(data)
        self.last_read_ms = node.clock.now_ms()
        if self._tls is not None or (not self.has_sent_frame and self._choose_tls(data[0])):
            data = self._decrypt(data)
        self.feed(data)

    @override
    def eof_received(self) -> bool:
        self.is_ended = True
        self._node.make_ready(self)
        # What it asked before it ended is answered; the node closes it after that.
        return True

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._node.drop(self, exc)

    @override
    def pause_writing(self) -> None:
        self.is_stuffed = True
        self.choose_reading()

    @override
    def resume_writing(self) -> None:
        self.is_stuffed = False
        self.last_write_ms = self._node.clock.now_ms()
        self._node.make_ready(self)

    # What the node calls

    @property
    def transport(self) -> asyncio.Transport:
        """The socket's; there is one from `connection_made` on."""
        if self._transport is None:
            raise ValueError("the connection is not made yet")
        return self._transport

    def feed(self, data: bytes) -> None:
        """The bytes wait for the connection's turn."""
        if not data or self.is_closing:
            return
        node = self._node
        self.reader.feed(data)
        self.fed_bytes += len(data)
        if self.frame_began_ms == NO_FRAME:
            self.frame_began_ms = self.last_read_ms
        self.count_held()
        if self.fed_bytes >= node.limits.read_bytes or node.process.is_over:
            self.has_backlog = True
            self.choose_reading()
        node.make_ready(self)

    def count_held(self) -> None:
        """The process knows how many bytes wait here."""
        waiting = self.reader.waiting
        self._node.process.held_bytes += waiting - self.held_bytes
        self.held_bytes = waiting

    @property
    def is_waiting(self) -> bool:
        """Whether none of its requests is handled for now: its peer has to read, or to be answered, first."""
        return self.is_stuffed or self.in_hand >= self._node.limits.requests_in_hand

    def take(self) -> Frame | None:
        """The next whole frame; None if there is none, or it has to wait."""
        if self.is_waiting:
            return None
        frame = self.reader.take()
        if frame is None:
            return None
        if not (is_oneway(frame.flag) or is_response(frame.flag)):
            self.in_hand += 1
        self.has_sent_frame = True
        # Whatever is left has just begun to be waited for.
        self.frame_began_ms = self.last_read_ms
        return frame

    def end_turn(self, *, has_more: bool) -> None:
        """Its turn is over; it is read from again unless frames wait."""
        self.fed_bytes = 0
        self.count_held()
        if not self.held_bytes:
            self.frame_began_ms = NO_FRAME
        self.has_backlog = has_more and self.held_bytes >= self._node.limits.read_bytes
        self.choose_reading()

    def choose_reading(self) -> None:
        """The socket is read from exactly if there is room for what comes."""
        wanted = not (self.is_waiting or self.has_backlog or self.is_ended or self.is_closing)
        if wanted is self._is_reading or self._transport is None or self._transport.is_closing():
            return
        self._is_reading = wanted
        if wanted:
            self._transport.resume_reading()
        else:
            self._transport.pause_reading()

    def add(self, data: bytes, *, is_answer: bool) -> None:
        """The frame goes out at the end of the turn."""
        self.out.append(data)
        if not is_answer or not self.in_hand:
            return
        was_waiting = self.is_waiting
        self.in_hand -= 1
        if was_waiting and not self.is_waiting:
            self._node.make_ready(self)

    def write(self) -> None:
        """What was added has gone to the socket; a connection that is to end has been closed behind it."""
        if self.out:
            data = self.out[0] if len(self.out) == 1 else b"".join(self.out)
            self.out.clear()
            self._write(data)
        if self.is_closing:
            self._end_writing()

    def refuse(self, kind: str, reason: str) -> None:
        """It is closed because of its peer."""
        self._node.refuse(self, kind, reason)

    def close(self, reason: str) -> None:
        """Nothing more is taken from the peer, and the socket is closed once all is written."""
        self.is_closing = True
        self.closed_ms = self._node.clock.now_ms()
        self.close_reason = reason
        # What was read and not taken is given back at once: there may be much of it.
        self.reader = FrameReader()
        self.count_held()
        self.choose_reading()

    def abort(self) -> None:
        """The socket is closed; what was not sent is lost."""
        self.is_closing = True
        self.out.clear()
        self.transport.abort()

    def start_tls(self) -> None:
        """A connection that the node opened says its hello."""
        context = self._node.tls.outward
        if context is not None:
            self._tls = TlsSession(context, is_server=False)
            self._tls.start()
            self._send_encrypted()

    @property
    def is_shaking_hands(self) -> bool:
        """Whether TLS was begun and is not open yet."""
        return self._tls is not None and not self._tls.is_open

    @property
    def is_waiting_for_us(self) -> bool:
        """Whether its bytes wait because we do not take them."""
        return not self._is_reading

    def is_idle(self, now_ms: int, idle_ms: int) -> bool:
        """Whether both sides have been silent for so long.

        Clause: wire.connection.idle-close
        """
        if self.is_stuffed:
            self._look_at_progress(now_ms)
        return is_idle(self.last_read_ms, self.last_write_ms, now_ms, idle_ms)

    def _look_at_progress(self, now_ms: int) -> None:
        """A peer that reads slowly, but reads, is not silent."""
        unsent = self.transport.get_write_buffer_size()
        if unsent < self._unsent_bytes:
            self.last_write_ms = now_ms
        self._unsent_bytes = unsent

    # Writing

    def _write(self, data: bytes) -> None:
        node = self._node
        if self.transport.is_closing():
            return
        if self._tls is not None:
            try:
                self._tls.send(data)
            except ssl.SSLError as error:
                node.refuse(self, "tls", explain_failure(error))
                return
            self._send_encrypted()
        else:
            self._send(data)
        if self.is_stuffed:
            self._check_unsent()
        else:
            self.last_write_ms = node.clock.now_ms()

    def _send(self, data: bytes) -> None:
        self._node.traffic.bytes_out += len(data)
        self.transport.write(data)

    def _check_unsent(self) -> None:
        unsent = self.transport.get_write_buffer_size()
        limit = self._node.limits.write_limit_bytes
        if unsent > limit:
            reason = f"it does not read: {unsent} bytes wait for it, expected at most {limit}"
            self._node.refuse(self, "unread", reason)
            self.abort()

    def _end_writing(self) -> None:
        if self.transport.is_closing():
            return
        if self._tls is not None and self._tls.is_open:
            self._tls.end()
            self._send_encrypted()
        self.transport.close()

    # TLS

    def _choose_tls(self, first: int) -> bool:
        """Whether the connection is encrypted from its first byte on; refused if it must be and is not."""
        tls = self._node.tls
        if self.reader.waiting or self.number < 0 or tls.inward is None:
            return False
        if first == HELLO:
            self._tls = TlsSession(tls.inward, is_server=True)
            return True
        if tls.mode is TlsMode.ENFORCING:
            self._node.refuse(
                self, "plain", f"first byte 0x{first:02x}: this port expects TLS, its mode is enforcing"
            )
        return False

    def _decrypt(self, data: bytes) -> bytes:
        if self._tls is None:
            return b""
        was_open = self._tls.is_open
        try:
            plain = self._tls.receive(data)
        except ssl.SSLError as error:
            # The alert that says why belongs to the peer.
            self._send_encrypted()
            self._node.refuse(self, "tls", explain_failure(error))
            return b""
        self._send_encrypted()
        if self._tls.is_ended:
            self.is_ended = True
            self._node.make_ready(self)
        if self._tls.is_open and not was_open and self.number < 0:
            self._node.open(self)
        return plain

    def _send_encrypted(self) -> None:
        if self._tls is not None and (data := self._tls.take()):
            self._send(data)


def derive_refusal(rejection: Rejection) -> str:
    """Why a connection ends whose bytes were no frames."""
    return f"byte {rejection.position}: {rejection.reason} [{rejection.clause}]"
