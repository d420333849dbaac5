"""When a history can be judged at all.

A monitor trusts its events: required columns are filled, statuses are known words, the order is
total. This is checked once, at the door, so that a verdict never rests on a malformed row.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from spec.history.event import ABSENT, COLUMNS, ColumnType, Event
from spec.history.kind import FORMS, Kind
from spec.rejection import Rejection

MAY_BE_EMPTY: Final = frozenset({"members", "queues", "assigned", "offsets", "expression"})
"""Columns in which nothing is a value: an empty assignment, an ended subscription."""


def _find_missing(event: Event) -> str | None:
    for column in FORMS[event.kind].columns:
        if column in MAY_BE_EMPTY:
            continue
        value = getattr(event, column)
        if value == (ABSENT if COLUMNS[column] is ColumnType.INTEGER else ""):
            return column
    return None


def check_event(event: Event) -> None:
    """The event fills what its kind demands, or a Rejection says which column does not.

    Clauses: history.event.required-columns, history.event.known-status, history.event.queue-names
    """
    missing = _find_missing(event)
    if missing is not None:
        raise Rejection(
            "history.event.required-columns",
            event.sequence,
            f"event {event.kind} needs the column {missing}",
        )
    form = FORMS[event.kind]
    for column, value, words in (("status", event.status, form.statuses), ("mode", event.mode, form.modes)):
        if words and value not in words:
            raise Rejection(
                "history.event.known-status",
                event.sequence,
                f"the {column} of event {event.kind} is one of {', '.join(words)}, not {value!r}",
            )
    for name in (*event.queues, *event.assigned):
        broker, _, number = name.rpartition(":")
        if not broker or not number.isdecimal():
            raise Rejection(
                "history.event.queue-names",
                event.sequence,
                f"a queue is listed as broker:number, not as {name!r}",
            )


def checked(events: Iterable[Event]) -> Iterator[Event]:
    """The same events, each well formed and in rising order within its run.

    Clauses: history.order.sequence-rises, history.run.begins-once
    """
    latest: dict[str, int] = {}
    for event in events:
        check_event(event)
        before = latest.get(event.run)
        if before is not None and event.sequence <= before:
            raise Rejection(
                "history.order.sequence-rises",
                event.sequence,
                f"sequence {event.sequence} follows {before} in run {event.run!r}",
            )
        if (event.kind is Kind.BEGIN) != (before is None):
            raise Rejection(
                "history.run.begins-once",
                event.sequence,
                f"run {event.run!r} must open with its only begin event",
            )
        latest[event.run] = event.sequence
        yield event
