import pytest

from spec.nameserver.liveness import REGISTER_MS, clamp_register_period_ms, is_dropped, is_expired


@pytest.mark.clause("nameserver.liveness.expiry-is-strict")
def test_broker_is_forgotten_one_millisecond_after_two_minutes() -> None:
    assert [is_expired(5, 5 + silence) for silence in (0, 120_000, 120_001)] == [False, False, True]


@pytest.mark.clause("nameserver.liveness.close-drops-at-once")
def test_closed_connection_is_believed_at_once() -> None:
    assert is_dropped(5, 5, is_connection_closed=True)
    assert not is_dropped(5, 120_005, is_connection_closed=False)
    assert is_dropped(5, 120_006, is_connection_closed=False)


@pytest.mark.clause("nameserver.registration.period")
def test_period_is_kept_between_ten_and_sixty_seconds() -> None:
    periods = (0, 10_000, REGISTER_MS, 60_000, 60_001)
    assert [clamp_register_period_ms(period) for period in periods] == [
        10_000,
        10_000,
        30_000,
        60_000,
        60_000,
    ]
