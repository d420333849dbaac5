"""Topics: how many queues, who may read and write, and how one comes into being by a first send.

The promise: a topic that a producer may create is created with no more queues than the template
topic has, and never inherits the template's right to be a template.

Why it can fail: creation is a side effect of sending. A broker without the template (or with
one whose inherit bit is off) must refuse, or the topic would exist on some brokers only.

What is allowed: write permission is a matter of routing. A 4.9.x broker stores what arrives for a
topic without the write bit; clients do not send there because the route tells them so.
"""

from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from spec.values.name import (
    AUTO_CREATE_TOPIC,
    OFFSET_MOVED_TOPIC,
    SCHEDULE_TOPIC,
    SYSTEM_TOPICS,
    TOPIC_LENGTH_LIMIT,
    is_system_topic,
    is_topic_legal,
)

PRIORITY: Final = 8
READ: Final = 4
WRITE: Final = 2
INHERIT: Final = 1
READ_WRITE: Final = READ | WRITE
"""What an ordinary topic has. Clause: broker.topic.permission-bits."""

UNIT_FLAG: Final = 1
UNIT_SUBSCRIBED_FLAG: Final = 2


class TopicFilter(Enum):
    """How many tags a message of the topic has; every version stores one."""

    SINGLE_TAG = "SINGLE_TAG"
    MULTI_TAG = "MULTI_TAG"


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """One topic as a broker keeps it; the defaults are Apache's."""

    name: str
    read_queue_count: int = 16
    write_queue_count: int = 16
    permission: int = READ_WRITE
    topic_filter: TopicFilter = TopicFilter.SINGLE_TAG
    system_flag: int = 0
    is_ordered: bool = False


def is_readable(permission: int) -> bool:
    """Whether consumers may pull."""
    return bool(permission & READ)


def is_writable(permission: int) -> bool:
    """Whether producers should send."""
    return bool(permission & WRITE)


def is_inherited(permission: int) -> bool:
    """Whether a first send may create topics by this one's pattern."""
    return bool(permission & INHERIT)


def _square(name: str, queue_count: int, permission: int = READ_WRITE) -> TopicConfig:
    return TopicConfig(name, queue_count, queue_count, permission)


def derive_built_in_topics(
    cluster: str,
    broker_name: str,
    *,
    is_auto_create_enabled: bool = True,
    template_queue_count: int = 8,
    level_count: int = 18,
) -> tuple[TopicConfig, ...]:
    """The topics that a broker has from its first start.

    Clause: broker.topic.built-in
    """
    template = READ_WRITE | INHERIT
    return (
        _square("SELF_TEST_TOPIC", 1),
        *((_square(AUTO_CREATE_TOPIC, template_queue_count, template),) if is_auto_create_enabled else ()),
        _square("BenchmarkTest", 1024),
        _square(cluster, 16, template),
        _square(broker_name, 1, template),
        _square(OFFSET_MOVED_TOPIC, 1),
        _square(SCHEDULE_TOPIC, level_count),
        _square(f"{cluster}_REPLY_TOPIC", 1),
    )


QUEUE_COUNT_LIMIT: Final = 16_384
"""Queues that a topic may be given; a decision: statistics are answered for all of them at once."""

PERMISSION_BITS: Final = PRIORITY | READ | WRITE | INHERIT


def derive_system_topics(cluster: str, broker_name: str) -> frozenset[str]:
    """The topics that nobody may change or delete: Apache's fixed ones and the broker's own.

    Clause: broker.admin.system-topic
    """
    return SYSTEM_TOPICS | {cluster, broker_name, f"{cluster}_REPLY_TOPIC"}


def explain_protected(topic: str, system_topics: frozenset[str]) -> str | None:
    """Why an administrator may not touch the topic; None if it may be changed or deleted.

    Clause: broker.admin.system-topic
    """
    if not is_topic_legal(topic):
        limit = f"1 to {TOPIC_LENGTH_LIMIT} characters of ^[%|a-zA-Z0-9_-]+$"
        return f"the topic {topic[:40]!r} is not legal: a name has {limit}"
    if topic in system_topics or is_system_topic(topic):
        return f"the topic {topic} is a system topic"
    return None


def explain_bad_topic(topic: TopicConfig) -> str | None:
    """Why a topic cannot be as it is asked for; None if it can.

    Clause: broker.admin.topic-limits
    """
    for name, count in (("read", topic.read_queue_count), ("write", topic.write_queue_count)):
        if not 0 <= count <= QUEUE_COUNT_LIMIT:
            return f"{count} {name} queues are not within 0 to {QUEUE_COUNT_LIMIT}"
    if topic.permission & ~PERMISSION_BITS:
        return f"permission {topic.permission} has bits beside {PERMISSION_BITS}"
    return None


def derive_created_topic(
    name: str, template: TopicConfig | None, asked_queue_count: int
) -> TopicConfig | None:
    """The topic that a first send creates by the pattern of `template`, or None when it may not.

    Clauses: broker.topic.auto-create, broker.topic.auto-create-drops-inherit
    """
    if template is None or not is_inherited(template.permission):
        return None
    queue_count = max(0, min(asked_queue_count, template.write_queue_count))
    return replace(
        template,
        name=name,
        read_queue_count=queue_count,
        write_queue_count=queue_count,
        permission=template.permission & ~INHERIT,
    )


def derive_group_topic(name: str, queue_count: int = 1) -> TopicConfig:
    """A retry or dead-letter topic as the broker makes it for a group.

    Clause: broker.topic.retry-created
    """
    return _square(name, queue_count)


@dataclass(frozen=True, slots=True)
class DataVersion:
    """Which edition of a broker's tables this is; equal when all its numbers are."""

    timestamp_ms: int = 0
    """When the tables were last changed."""
    counter: int = 0
    """How often."""
    state_version: int | None = None
    """Of 5.x only; kept as it came."""


def advance_version(version: DataVersion, now_ms: int) -> DataVersion:
    """The version after one change.

    Clause: broker.topic.version-advances
    """
    return replace(version, timestamp_ms=now_ms, counter=version.counter + 1)
