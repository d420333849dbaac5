"""The one timer of a node: it rings when its core wants to be woken."""

import asyncio
from collections.abc import Callable

from refimpl.agenda import NEVER


class Alarm:
    """Rings once for each time it was set; one that rings too early costs a turn and harms nobody."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ring: Callable[[], None]) -> None:
        self._loop = loop
        self._ring = ring
        self._set_ms = NEVER
        self._timer: asyncio.TimerHandle | None = None

    def set(self, deadline_ms: int, now_ms: int) -> None:
        """It rings at the deadline at the latest."""
        if deadline_ms >= self._set_ms:
            return
        self.stop()
        self._set_ms = deadline_ms
        delay_seconds = max(deadline_ms - now_ms, 0) / 1000
        self._timer = self._loop.call_at(self._loop.time() + delay_seconds, self._on_time)

    def stop(self) -> None:
        """It does not ring."""
        if self._timer is not None:
            self._timer.cancel()

    def _on_time(self) -> None:
        self._timer = None
        self._set_ms = NEVER
        self._ring()
