"""Delay levels of retries."""

import pytest

from spec.broker.schedule import DELAY_LEVELS
from spec.group.retry_delay import (
    DeadLetter,
    Retry,
    derive_attempt_limit,
    derive_delivery_limit,
    derive_fallback_retry,
    derive_retry,
)
from spec.values.units import Milliseconds

SECONDS = [10, 30, 60, 120, 180, 240, 300, 360, 420, 480, 540, 600, 1200, 1800, 3600, 7200]


@pytest.mark.clause("group.retry.level-by-attempts", "group.retry.limit-to-dead-letter")
def test_sixteen_retries_wait_ten_seconds_to_two_hours_and_then_the_message_is_given_up() -> None:
    expected = [Retry(level, Milliseconds(1000 * seconds)) for level, seconds in enumerate(SECONDS, 3)]
    assert [derive_retry(attempts, 0) for attempts in range(17)] == [*expected, DeadLetter()]
    assert derive_delivery_limit() == 17


@pytest.mark.clause("group.retry.limit-to-dead-letter")
def test_message_is_delivered_once_more_than_it_is_retried_and_at_least_once() -> None:
    assert [derive_delivery_limit(limit) for limit in (-1, 0, 1, 2)] == [1, 1, 2, 3]


@pytest.mark.clause("group.retry.level-by-attempts")
def test_asked_level_is_taken_and_clamped() -> None:
    assert [derive_retry(9, level) for level in (1, 18, 19)] == [
        Retry(1, Milliseconds(1000)),
        Retry(18, DELAY_LEVELS[17]),
        Retry(18, DELAY_LEVELS[17]),
    ]


@pytest.mark.clause("group.retry.negative-level-gives-up")
def test_negative_level_gives_up_at_once() -> None:
    assert derive_retry(0, -1) == DeadLetter()


@pytest.mark.clause("group.retry.fallback-one-earlier")
def test_fallback_waits_like_send_back_but_is_given_up_one_attempt_earlier() -> None:
    assert [derive_fallback_retry(attempts) for attempts in range(15)] == [
        derive_retry(attempts, 0) for attempts in range(15)
    ]
    assert derive_fallback_retry(15) == DeadLetter()


@pytest.mark.clause("group.retry.default-limit")
def test_limit_that_was_not_set_is_sixteen() -> None:
    assert [derive_attempt_limit(configured) for configured in (-1, 0, 5)] == [16, 0, 5]
