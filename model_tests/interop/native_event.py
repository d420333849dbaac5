"""What the driver of a client says that happened: one JSON object a line, its kind under `event`.

The drivers of all clients in other languages print the same lines.
"""

from collections.abc import Iterator
from typing import Final, TypeAlias

from spec.values.units import Milliseconds, QueueOffset
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.fastjson import parse_fastjson

UNTOLD_QUEUE: Final = -1
UNTOLD_OFFSET: Final = QueueOffset(-1)
"""Not every client tells in which queue a message stands, and of a one-way send none tells anything."""


@json_record
class Happened(JsonRecord):
    """Something of which only the kind matters: ready, ended, failed."""

    event: str
    at_ms: Milliseconds
    error: str = ""


@json_record
class Sent(JsonRecord):
    """The client's answer to a send, as far as the client tells it to its user."""

    at_ms: Milliseconds
    body: str
    status: str
    message_id: str = ""
    queue_id: int = UNTOLD_QUEUE
    queue_offset: QueueOffset = UNTOLD_OFFSET


@json_record
class Refused(JsonRecord):
    """The client's failure to send a message, which may be stored all the same."""

    at_ms: Milliseconds
    body: str
    error: str


@json_record
class Received(JsonRecord):
    """A message that the client gave to its user, and what the user made of it."""

    at_ms: Milliseconds
    topic: str
    queue_id: int
    queue_offset: QueueOffset
    message_id: str
    tags: str
    keys: str
    body: str
    reconsume_times: int
    outcome: str


DriverEvent: TypeAlias = Happened | Sent | Refused | Received

_RECORDS: Final[dict[str, type[DriverEvent]]] = {
    "ready": Happened,
    "ended": Happened,
    "failed": Happened,
    "sent": Sent,
    "refused": Refused,
    "received": Received,
}
_EVENT_START: Final = b'{"event":'


def iter_events(printed: bytes) -> Iterator[DriverEvent]:
    """The events in order; a line whose end is not written yet is not one, nor is the client's own talk."""
    *lines, _ = printed.split(b"\n")
    for line in lines:
        if line.startswith(_EVENT_START):
            tree = parse_fastjson(line)
            assert isinstance(tree, dict), line
            yield _RECORDS[str(tree["event"])].decode_tree(tree)
