"""What a process allows its peers: none of them may take what the others need.

Apart from the idle time these are decisions; Apache limits frames and threads, and else nothing.
"""

from dataclasses import dataclass

from spec.wire.connection import CONNECT_TIMEOUT_MS, IDLE_LIMIT_MS
from spec.wire.frame import FRAME_LIMIT

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """For one process."""

    frame_bytes: int = FRAME_LIMIT
    """The largest frame."""
    connections: int = 20_000
    """Open at a time. At the limit, the oldest that never sent a whole frame gives way."""
    idle_ms: int = IDLE_LIMIT_MS
    """How long a connection may be silent in both directions."""
    frame_ms: int = 60_000
    """How long a frame may take from its first byte to its last."""
    handshake_ms: int = 10_000
    """How long a TLS handshake may take."""
    connect_ms: int = CONNECT_TIMEOUT_MS
    frames_per_connection: int = 64
    """Handled in one turn of one connection; the rest waits until others had their turn."""
    frames_per_turn: int = 512
    """Handled in one turn altogether, before answers go out."""
    connection_ms: int = 10
    """How long one connection's frames are handled in one turn; one frame always is."""
    turn_ms: int = 50
    """How long frames are handled in one turn altogether; then answers go out, and the others are next."""
    read_bytes: int = 1 * _MIB
    """Read from one connection in one turn."""
    held_bytes: int = 256 * _MIB
    """Held altogether of frames that are not yet whole. Beyond it, the oldest of them is given up."""
    requests_in_hand: int = 16_384
    """Unanswered on one connection; with more, nothing is read from it until some are answered."""
    write_high_bytes: int = 1 * _MIB
    """Unsent on one connection; with more, none of its requests is handled until the peer reads."""
    write_low_bytes: int = _MIB // 4
    write_limit_bytes: int = 64 * _MIB
    """Unsent on one connection; with more it is closed: its peer does not read."""
    sweep_ms: int = 1_000
    """How often the connections are looked through."""
    close_ms: int = 5_000
    """How long a connection that is closed may take to send what is left."""
