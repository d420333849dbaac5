"""Figures of a span of time."""

import pytest

from spec.broker.statistic import Figures, Sample, Span, derive_figures, note_sample


@pytest.mark.clause("broker.admin.statistic-span")
def test_figures_are_differences_of_the_oldest_and_the_newest_sample() -> None:
    first, middle, last = Sample(0, 5, 1), Sample(5_000, 100, 50), Sample(10_000, 25, 5)
    assert derive_figures([first, middle, last]) == Figures(20, 2.0, 5.0)
    assert derive_figures([first]) == Figures(0, 0.0, 0.0)
    assert derive_figures([first, first._replace(total=9)]) == Figures(4, 0.0, 0.0)
    assert derive_figures([first, Sample(1_000, 6, 1)]) == Figures(1, 1.0, 0.0)


@pytest.mark.clause("broker.admin.first-sample")
@pytest.mark.parametrize("span", Span)
def test_a_span_keeps_one_sample_more_than_it_has_periods(span: Span) -> None:
    samples: tuple[Sample, ...] = ()
    for number in range(1, 40):
        samples = note_sample(samples, Sample(number * span.period_ms, number, number), span)
        assert len(samples) == min(number, span.periods) + 1
        assert samples[0] == Sample(
            max(0, number - span.periods) * span.period_ms, *(2 * (max(0, number - span.periods),))
        )
        assert samples[-1].total == number


def test_spans_are_a_minute_an_hour_and_a_day() -> None:
    assert [span.period_ms * span.periods for span in Span] == [60_000, 3_600_000, 86_400_000]
