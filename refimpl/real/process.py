"""What the roles of one process share: its time, its threads, its memory and its places for peers."""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from refimpl.real.clock import Clock
from refimpl.real.event_log import ROOT
from refimpl.real.flood_log import FloodLog
from refimpl.real.limit import Limits

if TYPE_CHECKING:
    from refimpl.real.connection import Connection

THREADS: Final = 2
"""Syncs that may run at a time: one of the log and one of the queues."""


class Process:
    """One per event loop."""

    def __init__(self, limits: Limits | None = None, clock: Clock | None = None) -> None:
        self.limits = limits or Limits()
        self.clock = clock or Clock()
        self.loop = asyncio.get_running_loop()
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="sync")
        self.flood_log = FloodLog(logging.getLogger(f"{ROOT}.connection"))
        self.held_bytes = 0
        """Read and not yet handled, over all connections."""
        self.connections: dict[int, Connection] = {}
        """Those that peers opened, by their number; the oldest stands first."""
        self._strangers: dict[int, Connection] = {}
        """Those of them that never sent a whole frame, as far as anybody looked."""
        self._opened_count = 0

    @property
    def is_over(self) -> bool:
        """Whether more is held than may be."""
        return self.held_bytes > self.limits.held_bytes

    def enter(self, connection: "Connection") -> bool:
        """Whether there is a place for the connection; it has a number then."""
        if len(self.connections) >= self.limits.connections and not self._make_place():
            return False
        self._opened_count += 1
        connection.number = self._opened_count
        self.connections[connection.number] = connection
        self._strangers[connection.number] = connection
        return True

    def leave(self, connection: "Connection") -> None:
        """Its place is free, and what was held for it is not held."""
        self.connections.pop(connection.number, None)
        self._strangers.pop(connection.number, None)
        self.held_bytes -= connection.held_bytes
        connection.held_bytes = 0

    def relieve(self) -> None:
        """No more is held than may be: the frames that take longest are given up."""
        while self.is_over:
            holding = [each for each in self.connections.values() if each.held_bytes and not each.is_closing]
            if not holding:
                return
            oldest = min(holding, key=lambda each: each.frame_began_ms)
            reason = f"{self.held_bytes} bytes of unfinished frames are held, and this one is the oldest"
            oldest.refuse("memory", reason)

    def _make_place(self) -> bool:
        """Whether a connection that never said anything has given way."""
        while self._strangers:
            number = next(iter(self._strangers))
            stranger = self._strangers.pop(number)
            if not stranger.has_sent_frame and not stranger.is_closing:
                stranger.refuse("crowded", "all places are taken, and it never sent a whole frame")
                stranger.abort()
                # Its end is told by the loop; its place is needed now.
                self.connections.pop(number, None)
                return True
        return False

    def close(self) -> None:
        """No thread runs any more."""
        self.threads.shutdown()
        self.flood_log.end()
