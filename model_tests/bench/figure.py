"""A figure, its bar, and how it is measured: medians of rounds, so that one disturbance does not count."""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

ROUNDS: Final = 7
SECONDS_PER_ROUND: Final = 0.2


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value; `bar` is what it should reach, or stay below if `smaller_is_better`."""

    name: str
    value: float
    unit: str
    bar: float
    smaller_is_better: bool = False

    @property
    def is_met(self) -> bool:
        """Whether the bar is reached."""
        return self.value <= self.bar if self.smaller_is_better else self.value >= self.bar

    def describe_bar(self) -> str:
        """The bar in words."""
        return f"{'at most' if self.smaller_is_better else 'at least'} {format_value(self.bar)}"


def format_value(value: float) -> str:
    """The value as the table and the README show it."""
    return f"{value:.2f}" if value < 10 else f"{value:,.0f}"


def time_once(action: Callable[[], object]) -> float:
    """Seconds of one call."""
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def _repetitions(action: Callable[[], object]) -> int:
    """How many calls fill a round."""
    action()
    return max(1, int(SECONDS_PER_ROUND / max(time_once(action), 1e-7)))


def _time_round(action: Callable[[], object], repetitions: int) -> float:
    started = time.perf_counter()
    for _ in range(repetitions):
        action()
    return (time.perf_counter() - started) / repetitions


def measure_seconds(action: Callable[[], object]) -> float:
    """Seconds of a call: the median over rounds."""
    repetitions = _repetitions(action)
    return statistics.median(_time_round(action, repetitions) for _ in range(ROUNDS))


def measure_ratio(base: Callable[[], object], subject: Callable[[], object]) -> float:
    """The subject's speed as a share of the base's; rounds alternate, so both see the same machine."""
    base_count, subject_count = _repetitions(base), _repetitions(subject)
    return statistics.median(
        _time_round(base, base_count) / _time_round(subject, subject_count) for _ in range(ROUNDS)
    )
