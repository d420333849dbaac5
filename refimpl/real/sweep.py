"""The look through all connections that ends those which only take a place.

One look for all, not a timer for each: five thousand silent connections cost nothing else.
"""

import asyncio
from collections.abc import Sequence

from refimpl.real.connection import NO_FRAME, Connection
from refimpl.real.node import Node
from refimpl.real.process import Process


class Sweep:
    """Looks through the connections of some nodes, again and again until it is stopped."""

    def __init__(self, process: Process, nodes: Sequence[Node]) -> None:
        self._process = process
        self._nodes = nodes
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """The next look comes by itself."""
        self._timer = self._process.loop.call_later(self._process.limits.sweep_ms / 1000, self._run)

    def stop(self) -> None:
        """There is no next look."""
        if self._timer is not None:
            self._timer.cancel()

    def _run(self) -> None:
        self.start()
        now_ms = self._process.clock.now_ms()
        for node in self._nodes:
            for connection in tuple(node.connections.values()):
                look_at(connection, node, now_ms)
        self._process.flood_log.sweep(now_ms)


def look_at(connection: Connection, node: Node, now_ms: int) -> None:
    """The connection goes on, or it has been ended with a reason.

    Clause: wire.connection.idle-close
    """
    limits = node.limits
    if connection.is_closing:
        if now_ms - connection.closed_ms >= limits.close_ms:
            connection.abort()
    elif connection.is_idle(now_ms, limits.idle_ms):
        node.close(connection.number, f"nothing was read or written for {limits.idle_ms} ms")
    elif connection.frame_began_ms != NO_FRAME and now_ms - connection.frame_began_ms >= limits.frame_ms:
        if not connection.is_waiting_for_us:
            held = connection.held_bytes
            reason = f"a frame is not whole after {limits.frame_ms} ms, {held} bytes of it came"
            connection.refuse("slow", reason)
    elif connection.is_shaking_hands and now_ms - connection.began_ms >= limits.handshake_ms:
        connection.refuse("handshake", f"the TLS handshake is not over after {limits.handshake_ms} ms")
