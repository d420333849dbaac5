"""What real clients and the server that recorded them said to each other, in the order in which it happened.

A capture names the request of an answer by its code alone. Answers to one code come in the order of
the requests, except for pulls, which are held: an answer belongs to the oldest open pull that it fits.
The files of a session were recorded from one server, one after the other.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple, TypeAlias

from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame, decode_frame

CAPTURES: Final = Path(__file__).parent / "captures"


class Answer(NamedTuple):
    """What was recorded of an answer."""

    code: int
    fields: Mapping[str, str]
    body_length: int


class Exchange(NamedTuple):
    """A request and its answer, if it got one before its connection ended."""

    place: str
    connection: str
    frame: Frame
    answer: Answer | None

    @property
    def fields(self) -> Mapping[str, str]:
        """The request's extension fields."""
        return self.frame.extension_fields or {}


class Opened(NamedTuple):
    """A client has connected."""

    time_ms: int
    connection: str


class Asked(NamedTuple):
    """A request was sent."""

    time_ms: int
    exchange: Exchange


class Answered(NamedTuple):
    """The answer to a request was sent."""

    time_ms: int
    exchange: Exchange


class Pushed(NamedTuple):
    """The server told a client that its group has changed."""

    time_ms: int
    client_id: str
    group: str


class Closed(NamedTuple):
    """A client has gone."""

    time_ms: int
    connection: str


Step: TypeAlias = Opened | Asked | Answered | Pushed | Closed


class _Row(NamedTuple):
    place: str
    members: Mapping[str, object]

    def text(self, name: str) -> str:
        """A member as it is written."""
        return str(self.members[name])

    @property
    def time_ms(self) -> int:
        """Since the recording began."""
        return round(float(self.text("t")) * 1000)


def _read_rows(name: str) -> Iterator[_Row]:
    path = CAPTURES / f"{name}.jsonl"
    for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
        yield _Row(f"{name}:{number}", json.loads(line))


def _decode_answer(row: _Row) -> Answer:
    fields = row.members["ext"] or {}
    assert isinstance(fields, dict)
    length = row.members["bodylen"]
    assert isinstance(length, int)
    return Answer(int(row.text("code")), {key: str(value) for key, value in fields.items()}, length)


class _OpenRequests:
    """The requests of one connection that wait for their answer."""

    def __init__(self) -> None:
        self._open: dict[str, Frame] = {}
        self._ends: dict[tuple[str, str], str] = {}
        """The end of each queue as its last answer told; nothing is stored while a consumer is recorded."""

    def add(self, place: str, frame: Frame) -> None:
        """The request waits."""
        self._open[place] = frame

    def take(self, code: int, answer: Answer) -> str:
        """The place of the request that the answer belongs to; it waits no more."""
        place = next(place for place, frame in self._open.items() if self._fits(frame, code, answer))
        frame = self._open.pop(place)
        if code == RequestCode.PULL_MESSAGE:
            self._ends[_queue_of(frame)] = answer.fields["maxOffset"]
        return place

    def _fits(self, frame: Frame, code: int, answer: Answer) -> bool:
        if frame.code != code:
            return False
        if code != RequestCode.PULL_MESSAGE:
            return True
        at, following = (
            int((frame.extension_fields or {})["queueOffset"]),
            int(answer.fields["nextBeginOffset"]),
        )
        is_end_right = self._ends.get(_queue_of(frame)) in (None, answer.fields["maxOffset"])
        return is_end_right and (at < following if answer.code == ResponseCode.SUCCESS else at == following)


def _queue_of(frame: Frame) -> tuple[str, str]:
    fields = frame.extension_fields or {}
    return fields["topic"], fields["queueId"]


def _match(rows: Iterable[_Row]) -> tuple[dict[str, Answer], dict[str, str]]:
    """The answers by the places of their requests, and the places of requests by those of their answers."""
    answers: dict[str, Answer] = {}
    requests: dict[str, str] = {}
    waiting: dict[str, _OpenRequests] = {}
    for row in rows:
        match row.text("ev"):
            case "open":
                waiting[row.text("conn")] = _OpenRequests()
            case "req":
                waiting[row.text("conn")].add(row.place, decode_frame(bytes.fromhex(row.text("hex"))))
            case "reply" if row.text("conn") in waiting:
                answer = _decode_answer(row)
                place = waiting[row.text("conn")].take(int(row.text("to")), answer)
                answers[place], requests[row.place] = answer, place
            case "close":
                # What the server answered later reached nobody.
                del waiting[row.text("conn")]
            case _:
                pass
    return answers, requests


def read_session(*names: str) -> tuple[Step, ...]:
    """Everything in the captures of these names, in order."""
    rows = sorted((row for name in names for row in _read_rows(name)), key=lambda row: row.time_ms)
    answers, requests = _match(rows)
    exchanges = {
        row.place: Exchange(
            row.place,
            row.text("conn"),
            decode_frame(bytes.fromhex(row.text("hex"))),
            answers.get(row.place),
        )
        for row in rows
        if row.members["ev"] == "req"
    }
    return tuple(step for row in rows for step in _derive_steps(row, exchanges, requests))


def _derive_steps(
    row: _Row, exchanges: Mapping[str, Exchange], requests: Mapping[str, str]
) -> Iterator[Step]:
    match row.text("ev"):
        case "open":
            yield Opened(row.time_ms, row.text("conn"))
        case "req":
            yield Asked(row.time_ms, exchanges[row.place])
        case "reply" if row.place in requests:
            yield Answered(row.time_ms, exchanges[requests[row.place]])
        case "push":
            yield Pushed(row.time_ms, row.text("to"), row.text("group"))
        case "close":
            yield Closed(row.time_ms, row.text("conn"))
        case _:
            pass
