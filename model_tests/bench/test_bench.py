"""The bench measures what it says, and its bars can be missed."""

import json
import time
from pathlib import Path
from typing import Final

import pytest

from model_tests.bench.figure import Figure, format_value, measure_ratio

ROOT: Final = Path(__file__).parents[2]


def test_a_bar_is_met_from_the_right_side() -> None:
    assert [Figure("rate", value, "/s", 10).is_met for value in (9, 10, 11)] == [False, True, True]
    assert [Figure("start", value, "ms", 10, smaller_is_better=True).is_met for value in (9, 10, 11)] == [
        True,
        True,
        False,
    ]


def test_a_subject_twice_as_slow_has_half_the_speed(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]

    def spend(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    assert measure_ratio(lambda: spend(0.004), lambda: spend(0.008)) == pytest.approx(0.5)


def test_readme_shows_the_figures_of_the_last_bench() -> None:
    report = json.loads((ROOT / "docs" / "reports" / "bench.json").read_text("utf-8"))
    readme = (ROOT / "README.md").read_text("utf-8")
    for row in report["figures"]:
        assert f"| {row['name']} | {format_value(row['value'])} {row['unit']} |" in readme
