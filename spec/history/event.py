"""One event: who saw what, when, about which queue.

All events have the same columns, so that a history is a table: the same one in JSON lines, in
Parquet and in memory. A column that a kind does not fill holds its absent value; which columns
a kind fills is said by `spec.history.kind.FORMS`.
"""

from enum import StrEnum
from typing import Final, NamedTuple

from spec.history.kind import Kind

ABSENT: Final = -(2**63)
"""The integer that stands for no value. It is no offset, not even a wrong one: -1 is recorded as -1."""

QueueKey = tuple[str, str, int]
"""Topic, broker and queue number of an event."""


class Outcome(StrEnum):
    """How a request ended, as far as its sender can know."""

    OK = "ok"
    FAIL = "fail"
    UNKNOWN = "unknown"
    NONE = ""
    """The kind has no outcome."""


class Event(NamedTuple):
    """A row of a history."""

    run: str
    sequence: int
    """Rises by any amount with each event of a run. It is the one order that guarantees may rely on."""
    time_ms: int
    """The observer's clock."""
    node: str
    """Who saw it."""
    kind: Kind
    group: str = ""
    topic: str = ""
    broker: str = ""
    queue: int = ABSENT
    offset: int = ABSENT
    next: int = ABSENT
    message: str = ""
    """The identity of a message; a retry copy has its own."""
    origin: str = ""
    """The message that a retry copy descends from; empty for an original."""
    client: str = ""
    tenure: int = ABSENT
    attempt: int = ABSENT
    outcome: Outcome = Outcome.NONE
    status: str = ""
    cause: str = ""
    mode: str = ""
    request: int = ABSENT
    """Which pull, listener call or request, unique per node."""
    position: int = ABSENT
    level: int = ABSENT
    due_ms: int = ABSENT
    message_count: int = ABSENT
    byte_count: int = ABSENT
    held_bytes: int = ABSENT
    version: int = ABSENT
    evaluated: int = ABSENT
    replica: int = ABSENT
    """Broker id: 0 is the master."""
    address: str = ""
    tag: str = ""
    expression: str = ""
    strategy: str = ""
    members: tuple[str, ...] = ()
    queues: tuple[str, ...] = ()
    assigned: tuple[str, ...] = ()
    offsets: tuple[int, ...] = ()
    detail: str = ""

    @property
    def queue_key(self) -> QueueKey:
        """The queue that the event is about."""
        return (self.topic, self.broker, self.queue)


def queue_name(broker: str, queue: int) -> str:
    """A queue of a known topic, as `queues` and `assigned` list it."""
    return f"{broker}:{queue}"


class ColumnType(StrEnum):
    """The type of a column, in the words of Arrow."""

    TEXT = "string"
    INTEGER = "int64"
    TEXTS = "list<string>"
    INTEGERS = "list<int64>"


def _column_type(name: str) -> ColumnType:
    if name == "offsets":
        return ColumnType.INTEGERS
    if name in {"members", "queues", "assigned"}:
        return ColumnType.TEXTS
    numbers = {"sequence", "time_ms"}
    return (
        ColumnType.INTEGER
        if name in numbers or Event._field_defaults.get(name) == ABSENT
        else ColumnType.TEXT
    )


COLUMNS: Final[dict[str, ColumnType]] = {name: _column_type(name) for name in Event._fields}
"""Every column with its type, in table order: the schema of JSON lines and Parquet alike."""
