"""Histories as text: one JSON object a line, columns by name, absent columns left out."""

import json
from collections.abc import Iterable, Iterator

from spec.history.event import ABSENT, COLUMNS, ColumnType, Event, Outcome
from spec.history.kind import Kind
from spec.rejection import Rejection

CLAUSE = "history.json-lines.one-object-a-line"
INTEGER_LIMIT = 2**63

_ABSENT_VALUES: dict[ColumnType, object] = {
    ColumnType.TEXT: "",
    ColumnType.INTEGER: ABSENT,
    ColumnType.TEXTS: (),
    ColumnType.INTEGERS: (),
}
_ALWAYS = frozenset({"run", "sequence", "time_ms", "node", "kind"})
_NAMES = tuple(COLUMNS)
_LEFT_OUT = tuple(
    object() if name in _ALWAYS else _ABSENT_VALUES[column_type] for name, column_type in COLUMNS.items()
)
"""The value with which each column is left out; no value equals a bare object."""
_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def encode_event(event: Event) -> str:
    """One line without its line end; lone surrogates are the encoder's only refusal."""
    columns = zip(_NAMES, event, _LEFT_OUT, strict=True)
    return _encode({name: value for name, value, left_out in columns if value != left_out})


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -INTEGER_LIMIT <= value < INTEGER_LIMIT


def _fits(column_type: ColumnType, value: object) -> bool:
    match column_type:
        case ColumnType.TEXT:
            return isinstance(value, str)
        case ColumnType.INTEGER:
            return _is_integer(value)
        case ColumnType.TEXTS:
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        case ColumnType.INTEGERS:
            return isinstance(value, list) and all(map(_is_integer, value))


def _decode_column(name: str, value: object, line: int) -> object:
    column_type = COLUMNS.get(name)
    if column_type is None:
        raise Rejection("history.event.known-columns", line, f"unknown column {name!r}")
    if not _fits(column_type, value):
        raise Rejection(CLAUSE, line, f"column {name} must be {column_type.value}, not {value!r}"[:200])
    return tuple(value) if isinstance(value, list) else value


def decode_event(text: str, line: int = 0) -> Event:
    """The event in one line; `line` is the position that a Rejection names.

    Clauses: history.json-lines.one-object-a-line, history.event.known-columns
    """
    try:
        row = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Rejection(CLAUSE, line, f"not a JSON object: {error}") from error
    if not isinstance(row, dict):
        raise Rejection(CLAUSE, line, "a line must hold one JSON object")
    missing = _ALWAYS - row.keys()
    if missing:
        raise Rejection(CLAUSE, line, f"the column {min(missing)} is missing")
    columns = {name: _decode_column(name, value, line) for name, value in row.items()}
    try:
        columns["kind"] = Kind(row["kind"])
        columns["outcome"] = Outcome(row.get("outcome", ""))
    except ValueError as error:
        raise Rejection("history.event.known-kind", line, str(error)) from error
    return Event(**columns)  # type: ignore[arg-type]  # every column was checked against its type


def encode_events(events: Iterable[Event]) -> Iterator[str]:
    """The lines of a history, each with its line end."""
    for event in events:
        yield encode_event(event) + "\n"


def decode_events(lines: Iterable[str]) -> Iterator[Event]:
    """The events of a history, line by line; blank lines are passed over."""
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield decode_event(line, number)
