"""Questions about stored messages: by place, by key, by time, and what a queue holds."""

import struct
from collections.abc import Sequence
from typing import Final, NamedTuple, overload

from refimpl.store.commit_log import CommitLog
from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.key_index import KeyIndex
from spec.broker.timestamp_search import (
    UNREADABLE,
    choose_file,
    derive_found_offset,
    search_lower_bound,
    search_nearest,
)
from spec.layout.consume_queue import UNIT_SIZE
from spec.layout.index_chain import QUERY_LIMIT, hash_key
from spec.layout.record import decode_record
from spec.layout.stored_message import StoredMessage
from spec.override import override
from spec.recovery.queue import is_filler
from spec.rejection import Rejection
from spec.store.key_query import query_index
from spec.values.units import CommitLogPosition, Count, Milliseconds, QueueOffset

_SIZE: Final = struct.Struct(">i")
_EMPTY_TIME: Final = Milliseconds(-1)
"""What Apache answers where there is no message to ask for its time."""


class KeyFound(NamedTuple):
    """Messages under a key's hash, in the order of the log, and how far the index had come."""

    messages: tuple[StoredMessage, ...]
    """Hash collisions included: whoever asked compares topic and key."""
    indexed_ms: Milliseconds
    indexed_position: CommitLogPosition


class MessageQuery:
    """Answers from the log, the queues' units and the index."""

    def __init__(self, log: CommitLog, index: KeyIndex) -> None:
        self._log = log
        self._index = index

    def by_position(self, position: int, size: int | None = None) -> StoredMessage | None:
        """The message that stands at a position; None if none begins there."""
        if position < 0:
            return None
        head = self._log.read(position, _SIZE.size) if size is None else None
        length: int = size or (_SIZE.unpack(head)[0] if head and len(head) == _SIZE.size else 0)
        data = self._log.read(position, length) if length > 0 else None
        if not data:
            return None
        try:
            record = decode_record(data, accept_v2=True)
        except Rejection:
            return None
        return record if record.position == position else None

    def by_key(
        self, topic: str, key: str, *, begin_ms: int, end_ms: int, limit: int = QUERY_LIMIT
    ) -> KeyFound:
        """The newest messages under the hash of a key, stored in the span.

        Clauses: store.index.collisions-are-returned, store.index.query-order
        """
        files = [file.as_queried() for file in self._index.files]
        answer = query_index(files, hash_key(topic, key), begin_ms=begin_ms, end_ms=end_ms, limit=limit)
        messages = [self.by_position(position) for position in dict.fromkeys(answer.positions)]
        found = tuple(message for message in messages if message is not None)
        return KeyFound(found, answer.indexed_ms, answer.indexed_position)

    def store_time(self, queue: ConsumeQueue, queue_offset: int) -> Milliseconds:
        """When the message of an offset was stored; -1 if it cannot be read."""
        unit = queue.read_unit(queue_offset)
        message = None if unit is None or is_filler(unit) else self.by_position(unit.position, unit.size)
        return _EMPTY_TIME if message is None else message.stored_at_ms

    def earliest_time(self, queue: ConsumeQueue) -> Milliseconds:
        """When the first message that the queue still has was stored; -1 for an empty queue."""
        return self.store_time(queue, queue.min_offset)

    def offset_by_time(self, queue: ConsumeQueue, timestamp_ms: int) -> QueueOffset:
        """The offset of the message stored nearest to a time, as Apache 4.9 finds it.

        Clauses: broker.search.file-by-modification, broker.search.nearest, broker.search.unreadable-is-zero
        """
        modified = queue.sequence.modified_ms()
        # A file that was begun when a dispatch failed has no message yet.
        starts = [start for start in queue.sequence.starts if start < queue.max_offset * UNIT_SIZE]
        chosen = choose_file([modified[start] for start in starts], timestamp_ms)
        if chosen is None:
            return QueueOffset(0)
        first = starts[chosen] // UNIT_SIZE
        times = _StoreTimes(self, queue, first, min(first + queue.units_per_file, queue.max_offset))
        removed = max(0, queue.min_offset - first)
        return derive_found_offset(first, search_nearest(times, timestamp_ms, removed))

    def first_at_or_after(self, queue: ConsumeQueue, timestamp_ms: int) -> QueueOffset:
        """The first offset stored at or after a time, the end of the queue if there is none: as 5.x finds it.

        Clause: broker.search.lower-bound
        """
        times = _StoreTimes(self, queue, queue.min_offset, queue.max_offset)
        return QueueOffset(queue.min_offset + search_lower_bound(times, timestamp_ms))


class _StoreTimes(Sequence[int]):
    """The store times of a span of a queue, each read when it is asked for."""

    def __init__(self, query: MessageQuery, queue: ConsumeQueue, first: int, end: int) -> None:
        self._query = query
        self._queue = queue
        self._first = first
        self._count = Count(max(0, end - first))

    @override
    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> int: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[int]: ...
    @override
    def __getitem__(self, index: int | slice) -> int | Sequence[int]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(self._count))]
        time_ms = self._query.store_time(self._queue, self._first + index)
        return time_ms if time_ms >= 0 else UNREADABLE
