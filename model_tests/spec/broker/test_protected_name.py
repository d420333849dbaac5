"""Topics and groups that administrators may make, change and delete."""

import pytest

from spec.broker.subscription_group import GroupConfig, explain_bad_group
from spec.broker.topic import (
    TopicConfig,
    derive_built_in_topics,
    derive_system_topics,
    explain_bad_topic,
    explain_protected,
)

SYSTEM = derive_system_topics("C", "b")


@pytest.mark.clause("broker.admin.system-topic")
def test_every_built_in_topic_is_protected() -> None:
    assert [
        one.name for one in derive_built_in_topics("C", "b") if explain_protected(one.name, SYSTEM) is None
    ] == []
    assert {
        name: explain_protected(name, SYSTEM) for name in ("T", "%RETRY%g", "%DLQ%g", "c", "D_REPLY_TOPIC")
    } == {
        "T": None,
        "%RETRY%g": None,
        "%DLQ%g": None,
        "c": None,
        "D_REPLY_TOPIC": None,
    }


@pytest.mark.clause("broker.admin.topic-limits")
@pytest.mark.parametrize(
    ("topic", "reason"),
    [
        (TopicConfig("T", 0, 0, 0), None),
        (TopicConfig("T", 16_384, 16_384, 15), None),
        (TopicConfig("T", 16_385, 1), "16385 read queues are not within 0 to 16384"),
        (TopicConfig("T", 1, -1), "-1 write queues are not within 0 to 16384"),
        (TopicConfig("T", 1, 1, 32), "permission 32 has bits beside 15"),
        (TopicConfig("T", 1, 1, -1), "permission -1 has bits beside 15"),
    ],
)
def test_a_topic_stays_within_its_limits(topic: TopicConfig, reason: str | None) -> None:
    assert explain_bad_topic(topic) == reason


@pytest.mark.clause("broker.admin.group-limits")
@pytest.mark.parametrize(
    ("group", "reason"),
    [
        (GroupConfig("g", retry_queue_count=0), None),
        (GroupConfig("g", retry_queue_count=1_024), None),
        (GroupConfig("g", retry_queue_count=1_025), "1025 retry queues are not within 0 to 1024"),
        (
            GroupConfig(""),
            "the group '' is not legal: a name has 1 to 255 characters of ^[%|a-zA-Z0-9_-]+$",
        ),
    ],
)
def test_a_group_stays_within_its_limits(group: GroupConfig, reason: str | None) -> None:
    assert explain_bad_group(group) == reason
