import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.history.declaration import Constants, Declaration, decode_declaration
from spec.history.event import Event, Outcome
from spec.history.kind import Kind
from spec.history.notation import parse_history
from spec.rejection import Rejection


@pytest.mark.clause("history.notation.one-event-a-line")
def test_lines_become_events() -> None:
    text = """
    declare observes=all-but:start,end assumes=A1 dialect=apache-4.9 durability=async rebalance_ms=200
    # two events
    1.25s  a  lock    g T@b:0 client=c outcome=fail   # a comment
    9ms    c  pulled  g %RETRY%g@b#1:3 tenure=1 offset=4 next=9 request=2 status=found offsets=4,7
    """
    begin, lock, pulled = parse_history(text, "r")
    assert decode_declaration(begin.detail) == Declaration(
        frozenset(Kind) - {Kind.START, Kind.END},
        frozenset({"A1"}),
        "apache-4.9",
        "async",
        Constants(rebalance_ms=200),
    )
    assert lock == Event("r", 1, 1250, "a", Kind.LOCK, "g", "T", "b", 0, client="c", outcome=Outcome.FAIL)
    assert pulled == Event(
        "r",
        2,
        9,
        "c",
        Kind.PULLED,
        "g",
        "%RETRY%g",
        "b#1",
        3,
        4,
        9,
        client="c",
        tenure=1,
        status="found",
        request=2,
        offsets=(4, 7),
    )


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("0s c", "a line is: time node kind columns..."),
        ("soon c end-of-run", "a time ends in s or ms: 'soon'"),
        ("xs c end-of-run", "expected a whole number, found 'x000'"),
        ("0s c finished", "'finished' is not a valid Kind"),
        ("0s c lock g T@b outcome=ok", "a queue is written topic@broker:number, not 'T@b'"),
        ("0s c lock g T@b:x outcome=ok", "expected a whole number, found 'x'"),
        ("0s c lock g T@b:0 outcome=maybe", "an outcome is ok, fail or unknown, not 'maybe'"),
        ("0s c lock g T@b:0 offset=x", "expected a whole number, found 'x'"),
        ("0s c lock g T@b:0 ofset=1", "unknown column 'ofset'"),
        ("declare rebalance=1", "nothing called 'rebalance' can be declared"),
        ("declare observes", "expected name=value, found 'observes'"),
        ("declare observes=sight", "'sight' is not a valid Kind"),
    ],
)
def test_line_that_is_wrong_is_refused_with_its_number(line: str, reason: str) -> None:
    with pytest.raises(Rejection) as refused:
        parse_history(f"# first\n{line}")
    assert (refused.value.position, refused.value.reason) == (2, reason)


@given(
    st.text()
    | st.lists(st.sampled_from(["0s", "c", "lock", "g", "T@b:0", "outcome=ok", "declare", "\n"])).map(
        " ".join
    )
)
def test_any_text_gives_a_history_or_a_rejection(text: str) -> None:
    try:
        events = parse_history(text)
    except Rejection:
        return
    assert events[0].kind is Kind.BEGIN
