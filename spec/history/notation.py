"""Histories written by people: one event a line, for examples, vectors and the book.

    # a joins while b still holds the queue
    0s   b      own     g T@broker-a:0 client=b tenure=1 offset=900 mode=concurrent
    20s  a      view    g topic=T members=a,b queues=broker-a:0 strategy=AVG assigned=broker-a:0

A line is a time, the observing node, a kind, then columns as `name=value`. A bare word with `@`
is a queue (topic@broker:number); any other bare word is the group. Lists are separated by
commas. `client` may be left out when it is the node. Times end in `ms` or `s`. Sequence numbers
follow the lines. A `#` at the start of a word begins a comment. The first line may be
`declare name=value ...`, where `observes` takes `all`, `all-but:kind,kind` or a list of kinds,
and other names are declared constants; without it everything is observed under the default terms.
"""

import re
from dataclasses import fields, replace
from typing import Final

from spec.history.declaration import Constants, Declaration, encode_declaration
from spec.history.event import COLUMNS, ColumnType, Event, Outcome
from spec.history.kind import FORMS, Kind
from spec.history.well_formed import checked
from spec.rejection import Rejection

CLAUSE: Final = "history.notation.one-event-a-line"
_COMMENT: Final = re.compile(r"(?:^|\s)#")
_CONSTANTS: Final = frozenset(constant.name for constant in fields(Constants))


def _parse_number(text: str, line: int) -> int:
    try:
        return int(text)
    except ValueError:
        raise Rejection(CLAUSE, line, f"expected a whole number, found {text!r}") from None


def _parse_time(text: str, line: int) -> int:
    if text.endswith("ms"):
        return _parse_number(text[:-2], line)
    if text.endswith("s"):
        whole, _, part = text[:-1].partition(".")
        return _parse_number(whole + part.ljust(3, "0")[:3], line)
    raise Rejection(CLAUSE, line, f"a time ends in s or ms: {text!r}")


def _parse_pair(word: str, line: int) -> tuple[str, str]:
    name, sign, value = word.partition("=")
    if not sign:
        raise Rejection(CLAUSE, line, f"expected name=value, found {word!r}")
    return name, value


def _parse_list(value: str) -> tuple[str, ...]:
    return tuple(part for part in value.split(",") if part)


def _parse_kinds(value: str, line: int) -> frozenset[Kind]:
    try:
        if value == "all":
            return frozenset(Kind)
        if value.startswith("all-but:"):
            return frozenset(Kind) - {Kind(word) for word in _parse_list(value[8:])}
        return frozenset(Kind(word) for word in _parse_list(value))
    except ValueError as error:
        raise Rejection(CLAUSE, line, str(error)) from error


def _parse_declaration(words: list[str], line: int) -> Declaration:
    declaration = Declaration(frozenset(Kind))
    for word in words:
        name, value = _parse_pair(word, line)
        if name == "observes":
            declaration = replace(declaration, observes=_parse_kinds(value, line))
        elif name == "assumes":
            declaration = replace(declaration, assumes=frozenset(_parse_list(value)))
        elif name == "dialect":
            declaration = replace(declaration, dialect=value)
        elif name == "durability":
            declaration = replace(declaration, durability=value)
        elif name in _CONSTANTS:
            changed = replace(declaration.constants, **{name: _parse_number(value, line)})
            declaration = replace(declaration, constants=changed)
        else:
            raise Rejection(CLAUSE, line, f"nothing called {name!r} can be declared")
    return declaration


def _parse_queue(word: str, line: int) -> dict[str, object]:
    topic, _, rest = word.rpartition("@")
    broker, _, number = rest.rpartition(":")
    if not topic or not broker:
        raise Rejection(CLAUSE, line, f"a queue is written topic@broker:number, not {word!r}")
    return {"topic": topic, "broker": broker, "queue": _parse_number(number, line)}


def _parse_column(name: str, value: str, line: int) -> object:
    match COLUMNS.get(name):
        case None:
            raise Rejection("history.event.known-columns", line, f"unknown column {name!r}")
        case ColumnType.TEXT:
            return value
        case ColumnType.INTEGER:
            return _parse_number(value, line)
        case ColumnType.TEXTS:
            return _parse_list(value)
        case ColumnType.INTEGERS:
            return tuple(_parse_number(part, line) for part in _parse_list(value))


def _parse_outcome(text: str, line: int) -> Outcome:
    try:
        return Outcome(text)
    except ValueError:
        raise Rejection(CLAUSE, line, f"an outcome is ok, fail or unknown, not {text!r}") from None


def _parse_event(words: list[str], line: int, run: str, sequence: int) -> Event:
    if len(words) < 3:  # noqa: PLR2004 - time, node, kind
        raise Rejection(CLAUSE, line, "a line is: time node kind columns...")
    time, node, kind_word, *rest = words
    try:
        kind = Kind(kind_word)
    except ValueError as error:
        raise Rejection("history.event.known-kind", line, str(error)) from error
    columns: dict[str, object] = {}
    for word in rest:
        if "=" in word:
            name, value = _parse_pair(word, line)
            columns[name] = _parse_column(name, value, line)
        elif "@" in word:
            columns.update(_parse_queue(word, line))
        else:
            columns["group"] = word
    if "client" in FORMS[kind].columns:
        columns.setdefault("client", node)
    columns["outcome"] = _parse_outcome(str(columns.get("outcome", "")), line)
    return Event(run, sequence, _parse_time(time, line), node, kind, **columns)  # type: ignore[arg-type]  # parsed by column type


def parse_history(text: str, run: str = "example") -> list[Event]:
    """The well-formed history in the text, its declaration as the first event.

    Clause: history.notation.one-event-a-line
    """
    declaration = Declaration(frozenset(Kind))
    events: list[Event] = []
    for number, line in enumerate(text.splitlines(), start=1):
        words = _COMMENT.split(line)[0].split()
        if words[:1] == ["declare"]:
            declaration = _parse_declaration(words[1:], number)
        elif words:
            events.append(_parse_event(words, number, run, len(events) + 1))
    start = events[0].time_ms if events else 0
    begin = Event(run, 0, start, "recorder", Kind.BEGIN, detail=encode_declaration(declaration))
    return list(checked([begin, *events]))
