"""How much there was of something lately: the figures that administrators ask for.

A counter only grows. Every ten seconds, every ten minutes and every hour its value is noted, and
what lies between the oldest and the newest note of a span is the figure of the last minute, hour or
day. The figures are as coarse as the notes: what happened since the last note is not in them.

A counter that was never noted has no figures. Its first note is preceded by one of nothing, one
period earlier, so that what a topic got in its first seconds counts as the work of one period.
"""

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

from spec.values.units import Milliseconds


class Span(Enum):
    """The spans, with the time between two notes and how many of these periods are kept."""

    MINUTE = (Milliseconds(10_000), 6)
    HOUR = (Milliseconds(600_000), 6)
    DAY = (Milliseconds(3_600_000), 24)

    @property
    def period_ms(self) -> Milliseconds:
        """The time from one note to the next."""
        return self.value[0]

    @property
    def periods(self) -> int:
        """How many periods make up the span."""
        return self.value[1]


class Sample(NamedTuple):
    """A note: what a counter had come to, and in how many calls."""

    time_ms: int
    total: int
    calls: int


class Figures(NamedTuple):
    """What happened within a span."""

    total: int = 0
    per_second: float = 0.0
    per_call: float = 0.0


def note_sample(samples: tuple[Sample, ...], new: Sample, span: Span) -> tuple[Sample, ...]:
    """The notes of a span with a new one; those that are too old are gone.

    Clause: broker.admin.first-sample
    """
    known = samples or (Sample(new.time_ms - span.period_ms, 0, 0),)
    return (*known, new)[-span.periods - 1 :]


def derive_figures(samples: Sequence[Sample]) -> Figures:
    """What happened between the oldest note and the newest.

    Clause: broker.admin.statistic-span
    """
    if not samples:
        return Figures()
    first, last = samples[0], samples[-1]
    total, calls, time_ms = last.total - first.total, last.calls - first.calls, last.time_ms - first.time_ms
    return Figures(total, total * 1000 / time_ms if time_ms > 0 else 0.0, total / calls if calls > 0 else 0.0)
