"""Questions about stored messages and queues: by key, by place, by time, and where queues end."""

from collections.abc import Mapping
from typing import Final

from refimpl.broker.parts import BrokerParts
from refimpl.remoting.request import Handler, Reply, Request, refuse, succeed
from refimpl.store.consume_queue import ConsumeQueue
from spec.layout.index_chain import QUERY_LIMIT
from spec.layout.record import encode_record
from spec.recovery.state import QueueName
from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.offset import (
    OffsetResponseHeader,
    QueueHeader,
    SearchOffsetHeader,
    TimestampResponseHeader,
)
from spec.wire.header.pull import QueryMessageHeader, QueryMessageResponseHeader, ViewMessageHeader

UNIQUE_KEY_LIMIT: Final = 32
"""How many messages are looked for under a unique key: `defaultQueryMaxNum`."""

BODY_LIMIT: Final = 8 * 1024 * 1024
"""Bytes of one answer; a decision: the frame's limit is twice that, and one message always fits."""

_NO_OFFSET: Final = QueueOffset(0)
_NO_TIME: Final = Milliseconds(-1)


class QueryDesk:
    """Answers from the store."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts
        self._query = parts.store.query

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.QUERY_MESSAGE: self.on_key,
            RequestCode.VIEW_MESSAGE_BY_ID: self.on_view,
            RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: self.on_search,
            RequestCode.GET_MAX_OFFSET: self.on_maximum,
            RequestCode.GET_MIN_OFFSET: self.on_minimum,
            RequestCode.GET_EARLIEST_MSG_STORETIME: self.on_earliest,
        }

    def on_key(self, request: Request) -> Reply:
        """The newest messages under a key; who asked compares the key itself.

        Clause: store.index.collisions-are-returned
        """
        header = request.header(QueryMessageHeader)
        limit = UNIQUE_KEY_LIMIT if header.is_unique_key else min(header.max_num, QUERY_LIMIT)
        found = self._query.by_key(
            header.topic,
            header.key,
            begin_ms=header.begin_timestamp,
            end_ms=header.end_timestamp,
            limit=limit,
        )
        if not found.messages:
            return refuse(ResponseCode.QUERY_NOT_FOUND, f"no message of {header.topic[:127]} has this key")
        records: list[bytes] = []
        byte_count = 0
        for message in found.messages:
            byte_count += message.size
            if records and byte_count > BODY_LIMIT:
                break
            records.append(encode_record(message))
        return succeed(
            QueryMessageResponseHeader(found.indexed_ms, found.indexed_position), b"".join(records)
        )

    def on_view(self, request: Request) -> Reply:
        """The message that stands at a place of the log."""
        header = request.header(ViewMessageHeader)
        message = self._query.by_position(header.offset)
        if message is None:
            return refuse(
                ResponseCode.SYSTEM_ERROR, f"no message stands at position {header.offset} of the log"
            )
        return succeed(None, encode_record(message))

    def _find(self, topic: str, queue_id: int) -> ConsumeQueue | None:
        return self._parts.store.queues.find(QueueName(topic, QueueId(queue_id)))

    def on_search(self, request: Request) -> Reply:
        """The offset at a time: the nearest message, or for a 5.x request the first at or after it.

        Clauses: broker.search.nearest, broker.search.lower-bound
        """
        header = request.header(SearchOffsetHeader)
        queue = self._find(header.topic, header.queue_id)
        if queue is None:
            return succeed(OffsetResponseHeader(_NO_OFFSET))
        is_nearest = header.boundary_type is None
        search = self._query.offset_by_time if is_nearest else self._query.first_at_or_after
        return succeed(OffsetResponseHeader(search(queue, header.timestamp)))

    def on_maximum(self, request: Request) -> Reply:
        """The offset that the queue's next message gets."""
        header = request.header(QueueHeader)
        queue = self._find(header.topic, header.queue_id)
        return succeed(OffsetResponseHeader(_NO_OFFSET if queue is None else queue.max_offset))

    def on_minimum(self, request: Request) -> Reply:
        """The first offset that the queue still has."""
        header = request.header(QueueHeader)
        queue = self._find(header.topic, header.queue_id)
        return succeed(OffsetResponseHeader(_NO_OFFSET if queue is None else queue.min_offset))

    def on_earliest(self, request: Request) -> Reply:
        """When the first message that the queue still has was stored."""
        header = request.header(QueueHeader)
        queue = self._find(header.topic, header.queue_id)
        time_ms = _NO_TIME if queue is None else self._query.earliest_time(queue)
        return succeed(TimestampResponseHeader(time_ms))
