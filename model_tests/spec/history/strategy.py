"""Events that Hypothesis can draw."""

from hypothesis import strategies as st

from spec.history.event import ABSENT, COLUMNS, ColumnType, Event, Outcome
from spec.history.kind import FORMS, Kind

TEXT = st.text(st.characters(codec="utf-8"), max_size=8)
INTEGER = st.integers(-(2**63), 2**63 - 1)

COLUMN_VALUES: dict[ColumnType, st.SearchStrategy[object]] = {
    ColumnType.TEXT: TEXT,
    ColumnType.INTEGER: INTEGER,
    ColumnType.TEXTS: st.lists(TEXT, max_size=3).map(tuple),
    ColumnType.INTEGERS: st.lists(INTEGER, max_size=3).map(tuple),
}


@st.composite
def any_events(draw: st.DrawFn) -> Event:
    """Any values of the right types, whether or not the kind makes sense of them."""
    columns: dict[str, object] = {name: draw(COLUMN_VALUES[kind]) for name, kind in COLUMNS.items()}
    columns["kind"] = draw(st.sampled_from(list(Kind)))
    columns["outcome"] = draw(st.sampled_from(list(Outcome)))
    return Event(**columns)  # type: ignore[arg-type]  # drawn by column type


def well_formed_event(kind: Kind, sequence: int = 1) -> Event:
    """A plain event of the kind that fills exactly what it must."""
    values: dict[ColumnType, object] = {
        ColumnType.TEXT: "x",
        ColumnType.INTEGER: 7,
        ColumnType.TEXTS: ("x:7",),
        ColumnType.INTEGERS: (7,),
    }
    columns = {name: values[COLUMNS[name]] for name in FORMS[kind].columns}
    if FORMS[kind].statuses:
        columns["status"] = FORMS[kind].statuses[0]
    if FORMS[kind].modes:
        columns["mode"] = FORMS[kind].modes[0]
    if "outcome" in columns:
        columns["outcome"] = Outcome.OK
    return Event("run", sequence, 0, "node", kind, **columns)  # type: ignore[arg-type]  # by column type


def without(event: Event, column: str) -> Event:
    """The event with the column emptied."""
    empty = {ColumnType.TEXT: "", ColumnType.INTEGER: ABSENT}.get(COLUMNS[column], ())
    columns = event._asdict() | {column: empty}
    return Event(**columns)
