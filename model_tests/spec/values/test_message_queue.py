"""Order and text form of queues."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.values.java_text import utf16_key
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId

NAMES = st.text(alphabet="ab\uffff\U0001f600", max_size=2)
QUEUES = st.builds(MessageQueue, NAMES, NAMES, st.integers(0, 20).map(QueueId))


@pytest.mark.clause("group.order.queues", "group.order.utf16-units")
@given(QUEUES, QUEUES)
def test_order_is_topic_then_broker_then_number(one: MessageQueue, two: MessageQueue) -> None:
    if one.topic != two.topic:
        expected = utf16_key(one.topic) < utf16_key(two.topic)
    elif one.broker_name != two.broker_name:
        expected = utf16_key(one.broker_name) < utf16_key(two.broker_name)
    else:
        expected = one.queue_id < two.queue_id
    assert (one < two) is expected


@pytest.mark.clause("group.order.queues")
def test_numbers_are_ordered_as_numbers() -> None:
    queues = [MessageQueue("T", "b", QueueId(number)) for number in (10, 9, 2)]
    assert [queue.queue_id for queue in sorted(queues)] == [2, 9, 10]


@pytest.mark.clause("group.allocation.consistent-hash-ring")
def test_text_is_the_one_that_apache_hashes() -> None:
    assert str(MessageQueue("T", "b", QueueId(0))) == "MessageQueue [topic=T, brokerName=b, queueId=0]"


def test_queues_are_equal_by_all_three_parts() -> None:
    queue = MessageQueue("T", "b", QueueId(0))
    assert len({queue, MessageQueue("T", "b", QueueId(0))}) == 1
    assert queue not in {
        MessageQueue("U", "b", QueueId(0)),
        MessageQueue("T", "c", QueueId(0)),
        MessageQueue("T", "b", QueueId(1)),
    }
