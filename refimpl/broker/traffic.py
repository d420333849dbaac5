"""How much goes through a broker as a whole: Apache's StoreStatsService and BrokerStats.

Totals count from the start of the broker. Rates are those of the last ten seconds, minute and ten
minutes. At each midnight the totals are noted, so that a day's work is a difference.
"""

from collections import deque
from collections.abc import Callable
from datetime import date, datetime, tzinfo
from typing import Final, NamedTuple

KEPT: Final = 61
"""Notes of the totals, one each ten seconds: ten minutes lie between the first and the last."""

RATE_STEPS: Final = (1, 6, 60)
"""How many notes back the three rates look: ten seconds, a minute, ten minutes."""


class Totals(NamedTuple):
    """What has happened since the broker started."""

    put: int = 0
    """Messages stored."""
    put_bytes: int = 0
    put_failed: int = 0
    """Sends that were not stored."""
    found: int = 0
    """Pulls that found something."""
    missed: int = 0
    """Pulls that found nothing."""
    transferred: int = 0
    """Messages handed to consumers."""


class Rates(NamedTuple):
    """Of the last ten seconds, the last minute, the last ten minutes; each second."""

    ten_seconds: float
    minute: float
    ten_minutes: float


class Traffic:
    """Totals, and what they were."""

    def __init__(self, now_ms: int, zone: tzinfo) -> None:
        """Nothing yet."""
        self.started_at_ms = now_ms
        self._zone = zone
        self._day = self._date(now_ms)
        self.put = self.put_bytes = self.put_failed = self.found = self.missed = self.transferred = 0
        self.today_morning = self.yesterday_morning = Totals()
        self._notes: deque[tuple[int, Totals]] = deque([(now_ms, Totals())], maxlen=KEPT)

    def _date(self, now_ms: int) -> date:
        return datetime.fromtimestamp(now_ms / 1000, self._zone).date()

    @property
    def now(self) -> Totals:
        """What it has come to."""
        return Totals(self.put, self.put_bytes, self.put_failed, self.found, self.missed, self.transferred)

    def sample(self, now_ms: int) -> None:
        """The totals are noted; on a new day they are those of this morning."""
        totals = self.now
        self._notes.append((now_ms, totals))
        day = self._date(now_ms)
        if day != self._day:
            self._day = day
            self.yesterday_morning, self.today_morning = self.today_morning, totals

    def rates(self, of: Callable[[Totals], int]) -> Rates:
        """How fast a total has grown; what is older than the broker does not count."""
        last_ms, last = self._notes[-1]
        rates: list[float] = []
        for steps in RATE_STEPS:
            first_ms, first = self._notes[max(0, len(self._notes) - 1 - steps)]
            grown = of(last) - of(first)
            rates.append(grown * 1000 / (last_ms - first_ms) if last_ms > first_ms else 0.0)
        return Rates(*rates)
