"""Queues, as administrators look at them: how full they are, and what stands in them."""

from collections.abc import Mapping
from typing import Final

from refimpl.broker.parts import BrokerParts
from refimpl.broker.queue_view import QueueView
from refimpl.broker.store_history import record_retention
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from refimpl.store.consume_queue import ConsumeQueue
from spec.layout.consume_queue import iter_units
from spec.values.units import Milliseconds
from spec.wire.body.statistic import ConsumeQueueBody, ConsumeQueueUnit, TopicOffset, TopicStatsTable
from spec.wire.body.subscription import derive_record
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import ConsumeQueueHeader, TopicHeader

UNIT_LIMIT: Final = 1_024
"""Units of one answer; a decision: Apache gives as many as the file holds."""

_NO_FILTER: Final = "null"
"""What Apache writes for a subscription by tags, which has no filter data."""


class QueueDesk:
    """Answers from the queues."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts
        self._queues = QueueView(parts.store, parts.settings.name)

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.GET_TOPIC_STATS_INFO: self.on_statistics,
            RequestCode.QUERY_CONSUME_QUEUE: self.on_units,
            RequestCode.CLEAN_EXPIRED_CONSUMEQUEUE: self.on_clean_expired,
        }

    def on_statistics(self, request: Request) -> Reply:
        """Where each write queue of the topic begins and ends, and when its last message was stored."""
        name = request.header(TopicHeader).topic
        topic = self._parts.topics.find(name)
        if topic is None:
            return refuse(ResponseCode.TOPIC_NOT_EXIST, f"the topic {name[:127]} is not on this broker")
        table = {
            self._queues.name(name, queue_id): self._describe(name, queue_id)
            for queue_id in range(topic.write_queue_count)
        }
        return succeed(None, TopicStatsTable(table))

    def _describe(self, topic: str, queue_id: int) -> TopicOffset:
        minimum, maximum = self._queues.bounds(topic, queue_id)
        last_ms = self._queues.store_time(topic, queue_id, maximum - 1) if maximum > minimum else 0
        return TopicOffset(minimum, maximum, Milliseconds(last_ms))

    def on_units(self, request: Request) -> Reply:
        """Some units of a queue from an offset on, and what the group subscribes there, if one is named."""
        header = request.header(ConsumeQueueHeader)
        topic = header.topic or ""
        queue = self._queues.find(topic, header.queue_id)
        if queue is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"{topic[:127]} has no queue {header.queue_id} here")
        units = _read_units(queue, header.index, header.count)
        found = None
        filter_data: str | None = None
        if header.consumer_group is not None:
            found = self._parts.consumers.subscription(header.consumer_group, topic)
            filter_data = f"{header.consumer_group}@{topic} is not online!" if found is None else _NO_FILTER
        subscription = None if found is None else derive_record(found)
        body = ConsumeQueueBody(units, queue.max_offset, queue.min_offset, subscription, filter_data)
        return succeed(None, body)

    def on_clean_expired(self, request: Request) -> Reply:
        """Queue files that lead to nothing in the log are gone; the last of each stays and keeps its numbers.

        Clause: store.retention.derived-files-follow
        """
        removed = self._parts.store.retention.clean(request.now_ms, removes_log_files=False)
        record_retention(removed, self._parts.recorder, request.now_ms)
        return OK


def _read_units(queue: ConsumeQueue, offset: int, count: int) -> tuple[ConsumeQueueUnit, ...]:
    """The units from an offset on, up to the end of a file; none outside the queue."""
    wanted = max(0, min(count, UNIT_LIMIT))
    data = queue.read_units(offset, wanted) if 0 <= offset < queue.max_offset else None
    return tuple(
        ConsumeQueueUnit(unit.position, unit.size, unit.tag_code) for unit in iter_units(data or b"")
    )
