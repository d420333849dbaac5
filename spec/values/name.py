"""Names of topics and groups: what is legal, what is built in, what the prefixes mean."""

import re
from typing import Final

TOPIC_LENGTH_LIMIT: Final = 127
"""Longest topic a 4.9.x record can carry: its length field is one signed byte."""

GROUP_LENGTH_LIMIT: Final = 255

RETRY_PREFIX: Final = "%RETRY%"
DEAD_LETTER_PREFIX: Final = "%DLQ%"
SCHEDULE_TOPIC: Final = "SCHEDULE_TOPIC_XXXX"
HALF_TOPIC: Final = "RMQ_SYS_TRANS_HALF_TOPIC"
OPERATION_TOPIC: Final = "RMQ_SYS_TRANS_OP_HALF_TOPIC"
CHECK_EXCEEDED_TOPIC: Final = "TRANS_CHECK_MAX_TIME_TOPIC"
SCHEDULE_REFUSED_TOPIC: Final = "SCHEDULE_REFUSED_TOPIC"
"""Notices of delayed messages that no store takes; the reference's own, and an ordinary topic otherwise."""
AUTO_CREATE_TOPIC: Final = "TBW102"
OFFSET_MOVED_TOPIC: Final = "OFFSET_MOVED_EVENT"
TRACE_TOPIC: Final = "RMQ_SYS_TRACE_TOPIC"
REPLY_SUFFIX: Final = "_REPLY_TOPIC"
SYSTEM_GROUP_PREFIX: Final = "CID_RMQ_SYS_"

SYSTEM_TOPICS: Final = frozenset(
    {
        AUTO_CREATE_TOPIC,
        SCHEDULE_TOPIC,
        "BenchmarkTest",
        HALF_TOPIC,
        OPERATION_TOPIC,
        CHECK_EXCEEDED_TOPIC,
        TRACE_TOPIC,
        "SELF_TEST_TOPIC",
        OFFSET_MOVED_TOPIC,
    }
)

_LEGAL = re.compile(r"[%|\-_0-9A-Za-z]+")


def is_topic_legal(topic: str) -> bool:
    """Whether Apache accepts the topic: 1 to 127 characters of `% | - _ 0-9 A-Z a-z`.

    Clause: broker.topic.legal-name
    """
    return 0 < len(topic) <= TOPIC_LENGTH_LIMIT and _LEGAL.fullmatch(topic) is not None


def is_group_legal(group: str) -> bool:
    """Whether Apache's client accepts the group: the same characters, at most 255.

    Clause: client.group.legal-name
    """
    return 0 < len(group) <= GROUP_LENGTH_LIMIT and _LEGAL.fullmatch(group) is not None


def retry_topic_of(group: str) -> str:
    """The topic in which a group's failed messages wait for another attempt."""
    return RETRY_PREFIX + group


def dead_letter_topic_of(group: str) -> str:
    """The topic in which a group's given-up messages rest."""
    return DEAD_LETTER_PREFIX + group


def is_retry_topic(topic: str) -> bool:
    """Whether the topic holds failed messages of some group."""
    return topic.startswith(RETRY_PREFIX)


def is_reply_topic(topic: str) -> bool:
    """Whether the topic keeps the replies of a cluster."""
    return topic.endswith(REPLY_SUFFIX)


def is_system_topic(topic: str) -> bool:
    """Whether the topic is built in and never renamed by a namespace."""
    return topic in SYSTEM_TOPICS or topic.startswith("rmq_sys_")


def _split_prefix(name: str) -> tuple[str, str]:
    for prefix in (RETRY_PREFIX, DEAD_LETTER_PREFIX):
        if name.startswith(prefix):
            return prefix, name[len(prefix) :]
    return "", name


def wrap_namespace(namespace: str, name: str) -> str:
    """The name as it travels: `namespace%name`, behind a retry or DLQ prefix if there is one.

    Clause: client.namespace.wraps-once
    """
    prefix, rest = _split_prefix(name)
    exempt = is_system_topic(name) or name.startswith(SYSTEM_GROUP_PREFIX)
    if not namespace or not name or exempt or rest.startswith(namespace + "%"):
        return name
    return f"{prefix}{namespace}%{rest}"


def unwrap_namespace(namespace: str, name: str) -> str:
    """The name as user code sees it; names of other namespaces stay as they are.

    Clause: client.namespace.wraps-once
    """
    prefix, rest = _split_prefix(name)
    if namespace and rest.startswith(namespace + "%"):
        return prefix + rest[len(namespace) + 1 :]
    return name
