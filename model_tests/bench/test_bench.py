"""The bench measures what it says, and its bars can be missed."""

import time

import pytest

from model_tests.bench import figure
from model_tests.bench.figure import Figure, measure_ratio


def test_a_bar_is_met_from_the_right_side() -> None:
    assert [Figure("rate", value, "/s", 10).is_met for value in (9, 10, 11)] == [False, True, True]
    assert [Figure("start", value, "ms", 10, smaller_is_better=True).is_met for value in (9, 10, 11)] == [
        True,
        True,
        False,
    ]


def test_a_subject_twice_as_slow_has_about_half_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(figure, "SECONDS_PER_ROUND", 0.02)
    ratio = measure_ratio(lambda: time.sleep(0.004), lambda: time.sleep(0.008))
    assert 0.4 < ratio < 0.6
