"""Signals that end the process: the first asks it to, the second does not ask."""

import asyncio
import os
import signal
from types import FrameType
from typing import Final

SIGNALS: Final = (signal.SIGINT, signal.SIGTERM)
_SHELL_BASE: Final = 128
"""What shells add to the number of a signal that ended a process."""


class Stop:
    """Set by the first signal.

    The handlers are the interpreter's, not the loop's: they run also while the loop is busy, in a
    recovery that takes long or a disk that hangs.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._event = asyncio.Event()
        self._is_asked = False
        for number in SIGNALS:
            signal.signal(number, self._on_signal)

    @property
    def is_asked(self) -> bool:
        """Whether the process is to end."""
        return self._is_asked

    async def wait(self) -> None:
        """The process is to end."""
        await self._event.wait()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        if self._is_asked:
            os._exit(_SHELL_BASE + number)
        self._is_asked = True
        self._loop.call_soon_threadsafe(self._event.set)
