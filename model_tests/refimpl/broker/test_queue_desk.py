"""Queues by way of an administrator."""

import pytest

from model_tests.refimpl.broker.admin_world import AdminWorld, dialect, queue
from spec.values.message import Message
from spec.values.subscription import subscribe_tags
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds, QueueId, QueueOffset
from spec.wire.body.statistic import ConsumeQueueBody, ConsumeQueueUnit, TopicOffset, TopicStatsTable
from spec.wire.body.subscription import derive_record
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import ConsumeQueueHeader, TopicHeader


def test_a_topic_has_bounds_and_the_time_of_its_last_message_for_each_write_queue() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.store(2)
    world.run_for(5_000)
    admin.store(1)
    stored_ms = admin.pull_all("T", 0)[-1].stored_at_ms
    answer = admin.call(RequestCode.GET_TOPIC_STATS_INFO, TopicHeader("T"))
    expected = TopicStatsTable(
        {
            queue(0): TopicOffset(QueueOffset(0), QueueOffset(3), Milliseconds(stored_ms)),
            queue(1): TopicOffset(QueueOffset(0), QueueOffset(0), Milliseconds(0)),
        }
    )
    assert answer.body == dialect(expected)
    assert answer.body.startswith(b'{"offsetTable":{{"brokerName":"broker-a","queueId":0,"topic":"T"}:{')


def test_units_are_shown_with_the_bounds_of_their_queue() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.send(Message("T", b"one", 0, {}), 0)
    admin.send(Message("T", b"two", 0, {"TAGS": "A"}), 0)
    first, second = admin.pull_all("T", 0)
    units = tuple(
        ConsumeQueueUnit(CommitLogPosition(one.position), ByteCount(one.size), code)
        for one, code in ((first, 0), (second, 65))
    )
    end = QueueOffset(2)

    def ask(index: int, count: int, group: str | None = None) -> ConsumeQueueBody:
        header = ConsumeQueueHeader("T", QueueId(0), index, count, group)
        return admin.fetch(RequestCode.QUERY_CONSUME_QUEUE, ConsumeQueueBody, header)

    assert ask(0, 10) == ConsumeQueueBody(units, end)
    assert ask(1, 10) == ConsumeQueueBody(units[1:], end)
    assert ask(0, 1) == ConsumeQueueBody(units[:1], end)
    for index, count in ((2, 10), (-1, 10), (0, 0), (0, -5), (2**60, 1)):
        assert ask(index, count) == ConsumeQueueBody((), end)
    assert ask(0, 2**31 - 1) == ConsumeQueueBody(units, end)
    offline = ConsumeQueueBody((), end, filter_data="g@T is not online!")
    assert ask(2, 1, "g") == offline
    world.member()
    online = ConsumeQueueBody(
        (),
        end,
        subscription_data=derive_record(subscribe_tags("T", "*", Milliseconds(1))),
        filter_data="null",
    )
    assert ask(2, 1, "g") == online


@pytest.mark.parametrize(("topic", "queue_id"), [("T", 1), ("T", -1), ("U", 0), (None, 0), ("..", 0)])
def test_a_queue_that_is_not_there_has_no_units(topic: str | None, queue_id: int) -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.store(1)
    header = ConsumeQueueHeader(topic, QueueId(queue_id), 0, 1)
    assert admin.refusal(RequestCode.QUERY_CONSUME_QUEUE, header) == (
        ResponseCode.SYSTEM_ERROR,
        f"{topic or ''} has no queue {queue_id} here",
    )


@pytest.mark.clause("store.retention.derived-files-follow")
def test_cleaning_expired_queue_files_loses_nothing_that_is_there() -> None:
    world = AdminWorld()
    admin = world.administrator()
    admin.create()
    admin.store(3)
    admin.call(RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE)
    assert [message.queue_offset for message in admin.pull_all("T", 0)] == [0, 1, 2]
