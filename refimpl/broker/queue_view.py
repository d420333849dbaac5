"""The queues of a broker as administrators see them: bounds and times, whether or not they exist."""

from typing import NamedTuple

from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.message_store import MessageStore
from spec.recovery.state import QueueName
from spec.values.message_queue import MessageQueue
from spec.values.units import Milliseconds, QueueId, QueueOffset

NO_TIME = Milliseconds(-1)
"""The store time of a message that is not there."""

_ZERO = QueueOffset(0)


class QueueBounds(NamedTuple):
    """The first offset that a queue still has, and the one that its next message gets."""

    minimum: QueueOffset = _ZERO
    maximum: QueueOffset = _ZERO


class QueueView:
    """Reads queues without making them."""

    def __init__(self, store: MessageStore, broker_name: str) -> None:
        self._store = store
        self._broker_name = broker_name

    def name(self, topic: str, queue_id: int) -> MessageQueue:
        """The queue as clients name it."""
        return MessageQueue(topic, self._broker_name, QueueId(queue_id))

    def find(self, topic: str, queue_id: int) -> ConsumeQueue | None:
        """The queue, if anything was ever stored in it."""
        return self._store.queues.find(QueueName(topic, QueueId(queue_id)))

    def bounds(self, topic: str, queue_id: int) -> QueueBounds:
        """Where the queue begins and ends; both 0 if it does not exist."""
        queue = self.find(topic, queue_id)
        return QueueBounds() if queue is None else QueueBounds(queue.min_offset, queue.max_offset)

    def store_time(self, topic: str, queue_id: int, offset: int) -> Milliseconds:
        """When the message of an offset was stored; -1 if it is not there."""
        queue = self.find(topic, queue_id)
        return NO_TIME if queue is None else self._store.query.store_time(queue, offset)

    def offset_by_time(self, topic: str, queue_id: int, timestamp_ms: int) -> QueueOffset:
        """The offset of the message stored nearest to a time, 0 if the queue does not exist.

        Clause: broker.search.nearest
        """
        queue = self.find(topic, queue_id)
        return _ZERO if queue is None else self._store.query.offset_by_time(queue, timestamp_ms)
