"""What was counted, over which time."""

from datetime import timedelta, timezone

import pytest

from refimpl.broker.statistics import SAMPLE_MS, StatisticName, Statistics
from refimpl.broker.traffic import Rates, Totals, Traffic
from spec.wire.body.statistic import BrokerStatsData, BrokerStatsItem

DAY_MS = 86_400_000
HOUR_MS = 3_600_000
MIDNIGHT = 1_700_006_400_000
"""Of 2023-11-15, in UTC."""
NOTHING = BrokerStatsItem()


def sample_until(statistics: Statistics, begin_ms: int, end_ms: int) -> None:
    for now_ms in range(begin_ms + SAMPLE_MS, end_ms + 1, SAMPLE_MS):
        statistics.sample(now_ms)


@pytest.mark.clause("broker.admin.first-sample", "broker.admin.statistic-span")
def test_a_minute_shows_what_was_stored_in_it() -> None:
    statistics = Statistics("C", 0)
    statistics.put("T", 3, 300)
    statistics.put("T", 1, 100)
    statistics.sample(10_000)
    assert statistics.view("TOPIC_PUT_NUMS", "T") == BrokerStatsData(
        BrokerStatsItem(4, 0.4, 2.0), NOTHING, NOTHING
    )
    assert statistics.view("TOPIC_PUT_SIZE", "T") == BrokerStatsData(
        BrokerStatsItem(400, 40.0, 200.0), NOTHING, NOTHING
    )
    sample_until(statistics, 10_000, 60_000)
    assert statistics.view("TOPIC_PUT_NUMS", "T") == BrokerStatsData(
        BrokerStatsItem(4, 4 / 60, 2.0), NOTHING, NOTHING
    )
    statistics.sample(70_000)
    assert statistics.view("TOPIC_PUT_NUMS", "T") == BrokerStatsData(NOTHING, NOTHING, NOTHING)


@pytest.mark.clause("broker.admin.statistic-span")
def test_hours_and_days_are_noted_less_often() -> None:
    statistics = Statistics("C", 0)
    statistics.put("T", 6, 60)
    sample_until(statistics, 0, HOUR_MS)
    assert statistics.view("TOPIC_PUT_NUMS", "T") == BrokerStatsData(
        NOTHING, BrokerStatsItem(6, 6 / 3600, 6.0), BrokerStatsItem(6, 6 / 3600, 6.0)
    )
    statistics.sample(HOUR_MS + 600_000)
    assert statistics.view("TOPIC_PUT_NUMS", "T") == BrokerStatsData(
        NOTHING, NOTHING, BrokerStatsItem(6, 6 / 3600, 6.0)
    )


def test_every_statistic_has_its_name_and_key() -> None:
    statistics = Statistics("C", 0)
    statistics.put("T", 2, 20)
    statistics.get("g", "T", 5, 50)
    statistics.get("g", "T", 0, 0)
    statistics.send_back("g", "T")
    statistics.sample(10_000)
    found = {
        (name, key): data.stats_minute
        for name in (*StatisticName, "OTHER")
        for key in ("T", "T@g", "C", "T@h")
        if (data := statistics.view(name, key)) is not None
    }
    assert found == {
        ("TOPIC_PUT_NUMS", "T"): BrokerStatsItem(2, 0.2, 2.0),
        ("TOPIC_PUT_SIZE", "T"): BrokerStatsItem(20, 2.0, 20.0),
        ("GROUP_GET_NUMS", "T@g"): BrokerStatsItem(5, 0.5, 5.0),
        ("GROUP_GET_SIZE", "T@g"): BrokerStatsItem(50, 5.0, 50.0),
        ("SNDBCK_PUT_NUMS", "T@g"): BrokerStatsItem(1, 0.1, 1.0),
        ("BROKER_PUT_NUMS", "C"): BrokerStatsItem(2, 0.2, 0.0),
        ("BROKER_GET_NUMS", "C"): BrokerStatsItem(5, 0.5, 0.0),
    }
    assert statistics.get_rate("g", "T") == 0.5
    assert statistics.get_rate("h", "T") == 0.0


def test_what_was_deleted_is_forgotten() -> None:
    statistics = Statistics("C", 0)
    for topic, group in (("T", "g"), ("T", "h"), ("U", "g")):
        statistics.put(topic, 1, 1)
        statistics.get(group, topic, 1, 1)
        statistics.send_back(group, topic)
    statistics.forget_topic("T")
    statistics.forget_group("g")
    keys = [("TOPIC_PUT_NUMS", "T"), ("TOPIC_PUT_NUMS", "U")]
    keys += [(name, key) for name in ("GROUP_GET_NUMS", "SNDBCK_PUT_NUMS") for key in ("T@h", "U@g")]
    assert [key for key in keys if statistics.view(*key) is not None] == [("TOPIC_PUT_NUMS", "U")]


def test_what_was_idle_for_a_day_is_forgotten() -> None:
    statistics = Statistics("C", 0)
    statistics.put("T", 1, 1)
    for hour in range(1, 25):
        statistics.sample(hour * HOUR_MS)
        assert statistics.view("TOPIC_PUT_NUMS", "T") is not None
    statistics.put("U", 1, 1)
    statistics.sample(25 * HOUR_MS)
    assert statistics.view("TOPIC_PUT_NUMS", "T") is None
    assert statistics.view("TOPIC_PUT_NUMS", "U") is not None
    assert statistics.traffic.put == 2


def test_rates_are_those_of_ten_seconds_a_minute_and_ten_minutes() -> None:
    statistics = Statistics("C", 0)
    traffic = statistics.traffic
    assert traffic.rates(lambda totals: totals.put) == Rates(0.0, 0.0, 0.0)
    sample_until(statistics, 0, 590_000)
    statistics.put("T", 60, 0)
    statistics.get("g", "T", 30, 0)
    statistics.get("g", "T", 0, 0)
    statistics.put_failed()
    statistics.sample(600_000)
    assert traffic.rates(lambda totals: totals.put) == Rates(6.0, 1.0, 0.1)
    assert traffic.now == Totals(60, 0, 1, 1, 1, 30)
    statistics.sample(610_000)
    assert traffic.rates(lambda totals: totals.put) == Rates(0.0, 1.0, 0.1)


def test_a_young_broker_has_rates_over_its_own_time() -> None:
    traffic = Traffic(0, timezone(timedelta(0)))
    traffic.put += 20
    traffic.sample(10_000)
    assert traffic.rates(lambda totals: totals.put) == Rates(2.0, 2.0, 2.0)


@pytest.mark.parametrize("hours", [0, 8])
def test_each_local_midnight_the_totals_are_noted(hours: int) -> None:
    midnight = MIDNIGHT - hours * HOUR_MS
    traffic = Traffic(midnight - 2 * SAMPLE_MS, timezone(timedelta(hours=hours)))
    traffic.put += 1
    traffic.sample(midnight - SAMPLE_MS)
    assert traffic.today_morning == Totals()
    traffic.put += 1
    traffic.sample(midnight)
    assert (traffic.yesterday_morning, traffic.today_morning) == (Totals(), Totals(2))
    traffic.put += 1
    traffic.sample(midnight + DAY_MS)
    assert (traffic.yesterday_morning, traffic.today_morning) == (Totals(2), Totals(3))
