"""Log lines that a peer can cause: a few of each kind, then a count of the others."""

import logging
from typing import Final

from refimpl.real.event_log import tell

LINES: Final = 10
"""Of one kind in one window."""
WINDOW_MS: Final = 10_000


class _Window:
    __slots__ = ("began_ms", "count")

    def __init__(self, began_ms: int) -> None:
        self.began_ms = began_ms
        self.count = 0


class FloodLog:
    """Tells each kind of event at most `LINES` times in a window; kinds are chosen here, never by peers."""

    def __init__(self, logger: logging.Logger, lines: int = LINES, window_ms: int = WINDOW_MS) -> None:
        self._logger = logger
        self._lines = lines
        self._window_ms = window_ms
        self._windows: dict[tuple[int, str], _Window] = {}

    def tell(self, now_ms: int, level: int, event: str, **fields: object) -> None:
        """The event is in the log, or counted."""
        window = self._windows.get((level, event))
        if window is None:
            window = self._windows[level, event] = _Window(now_ms)
        window.count += 1
        if window.count <= self._lines:
            tell(self._logger, level, event, **fields)

    def sweep(self, now_ms: int) -> None:
        """Windows that are over have ended, with a line about what was left out."""
        over = [key for key, window in self._windows.items() if now_ms - window.began_ms >= self._window_ms]
        for key in over:
            self._end(key)

    def end(self) -> None:
        """All windows have ended."""
        for key in tuple(self._windows):
            self._end(key)

    def _end(self, key: tuple[int, str]) -> None:
        level, event = key
        more = self._windows.pop(key).count - self._lines
        if more > 0:
            tell(self._logger, level, event, more=more, seconds=self._window_ms // 1000)
