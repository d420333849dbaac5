import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.history.strategy import any_events
from spec.history.event import Event, Outcome
from spec.history.json_lines import decode_event, decode_events, encode_event, encode_events
from spec.history.kind import Kind
from spec.rejection import Rejection

LINE = (
    '{"run":"r","sequence":1,"time_ms":5,"node":"c","kind":"lock","group":"g","outcome":"ok","offsets":[1,2]}'
)
EVENT = Event("r", 1, 5, "c", Kind.LOCK, group="g", outcome=Outcome.OK, offsets=(1, 2))


@pytest.mark.clause("history.json-lines.one-object-a-line")
@given(any_events())
def test_event_survives_a_round_trip(event: Event) -> None:
    decoded = decode_event(encode_event(event))
    assert decoded == event
    assert type(decoded.kind) is Kind
    assert type(decoded.outcome) is Outcome


def test_line_holds_only_the_columns_that_are_filled() -> None:
    assert encode_event(EVENT) == LINE
    assert decode_event(LINE) == EVENT


def test_blank_lines_are_passed_over() -> None:
    assert list(decode_events(["\n", LINE + "\n", "  \n"])) == [EVENT]
    assert list(encode_events([EVENT])) == [LINE + "\n"]


@pytest.mark.parametrize(
    ("change", "clause", "reason"),
    [
        ({"sequence": "1"}, "history.json-lines.one-object-a-line", "column sequence must be int64, not '1'"),
        (
            {"sequence": True},
            "history.json-lines.one-object-a-line",
            "column sequence must be int64, not True",
        ),
        (
            {"offset": 2**63},
            "history.json-lines.one-object-a-line",
            f"column offset must be int64, not {2**63}",
        ),
        (
            {"offsets": ["a"]},
            "history.json-lines.one-object-a-line",
            "column offsets must be list<int64>, not ['a']",
        ),
        (
            {"members": "a"},
            "history.json-lines.one-object-a-line",
            "column members must be list<string>, not 'a'",
        ),
        ({"node": None}, "history.json-lines.one-object-a-line", "column node must be string, not None"),
        ({"ofset": 1}, "history.event.known-columns", "unknown column 'ofset'"),
        ({"kind": "finished"}, "history.event.known-kind", "'finished' is not a valid Kind"),
        ({"outcome": "maybe"}, "history.event.known-kind", "'maybe' is not a valid Outcome"),
    ],
)
def test_wrong_column_is_named_with_its_line(change: dict[str, object], clause: str, reason: str) -> None:
    with pytest.raises(Rejection) as refused:
        decode_event(json.dumps(json.loads(LINE) | change), 12)
    assert (refused.value.clause, refused.value.position, refused.value.reason) == (clause, 12, reason)


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"run":"r"}', "1e999", "NaN"])
def test_line_that_is_no_event_is_refused(text: str) -> None:
    with pytest.raises(Rejection) as refused:
        decode_event(text, 3)
    assert (refused.value.clause, refused.value.position) == ("history.json-lines.one-object-a-line", 3)


@given(st.text() | st.recursive(st.none() | st.integers() | st.text(), st.lists).map(json.dumps))
def test_any_text_gives_an_event_or_a_rejection(text: str) -> None:
    with pytest.raises(Rejection):
        decode_event(text)
