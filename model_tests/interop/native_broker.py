"""What a case arranges at the broker and asks it: topics, messages in chosen queues, and offsets."""

import time
from collections.abc import Mapping
from typing import Final

from model_tests.interop.target import Target
from model_tests.interop.wire_client import ANSWER_LIMIT_SECONDS, WireClient
from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import TopicConfig
from spec.layout.config.consumer_offset import OffsetKey, encode_offset_key
from spec.layout.stored_message import StoredMessage
from spec.values.message import Message
from spec.wire.body.record import RecordCodec
from spec.wire.code import RequestCode

QUEUES: Final = 4
LOOK_AGAIN_SECONDS: Final = 0.1


def create_topic(target: Target, topic: str, queues: int = QUEUES) -> None:
    """The broker has the topic, and the name server leads to it."""
    with target.connect() as client:
        client.create_topic(TopicConfig(topic, queues, queues))
    until = time.monotonic() + ANSWER_LIMIT_SECONDS
    with WireClient(target.name_server_port) as client:
        while client.route(topic) is None:
            assert time.monotonic() < until, f"the name server never heard of {topic}"
            time.sleep(LOOK_AGAIN_SECONDS)


def create_group(target: Target, group: GroupConfig) -> None:
    """The broker has the group as configured."""
    with target.connect() as client:
        body = RecordCodec(GroupConfig).encode(group)
        client.call(RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, body=body)


def fill_queues(
    target: Target,
    topic: str,
    word: str,
    count: int,
    *,
    properties: Mapping[str, str] | None = None,
    queues: int = QUEUES,
) -> set[str]:
    """Each queue has so many messages more; their bodies, which say the word, the queue and a number."""
    bodies: set[str] = set()
    with target.connect() as client:
        for queue_id in range(queues):
            for number in range(count):
                body = f"{word}-{queue_id}-{number}"
                client.send(Message(topic, body.encode(), 0, dict(properties or {})), queue_id)
                bodies.add(body)
        client.wait_dispatched()
    return bodies


def read_topic(target: Target, topic: str, count: int, queues: int = QUEUES) -> list[StoredMessage]:
    """All messages of a topic, which has so many sooner or later, and not more."""
    until = time.monotonic() + ANSWER_LIMIT_SECONDS
    with target.connect() as client:
        while True:
            stored = [message for queue_id in range(queues) for message in client.pull_all(topic, queue_id)]
            if len(stored) >= count:
                assert len(stored) == count, stored
                return stored
            assert time.monotonic() < until, f"{len(stored)} of {count} messages: {stored}"
            time.sleep(LOOK_AGAIN_SECONDS)


def read_ends(target: Target, topic: str, queues: int = QUEUES) -> dict[int, int]:
    """The offset behind the last message, of each queue that has one."""
    with target.connect() as client:
        ends = {queue_id: client.bounds(topic, queue_id)[1] for queue_id in range(queues)}
    return {queue_id: end for queue_id, end in ends.items() if end > 0}


def read_committed(target: Target, group: str, topic: str, queues: int = QUEUES) -> dict[int, int | None]:
    """What the broker says that the group committed, of each queue."""
    with target.connect() as client:
        return {queue_id: client.consumer_offset(group, topic, queue_id) for queue_id in range(queues)}


def wait_committed(target: Target, group: str, topic: str) -> None:
    """The group has committed everything that stands in the queues."""
    ends = read_ends(target, topic)
    until = time.monotonic() + ANSWER_LIMIT_SECONDS
    while (committed := read_committed(target, group, topic)) != ends:
        assert time.monotonic() < until, f"{group} committed {committed}, and {topic} ends at {ends}"
        time.sleep(LOOK_AGAIN_SECONDS)


def has_committed(target: Target, group: str, topic: str) -> bool:
    """Whether the broker keeps any offset of the group for the topic."""
    with target.connect() as client:
        return encode_offset_key(OffsetKey(topic, group)) in client.consumer_offsets().offset_table
