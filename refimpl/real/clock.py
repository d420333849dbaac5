"""The time that cores are told: the wall clock, except that it never goes back.

Leases, holds and expiries are differences of such times, so a step back would make them longer,
and a time that stands still would stop them. When somebody sets the wall clock back, this clock
goes on at half speed until the wall clock has caught up with it.
"""

import time
from collections.abc import Callable
from typing import Final

_NANOSECONDS_A_MILLISECOND: Final = 1_000_000
_SLOWED: Final = 2
"""A decision: fast enough for every timer to fire, slow enough to be caught up with."""


class Clock:
    """Milliseconds since 1970."""

    def __init__(
        self, wall: Callable[[], int] = time.time_ns, steady: Callable[[], int] = time.monotonic_ns
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._latest = wall()
        self._latest_steady = steady()

    def now_ms(self) -> int:
        """The time; at least what the last call said."""
        wall, steady = self._wall(), self._steady()
        if wall < self._latest:
            wall = self._latest + (steady - self._latest_steady) // _SLOWED
        self._latest = wall
        self._latest_steady = steady
        return wall // _NANOSECONDS_A_MILLISECOND
