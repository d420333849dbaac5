"""What the Java program says that happened: one JSON object a line, its kind under `event`."""

from collections.abc import Iterator
from typing import Final, TypeAlias

from spec.values.units import Milliseconds, QueueOffset
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.fastjson import parse_fastjson

NO_OFFSET: Final = QueueOffset(-1)
"""Of a one-way send the client is told none."""


@json_record
class Happened(JsonRecord):
    """Something of which only the kind matters: started, committed, sought, ended."""

    event: str
    at_ms: Milliseconds
    client_id: str = ""
    error: str = ""


@json_record
class Sent(JsonRecord):
    """The client's answer to a send; of a one-way send it knows only the id."""

    at_ms: Milliseconds
    body: str
    status: str
    message_id: str
    offset_message_id: str = ""
    queue_id: int = -1
    queue_offset: QueueOffset = NO_OFFSET


@json_record
class Received(JsonRecord):
    """A message that the client gave to its user, and what the user made of it."""

    at_ms: Milliseconds
    topic: str
    queue_id: int
    queue_offset: QueueOffset
    message_id: str
    offset_message_id: str
    body: str
    reconsume_times: int
    born_ms: Milliseconds
    outcome: str
    tags: str = ""
    keys: str = ""


@json_record
class Decided(JsonRecord):
    """A state of a transaction that the producer was asked for: at once, or checked later."""

    event: str
    at_ms: Milliseconds
    topic: str
    body: str
    transaction_id: str
    state: str
    check_times: int = 0


@json_record
class Allocated(JsonRecord):
    """The share of a topic's queues that a member has from now on."""

    at_ms: Milliseconds
    topic: str
    queue_ids: tuple[int, ...]


@json_record
class Polled(JsonRecord):
    """The end of one order to poll."""

    at_ms: Milliseconds
    count: int


@json_record
class Pulled(JsonRecord):
    """A queue that was pulled to its end."""

    at_ms: Milliseconds
    queue_id: int
    min_offset: QueueOffset
    max_offset: QueueOffset
    committed_offset: QueueOffset


@json_record
class Answered(JsonRecord):
    """A request and the reply to it."""

    at_ms: Milliseconds
    body: str
    reply: str


@json_record
class Reset(JsonRecord):
    """The offset to which a queue was taken back."""

    at_ms: Milliseconds
    queue_id: int
    offset: QueueOffset


JavaEvent: TypeAlias = Happened | Sent | Received | Decided | Allocated | Polled | Pulled | Answered | Reset

_RECORDS: Final[dict[str, type[JavaEvent]]] = {
    "started": Happened,
    "committed": Happened,
    "sought": Happened,
    "ended": Happened,
    "failed": Happened,
    "sent": Sent,
    "received": Received,
    "decided": Decided,
    "checked": Decided,
    "allocated": Allocated,
    "polled": Polled,
    "pulled": Pulled,
    "answered": Answered,
    "reset": Reset,
}


def iter_events(printed: bytes) -> Iterator[JavaEvent]:
    """The events in order; a line whose end is not written yet is not one."""
    *lines, _ = printed.split(b"\n")
    for line in lines:
        tree = parse_fastjson(line)
        assert isinstance(tree, dict), line
        yield _RECORDS[str(tree["event"])].decode_tree(tree)
