import pytest

from spec.broker.subscription_group import BUILT_IN_GROUPS, GroupConfig, derive_created_group
from spec.broker.topic import (
    DataVersion,
    TopicConfig,
    TopicFilter,
    advance_version,
    derive_built_in_topics,
    derive_created_topic,
    derive_group_topic,
    is_inherited,
    is_readable,
    is_writable,
)
from spec.values.name import is_topic_legal


@pytest.mark.clause("broker.topic.legal-name")
@pytest.mark.parametrize(
    ("topic", "is_legal"),
    [
        ("T" * 127, True),
        ("T" * 128, False),
        ("", False),
        ("%RETRY%a|b-c_9", True),
        ("a b", False),
        ("a@b", False),
        ("tópico", False),
        ("T\n", False),
    ],
)
def test_topic_name_is_legal_by_length_and_characters(topic: str, *, is_legal: bool) -> None:
    assert is_topic_legal(topic) is is_legal


@pytest.mark.clause("broker.topic.permission-bits")
def test_permission_bits_are_read_write_and_inherit() -> None:
    bits = {p: (is_readable(p), is_writable(p), is_inherited(p)) for p in (0, 1, 2, 4, 6, 7, 8)}
    assert bits == {
        0: (False, False, False),
        1: (False, False, True),
        2: (False, True, False),
        4: (True, False, False),
        6: (True, True, False),
        7: (True, True, True),
        8: (False, False, False),
    }
    assert TopicConfig("T") == TopicConfig("T", 16, 16, 6, TopicFilter.SINGLE_TAG, 0, is_ordered=False)


@pytest.mark.clause("broker.topic.built-in")
def test_built_in_topics_are_those_of_a_fresh_4_9_3() -> None:
    topics = derive_built_in_topics("DefaultCluster", "broker-a")
    assert {t.name: (t.read_queue_count, t.write_queue_count, t.permission) for t in topics} == {
        "SELF_TEST_TOPIC": (1, 1, 6),
        "TBW102": (8, 8, 7),
        "BenchmarkTest": (1024, 1024, 6),
        "DefaultCluster": (16, 16, 7),
        "broker-a": (1, 1, 7),
        "OFFSET_MOVED_EVENT": (1, 1, 6),
        "SCHEDULE_TOPIC_XXXX": (18, 18, 6),
        "DefaultCluster_REPLY_TOPIC": (1, 1, 6),
    }
    without = derive_built_in_topics("DefaultCluster", "broker-a", is_auto_create_enabled=False)
    assert {t.name for t in topics} - {t.name for t in without} == {"TBW102"}
    with_two = derive_built_in_topics("DefaultCluster", "broker-a", template_queue_count=2)
    assert set(with_two) - set(topics) == {TopicConfig("TBW102", 2, 2, 7)}


@pytest.mark.clause("broker.topic.auto-create", "broker.topic.auto-create-drops-inherit")
def test_first_send_creates_a_topic_by_its_template() -> None:
    template = TopicConfig("TBW102", 8, 8, 7, system_flag=1)
    assert derive_created_topic("T", template, 4) == TopicConfig("T", 4, 4, 6, system_flag=1)
    assert derive_created_topic("T", template, 99) == TopicConfig("T", 8, 8, 6, system_flag=1)
    assert derive_created_topic("T", template, -1) == TopicConfig("T", 0, 0, 6, system_flag=1)
    assert derive_created_topic("T", TopicConfig("TBW102", 8, 8, 6), 4) is None
    assert derive_created_topic("T", None, 4) is None


@pytest.mark.clause("broker.topic.retry-created")
def test_retry_and_dead_letter_topics_are_readable_and_writable() -> None:
    assert derive_group_topic("%RETRY%G", 3) == TopicConfig("%RETRY%G", 3, 3, 6)
    assert derive_group_topic("%DLQ%G") == TopicConfig("%DLQ%G", 1, 1, 6)


@pytest.mark.clause("broker.topic.version-advances")
def test_version_counts_changes() -> None:
    assert advance_version(DataVersion(100, 7), 250) == DataVersion(250, 8)


@pytest.mark.clause("broker.group.defaults", "broker.group.auto-create")
def test_first_use_creates_a_group_with_the_defaults() -> None:
    assert derive_created_group("G") == GroupConfig(
        name="G",
        is_consume_enabled=True,
        is_consume_from_minimum_enabled=True,
        is_broadcast_enabled=True,
        retry_queue_count=1,
        retry_limit=16,
        broker_id=0,
        slow_broker_id=1,
        is_change_notified=True,
    )
    assert derive_created_group("G", is_auto_create_enabled=False) is None
    system = derive_created_group("CID_RMQ_SYS_TRANS", is_auto_create_enabled=False)
    assert system == GroupConfig("CID_RMQ_SYS_TRANS")


@pytest.mark.clause("broker.group.built-in")
def test_built_in_groups_are_those_of_a_fresh_4_9_3() -> None:
    assert set(BUILT_IN_GROUPS) == {
        "TOOLS_CONSUMER",
        "FILTERSRV_CONSUMER",
        "SELF_TEST_C_GROUP",
        "CID_ONS-HTTP-PROXY",
        "CID_ONSAPI_PULL",
        "CID_ONSAPI_PERMISSION",
        "CID_ONSAPI_OWNER",
    }
