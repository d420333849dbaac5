"""How far groups are."""

import pytest

from model_tests.refimpl.broker.admin_world import GROUP, Administrator, AdminWorld, queue
from spec.broker.subscription_group import BUILT_IN_GROUPS
from spec.values.units import Milliseconds, QueueOffset
from spec.wire.body.statistic import (
    BrokerConsumeStats,
    BrokerStatsData,
    BrokerStatsItem,
    ConsumeProgress,
    ConsumeStats,
    ConsumeTimeSpanBody,
    QueueTimeSpan,
)
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import (
    BrokerConsumeStatsHeader,
    BrokerStatsHeader,
    ConsumeStatsHeader,
    TopicGroupHeader,
)

NEVER_MS = Milliseconds(-1)


class Scene:
    """Three messages in queue 0, two of them consumed; nothing in queue 1."""

    def __init__(self) -> None:
        self.world = AdminWorld()
        self.admin: Administrator = self.world.administrator()
        self.admin.create()
        for _ in range(3):
            self.admin.store(1)
            self.world.run_for(1_000)
        self.times_ms = [message.stored_at_ms for message in self.admin.pull_all("T", 0)]
        self.admin.commit(GROUP, "T", 0, 2)

    def progress(self) -> dict[object, ConsumeProgress]:
        last_ms = Milliseconds(self.times_ms[1])
        return {
            queue(0): ConsumeProgress(QueueOffset(3), QueueOffset(2), last_ms),
            queue(1): ConsumeProgress(),
        }

    def ask(self, topic: str | None = None, group: str = GROUP) -> ConsumeStats:
        header = ConsumeStatsHeader(group, topic)
        return self.admin.fetch(RequestCode.GET_CONSUME_STATS, ConsumeStats, header)


def test_a_group_has_its_progress_in_every_read_queue() -> None:
    scene = Scene()
    answer = scene.admin.call(RequestCode.GET_CONSUME_STATS, ConsumeStatsHeader(GROUP))
    assert answer.body.startswith(
        b'{"consumeTps":0.0,"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:{'
    )
    assert ConsumeStats.decode(answer.body).offset_table == scene.progress()
    assert scene.ask("T").offset_table == scene.progress()
    assert scene.ask("  ").offset_table == scene.progress()
    assert scene.ask("GONE") == ConsumeStats()
    assert scene.ask(None, "nobody") == ConsumeStats()


def test_topics_that_an_online_group_does_not_subscribe_are_passed_over() -> None:
    scene = Scene()
    scene.admin.create("U")
    scene.admin.commit(GROUP, "U", 0, 0)
    assert {one.topic for one in scene.ask().offset_table} == {"T", "U"}
    scene.world.member()
    assert {one.topic for one in scene.ask().offset_table} == {"T"}
    assert scene.ask("U") == ConsumeStats()


@pytest.mark.clause("broker.admin.statistic-span")
def test_the_rate_is_what_was_handed_out_in_the_last_minute() -> None:
    scene = Scene()
    scene.world.run_for(10_000)
    begun_ms = scene.world.world.now_ms
    scene.admin.pull("T", 0, 0)
    scene.world.run_for(10_000)
    rate = scene.ask("T", "interop-consumer").consume_tps
    assert 0 < rate < 1
    assert scene.world.world.now_ms - begun_ms < 20_000


def test_all_groups_are_listed_with_what_they_lag_behind() -> None:
    scene = Scene()
    scene.admin.create("U", 1)
    scene.admin.store(4, "U")
    scene.admin.commit("TOOLS_CONSUMER", "U", 0, 1)
    scene.admin.commit("unknown", "T", 0, 0)
    code = RequestCode.GET_BROKER_CONSUME_STATS
    answer = scene.admin.fetch(code, BrokerConsumeStats, BrokerConsumeStatsHeader(is_order=False))
    listed = {group: stats for one in answer.consume_stats_list for group, stats in one.items()}
    behind = ConsumeProgress(QueueOffset(4), QueueOffset(1), _first_time(scene, "U"))
    assert listed["TOOLS_CONSUMER"] == (ConsumeStats({queue(0, "U"): behind}),)
    assert set(BUILT_IN_GROUPS) <= set(listed)
    assert (answer.broker_addr, answer.total_diff) == ("127.0.0.1:10911", 3)
    ordered = scene.admin.fetch(code, BrokerConsumeStats, BrokerConsumeStatsHeader(is_order=True))
    assert {
        group: stats for one in ordered.consume_stats_list for group, stats in one.items()
    } == dict.fromkeys(listed, ())
    assert ordered.total_diff == 0


def _first_time(scene: Scene, topic: str) -> Milliseconds:
    return Milliseconds(scene.admin.pull_all(topic, 0)[0].stored_at_ms)


def test_a_group_has_its_progress_in_time() -> None:
    scene = Scene()
    header = TopicGroupHeader("T", GROUP)
    answer = scene.admin.fetch(RequestCode.QUERY_CONSUME_TIME_SPAN, ConsumeTimeSpanBody, header)
    first, second, third = map(Milliseconds, scene.times_ms)
    delay_ms = answer.consume_time_span_set[0].delay_time
    assert answer == ConsumeTimeSpanBody(
        (
            QueueTimeSpan(queue(0), first, third, second, delay_ms),
            QueueTimeSpan(queue(1), NEVER_MS, NEVER_MS, NEVER_MS, Milliseconds(0)),
        )
    )
    assert 0 < scene.world.world.now_ms - third - delay_ms < 10
    unknown = scene.admin.fetch(
        RequestCode.QUERY_CONSUME_TIME_SPAN, ConsumeTimeSpanBody, TopicGroupHeader("T", "nobody")
    ).consume_time_span_set[0]
    assert unknown.consume_time_stamp == first
    assert 0 < scene.world.world.now_ms - first - unknown.delay_time < 10
    assert scene.admin.refusal(RequestCode.QUERY_CONSUME_TIME_SPAN, TopicGroupHeader("U", GROUP)) == (
        ResponseCode.TOPIC_NOT_EXIST,
        "the topic U is not on this broker",
    )


@pytest.mark.clause("broker.admin.statistic-span")
def test_a_statistic_is_viewed_by_name_and_key() -> None:
    scene = Scene()
    scene.world.run_for(10_000)
    code = RequestCode.VIEW_BROKER_STATS_DATA
    answer = scene.admin.fetch(code, BrokerStatsData, BrokerStatsHeader("TOPIC_PUT_NUMS", "T"))
    assert (answer.stats_minute.sum, answer.stats_minute.avgpt) == (3, 1.0)
    assert (answer.stats_hour, answer.stats_day) == (BrokerStatsItem(), BrokerStatsItem())
    assert scene.admin.refusal(code, BrokerStatsHeader("TOPIC_PUT_NUMS", "U")) == (
        ResponseCode.SYSTEM_ERROR,
        "nothing was counted as <TOPIC_PUT_NUMS> <U> lately",
    )
