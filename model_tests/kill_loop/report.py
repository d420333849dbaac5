"""What a writer tells its parent: one line each, written with one call, so that it is there or not.

A line that was cut off by the kill has no end and is not counted: what did not reach the parent was
not acknowledged.
"""

from typing import Final, NamedTuple, TypeAlias

_SEPARATOR: Final = "\t"


class Opening(NamedTuple):
    """The writer is about to open the store: what follows is recovery."""


class Opened(NamedTuple):
    """The store is open."""


class Acknowledged(NamedTuple):
    """A message is stored, as far as the flush mode promises."""

    topic: str
    queue_id: int
    queue_offset: int
    position: int
    size: int
    digest: str
    """Of the whole record."""
    key: str


class Retiring(NamedTuple):
    """Log files that begin before this position may be gone from now on."""

    limit: int


Report: TypeAlias = Opening | Opened | Acknowledged | Retiring


def encode_report(report: Report) -> bytes:
    """The line of a report."""
    return (_SEPARATOR.join((type(report).__name__, *map(str, report))) + "\n").encode()


def decode_report(line: str) -> Report:
    """The report in a whole line."""
    match line.split(_SEPARATOR):
        case ["Opening"]:
            return Opening()
        case ["Opened"]:
            return Opened()
        case ["Retiring", limit]:
            return Retiring(int(limit))
        case ["Acknowledged", topic, queue_id, offset, position, size, digest, key]:
            return Acknowledged(topic, int(queue_id), int(offset), int(position), int(size), digest, key)
        case _:
            raise ValueError(f"a writer said {line!r}")
