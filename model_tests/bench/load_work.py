"""What a connection of the generator keeps asking for, and what an answer to it is worth in messages."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from model_tests.bench.load_reply import LoadError, Reply, count_records
from model_tests.bench.load_request import (
    BATCH,
    FIRST_OPAQUE,
    PULLED,
    PullTemplate,
    build_batch,
    build_send,
    derive_key_start,
)
from spec.override import override


class Work(Protocol):
    """An endless supply of requests, of which some are unanswered."""

    def issue(self) -> bytes:
        """The next request, which now waits for its answer."""
        ...

    def settle(self, reply: Reply, memory: bytearray, /) -> int:
        """The messages that the reply stands for; a request is answered once."""
        ...

    @property
    def waiting(self) -> int:
        """Requests without an answer."""
        ...


class SendWork(Work):
    """Sends to several queues in turn, each of one message or of one batch."""

    def __init__(self, templates: Sequence[tuple[bytes, ...]], messages_per_request: int) -> None:
        self._templates: Final = templates
        self._messages_per_request: Final = messages_per_request
        self._next_opaque = FIRST_OPAQUE
        self._waiting: set[bytes] = set()

    @override
    def issue(self) -> bytes:
        number = self._next_opaque
        self._next_opaque = number + 1
        opaque = b"%d" % number
        self._waiting.add(opaque)
        return opaque.join(self._templates[number % len(self._templates)])

    @override
    def settle(self, reply: Reply, _memory: bytearray, /) -> int:
        try:
            self._waiting.remove(reply.opaque)
        except KeyError:
            raise LoadError(f"nobody waits for a reply to {reply.opaque!r}") from None
        return self._messages_per_request

    @property
    @override
    def waiting(self) -> int:
        return len(self._waiting)


def send_singly(topic: str, queue_ids: Sequence[int], connection: int) -> SendWork:
    """Sends of one message."""
    key_start = derive_key_start(connection)
    return SendWork([build_send(topic, queue_id, key_start) for queue_id in queue_ids], 1)


def send_batches(topic: str, queue_ids: Sequence[int], connection: int) -> SendWork:
    """Sends of one batch."""
    key_start = derive_key_start(connection)
    return SendWork([build_batch(topic, queue_id, key_start) for queue_id in queue_ids], BATCH)


@dataclass(slots=True)
class _Cursor:
    template: PullTemplate
    end: int
    """The offset behind the backlog; from there the queue is read again."""
    offset: int = 0


class PullWork(Work):
    """Pulls of a backlog: at most one of each queue at a time, and from the start again behind the end."""

    def __init__(self, topic: str, queue_ends: Sequence[tuple[int, int]]) -> None:
        self._idle = deque(_Cursor(PullTemplate.build(topic, queue), end) for queue, end in queue_ends)
        self._next_opaque = FIRST_OPAQUE
        self._waiting: dict[bytes, _Cursor] = {}

    @override
    def issue(self) -> bytes:
        cursor = self._idle.popleft()
        opaque = b"%d" % self._next_opaque
        self._next_opaque += 1
        self._waiting[opaque] = cursor
        return cursor.template.fill(opaque, cursor.offset)

    @override
    def settle(self, reply: Reply, memory: bytearray, /) -> int:
        cursor = self._waiting.pop(reply.opaque, None)
        if cursor is None:
            raise LoadError(f"nobody waits for a reply to {reply.opaque!r}")
        count = count_records(memory, reply.body_at, reply.end, cursor.offset)
        expected = min(PULLED, cursor.end - cursor.offset)
        if count != expected:
            raise LoadError(f"a pull from {cursor.offset} brought {count} messages, expected {expected}")
        cursor.offset = (cursor.offset + count) % cursor.end
        self._idle.append(cursor)
        return count

    @property
    @override
    def waiting(self) -> int:
        return len(self._waiting)
