"""Reput: what stands in the log becomes readable in its queue and findable by its keys.

The log is read once more behind the writer, a stretch at a time. Units and entries of a stretch
are collected and written together; only then does the stretch count as dispatched and its messages
as arrived. A failure leaves the position where it was: dispatching again changes nothing that is
there already. How far reading may go is not decided here: nothing becomes readable before it is
as durable as the flush mode promises.
"""

import struct
from collections import deque
from collections.abc import Mapping
from itertools import takewhile
from typing import Final

from refimpl.ports import DiskError, DiskReason
from refimpl.store.commit_log import CommitLog
from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.key_index import KeyIndex
from refimpl.store.queue_table import QueueTable
from spec.layout.commit_log_file import derive_next_file_start, derive_remaining
from spec.layout.consume_queue import Unit
from spec.layout.index_chain import derive_keys, hash_key
from spec.layout.queue_append import Put
from spec.layout.record_head import RecordHead, decode_record_head
from spec.layout.stored_message import Magic
from spec.recovery.state import QueueName
from spec.rejection import Rejection
from spec.values.message import derive_tag_code
from spec.values.system_flag import has_queue_entry
from spec.values.units import CommitLogPosition

STRETCH: Final = 1024 * 1024
"""How many bytes of the log are read at once; a record that is larger is read whole."""

RECENT_LIMIT: Final = 65_536
"""How many records are remembered at most: what a disk that is slow to sync may hold back."""

_HEAD: Final = struct.Struct(">iI")


class Reput:
    """The reader behind the log's writer."""

    def __init__(
        self, log: CommitLog, queues: QueueTable, index: KeyIndex, delays_ms: tuple[int, ...]
    ) -> None:
        self._log = log
        self._queues = queues
        self._index = index
        self._delays_ms = delays_ms
        self.position = CommitLogPosition(0)
        """Up to here everything is dispatched."""
        self.stored_at_ms = log.stored_at_ms
        """Store time of the last message that was dispatched."""
        self._recent: deque[RecordHead] = deque()
        """The records from `_recent_from` on, as far as they are remembered: to the log's end."""
        self._recent_from = self.position
        self._touched: dict[QueueName, ConsumeQueue] = {}
        self.dirty: dict[QueueName, ConsumeQueue] = {}
        """Queues that were written since the last flush."""

    def remember(self, before: CommitLogPosition, heads: list[RecordHead]) -> None:
        """The newest records, appended at log end `before`, need not be read from the log again.

        What is remembered has no gap and is bounded: a reader that is far behind reads the log.
        """
        if not self._recent:
            if before != self.position:
                return
            self._recent_from = before
        elif len(self._recent) >= RECENT_LIMIT:
            self._recent.clear()
            return
        self._recent += heads

    def run(self, end: CommitLogPosition) -> list[RecordHead]:
        """The messages of one stretch before `end` can be read; they are the arrivals to tell of."""
        if self.position >= end:
            return []
        if self._recent and self._recent_from == self.position:
            heads, position = self._take_recent(end)
        else:
            heads, position = self.read_stretch(self.position, end)
        try:
            for head in heads:
                self.dispatch(head)
            self.write_dispatched()
        except DiskError:
            self.forget_dispatched()
            raise
        if self._recent and self._recent_from == self.position:
            if len(heads) == len(self._recent):
                self._recent.clear()
            else:
                for _ in heads:
                    self._recent.popleft()
            self._recent_from = position
        self.position = position
        if heads:
            self.stored_at_ms = heads[-1].stored_at_ms
        return heads

    def _take_recent(self, end: int) -> tuple[list[RecordHead], CommitLogPosition]:
        """The remembered records before `end`."""
        if self._recent[-1].end <= end:
            return list(self._recent), self._recent[-1].end
        taken = list(takewhile(lambda head: head.end <= end, self._recent))
        return taken, taken[-1].end if taken else self.position

    def read_stretch(self, position: int, end: int) -> tuple[list[RecordHead], CommitLogPosition]:
        """The records of a stretch, and where the next one begins."""
        file_size = self._log.sequence.file_size
        length = min(STRETCH, end - position, derive_remaining(position, file_size))
        data = self._log.sequence.read(position, length)
        size, magic = _HEAD.unpack_from(data)
        if magic == Magic.BLANK:
            return [], derive_next_file_start(position, file_size)
        if len(data) < size <= end - position:
            data = self._log.sequence.read(position, size)
        heads: list[RecordHead] = []
        view, at = memoryview(data), 0
        while len(data) - at >= _HEAD.size:
            size, magic = _HEAD.unpack_from(data, at)
            if magic == Magic.BLANK or (size > 0 and size > len(data) - at):
                break
            heads.append(self._decode(view, at, position + at))
            at += size
        return heads, CommitLogPosition(position + at)

    def _decode(self, view: memoryview, at: int, position: int) -> RecordHead:
        try:
            return decode_record_head(view, at, check_crc=False, accept_v2=True)
        except Rejection as refusal:
            path = self._log.sequence.file_at(position).path
            raise DiskError(DiskReason.BROKEN, path, f"the record at {position}: {refusal}") from None

    def dispatch(self, head: RecordHead) -> None:
        """The unit and the keys of a message wait to be written."""
        properties = head.properties()
        self.put_unit(head, properties)
        self.put_keys(head, properties)

    def put_unit(self, record: RecordHead, properties: Mapping[str, str]) -> Put:
        """The unit of a message waits, if it has one and its queue does not know it.

        Clauses: store.queue.tag-code, store.queue.transaction-halves-have-no-unit
        """
        if not has_queue_entry(record.system_flag):
            return Put.KNOWN
        queue = self._queues.find((record.topic, record.queue_id))
        if queue is None:
            queue = self._queues.get(QueueName(record.topic, record.queue_id))
        self._touched[queue.name] = queue
        tag_code = derive_tag_code(record.topic, properties, record.stored_at_ms, self._delays_ms)
        return queue.put(Unit(record.position, record.size, tag_code), record.queue_offset)

    def put_keys(self, record: RecordHead, properties: Mapping[str, str]) -> None:
        """The keys of a message wait, if the index does not have them.

        Clause: store.index.keys-of-a-message
        """
        keys = derive_keys(properties, record.system_flag)
        if keys:
            hashes = [hash_key(record.topic, key) for key in keys]
            self._index.put(hashes, record.position, record.stored_at_ms)

    def write_dispatched(self) -> None:
        """What waited is written: the messages can be read and found."""
        for queue in self._touched.values():
            queue.write_waiting()
        self._index.write_waiting()
        self.dirty |= self._touched
        self._touched = {}

    def forget_dispatched(self) -> None:
        """What waited for the queues is forgotten; the index knows by itself what it has."""
        for queue in self._touched.values():
            queue.forget_waiting()
        self.dirty |= self._touched
        self._touched = {}
