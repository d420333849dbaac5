"""Topics by way of an administrator, and what is left when one was deleted."""

from dataclasses import replace

import pytest

from model_tests.refimpl.broker.admin_world import AdminWorld, queue
from spec.broker.topic import QUEUE_COUNT_LIMIT, TopicConfig, TopicFilter, derive_built_in_topics
from spec.history.kind import Kind
from spec.values.name import AUTO_CREATE_TOPIC, SYSTEM_TOPICS
from spec.wire.body.group import GroupList
from spec.wire.body.statistic import TopicStatsTable
from spec.wire.body.topic import TopicList
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import CreateTopicHeader, TopicHeader

CREATE = CreateTopicHeader("T", AUTO_CREATE_TOPIC, 2, 3, 6, TopicFilter.SINGLE_TAG, order=True)


def test_a_topic_is_made_changed_and_listed() -> None:
    world = AdminWorld()
    admin = world.administrator()
    version = admin.topics().data_version
    admin.call(RequestCode.UPDATE_AND_CREATE_TOPIC, CREATE)
    other = replace(CREATE, perm=4, topic_filter_type=TopicFilter.MULTI_TAG, topic_sys_flag=1)
    admin.call(RequestCode.UPDATE_AND_CREATE_TOPIC, replace(other, topic="U"))
    table = admin.topics()
    built_in = {topic.name: topic for topic in derive_built_in_topics("DefaultCluster", "broker-a")}
    assert table.topic_config_table == {
        **built_in,
        "T": TopicConfig("T", 2, 3, 6),
        "U": TopicConfig("U", 2, 3, 4, TopicFilter.MULTI_TAG, 1),
    }
    assert table.data_version.counter == version.counter + 2
    world.restart()
    assert world.administrator().topics().topic_config_table == table.topic_config_table


@pytest.mark.clause("broker.admin.system-topic", "broker.admin.topic-limits")
@pytest.mark.parametrize(
    ("header", "remark"),
    [
        (replace(CREATE, topic="broker-a"), "the topic broker-a is a system topic"),
        (replace(CREATE, topic="DefaultCluster"), "the topic DefaultCluster is a system topic"),
        (replace(CREATE, topic="TBW102"), "the topic TBW102 is a system topic"),
        (
            replace(CREATE, topic="a b"),
            "the topic 'a b' is not legal: a name has 1 to 127 characters of ^[%|a-zA-Z0-9_-]+$",
        ),
        (replace(CREATE, read_queue_nums=-1), "-1 read queues are not within 0 to 16384"),
        (
            replace(CREATE, write_queue_nums=QUEUE_COUNT_LIMIT + 1),
            "16385 write queues are not within 0 to 16384",
        ),
        (replace(CREATE, perm=22), "permission 22 has bits beside 15"),
    ],
)
def test_a_topic_that_cannot_be_is_refused(header: CreateTopicHeader, remark: str) -> None:
    world = AdminWorld()
    admin = world.administrator()
    before = admin.topics()
    assert admin.refusal(RequestCode.UPDATE_AND_CREATE_TOPIC, header) == (ResponseCode.SYSTEM_ERROR, remark)
    assert admin.topics() == before


@pytest.mark.clause("store.queue.emptied-goes-on", "guarantee.off.decisions-stick")
@pytest.mark.parametrize("is_crash", [False, True])
def test_a_deleted_topic_is_made_again_without_messages_and_offsets(*, is_crash: bool) -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.create("U")
    admin.store(5)
    admin.store(1, "U")
    admin.commit("g", "T", 0, 4)
    admin.commit("g", "U", 0, 1)
    world.run_for(20_000)
    admin.call(RequestCode.DELETE_TOPIC_IN_BROKER, TopicHeader("T"))
    assert admin.refusal(RequestCode.GET_TOPIC_STATS_INFO, TopicHeader("T")) == (
        ResponseCode.TOPIC_NOT_EXIST,
        "the topic T is not on this broker",
    )
    admin.create()
    assert (admin.bounds("T", 0), admin.bounds("U", 0)) == ((5, 5), (0, 1))
    assert admin.consumer_offsets().offset_table == {"U@g": {0: 1}}
    admin.store(1)
    assert [message.queue_offset for message in admin.pull_all("T", 0)] == [5]
    if is_crash:
        world.crash()
        admin = world.administrator()
        assert admin.consumer_offsets().offset_table == {"U@g": {0: 1}}
        admin.store(1)
        offsets = [message.queue_offset for message in admin.pull_all("T", 0)]
        assert offsets == list(range(offsets[0], offsets[0] + len(offsets)))
        assert offsets[-1] >= 5
    (event,) = world.kinds(Kind.DELETE)
    assert (event.status, event.topic, event.broker) == ("topic", "T", "broker-a")
    world.judge()


@pytest.mark.clause("broker.admin.system-topic")
def test_a_system_topic_is_not_deleted() -> None:
    world = AdminWorld()
    admin = world.administrator()
    for topic in ("SCHEDULE_TOPIC_XXXX", "DefaultCluster_REPLY_TOPIC", "rmq_sys_x"):
        assert admin.refusal(RequestCode.DELETE_TOPIC_IN_BROKER, TopicHeader(topic)) == (
            ResponseCode.SYSTEM_ERROR,
            f"the topic {topic} is a system topic",
        )
    assert world.kinds(Kind.DELETE) == []


def test_system_topics_are_listed() -> None:
    admin = AdminWorld().administrator()
    own = {"DefaultCluster", "broker-a", "DefaultCluster_REPLY_TOPIC"}
    answer = admin.fetch(RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_BROKER, TopicList)
    assert answer == TopicList(SYSTEM_TOPICS | own)


def test_who_consumes_a_topic_is_who_subscribes_it_or_has_committed() -> None:
    world = AdminWorld()
    admin = world.administrator()
    world.member(group="online")
    admin.commit("offline", "T", 0, 1)
    admin.commit("other", "U", 0, 1)
    answer = admin.fetch(RequestCode.QUERY_TOPIC_CONSUME_BY_WHO, GroupList, TopicHeader("T"))
    assert answer == GroupList(frozenset({"online", "offline"}))


def test_queues_of_topics_that_are_not_configured_are_cleaned() -> None:
    world = AdminWorld()
    admin = world.administrator()
    for topic in ("T", "U"):
        admin.create(topic)
        admin.store(1, topic)
    admin.commit("g", "T", 0, 1)
    world.broker.parts.topics.remove("T", world.world.now_ms)
    for topic in ("RMQ_SYS_TRANS_OP_HALF_TOPIC", "rmq_sys_x"):
        world.broker.parts.store.queue(topic, 0)
    admin.call(RequestCode.CLEAN_UNUSED_TOPIC)
    assert (admin.bounds("T", 0), admin.bounds("U", 0)) == ((1, 1), (0, 1))
    assert [event.topic for event in world.kinds(Kind.DELETE)] == ["T"]
    assert admin.consumer_offsets().offset_table == {}
    stats = admin.fetch(RequestCode.GET_TOPIC_STATS_INFO, TopicStatsTable, TopicHeader("U"))
    assert set(stats.offset_table) == {queue(0, "U"), queue(1, "U")}
