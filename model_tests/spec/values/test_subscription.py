"""Tag expressions and the two matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.rejection import Rejection
from spec.values.java_text import java_hash
from spec.values.subscription import (
    ExpressionType,
    Subscription,
    is_code_wanted,
    is_tag_wanted,
    parse_tags,
    subscribe_sql,
    subscribe_tags,
)
from spec.values.units import Milliseconds, TagCode

VERSION = Milliseconds(1)
EXPRESSIONS = st.text(alphabet="AaB|\t\u3000 *", max_size=8)


@pytest.mark.clause("group.subscription.tag-expression")
@pytest.mark.parametrize(
    ("expression", "tags"),
    [
        (None, ()),
        ("", ()),
        ("*", ()),
        ("A", ("A",)),
        ("A || B", ("A", "B")),
        ("||A||||B||", ("A", "B")),
        ("\tA\x00||\u3000B", ("A", "\u3000B")),
        ("A||A", ("A",)),
        ("A|B", ("A|B",)),
        ("|||", ("|",)),
        (" * ", ("*",)),
        ("*||A", ("*", "A")),
    ],
)
def test_expression_names_its_tags(expression: str | None, tags: tuple[str, ...]) -> None:
    assert parse_tags(expression) == tags


@pytest.mark.clause("group.subscription.tag-expression")
@pytest.mark.parametrize("expression", [None, "", "*"])
def test_everything_is_written_as_a_star(expression: str | None) -> None:
    assert subscribe_tags("T", expression, VERSION) == Subscription(
        "T", "*", ExpressionType.TAG, (), (), VERSION
    )


@pytest.mark.clause("group.subscription.tag-expression")
def test_text_is_kept_and_codes_are_java_hashes_each_once() -> None:
    assert subscribe_tags("T", " Aa||BB||TagA ", VERSION) == Subscription(
        "T",
        " Aa||BB||TagA ",
        ExpressionType.TAG,
        ("Aa", "BB", "TagA"),
        (TagCode(2112), TagCode(2598919)),
        VERSION,
    )


@pytest.mark.clause("group.subscription.names-a-tag")
@pytest.mark.parametrize(
    ("expression", "is_refused_by_apache"), [("||", True), ("||||", True), (" ", False), (" || ", False)]
)
def test_expression_without_tag_is_refused_and_apache_refuses_bare_separators(
    expression: str, *, is_refused_by_apache: bool
) -> None:
    with pytest.raises(Rejection, match="names no tag") as refusal:
        subscribe_tags("T", expression, VERSION)
    assert refusal.value.clause == "group.subscription.names-a-tag"
    if is_refused_by_apache:
        with pytest.raises(Rejection):
            parse_tags(expression, accept_no_tag=True)
    else:
        blank = subscribe_tags("T", expression, VERSION, accept_no_tag=True)
        assert is_tag_wanted(blank, "A")
        assert not is_code_wanted(blank, TagCode(java_hash("A")))


@pytest.mark.clause("group.subscription.exact-match-at-client")
def test_client_drops_collisions_and_untagged_messages() -> None:
    mine = subscribe_tags("T", "Aa", VERSION)
    assert [is_tag_wanted(mine, tag) for tag in ("Aa", "BB", "", None)] == [True, False, False, False]
    assert [is_tag_wanted(subscribe_tags("T", "*", VERSION), tag) for tag in ("x", None)] == [True, True]


@pytest.mark.clause("group.subscription.hash-match-loses-nothing")
@given(EXPRESSIONS, st.text(alphabet="AaB", min_size=1, max_size=3))
def test_what_matches_exactly_also_matches_by_hash(expression: str, tag: str) -> None:
    try:
        mine = subscribe_tags("T", expression, VERSION)
    except Rejection:
        return
    assert is_code_wanted(mine, None)
    assert is_code_wanted(mine, TagCode(java_hash(tag))) or not is_tag_wanted(mine, tag)


@pytest.mark.clause("group.subscription.sql-is-carried")
def test_sql_is_carried_unread() -> None:
    mine = subscribe_sql("T", "a > 1 || b", VERSION)
    assert mine == Subscription("T", "a > 1 || b", ExpressionType.SQL92, (), (), VERSION)
    assert is_tag_wanted(mine, None)
    assert is_code_wanted(mine, TagCode(5))
    with pytest.raises(Rejection) as refusal:
        subscribe_sql("T", "", VERSION)
    assert refusal.value.clause == "group.subscription.sql-is-carried"


@pytest.mark.clause("group.subscription.same-in-group")
def test_interest_is_compared_without_spelling_and_version() -> None:
    mine = subscribe_tags("T", "A||B", VERSION)
    assert mine.has_same_interest(subscribe_tags("T", " B || A||B", Milliseconds(9)))
    others = [
        subscribe_tags("T", "A", VERSION),
        subscribe_tags("U", "A||B", VERSION),
        subscribe_tags("T", "*", VERSION),
        subscribe_sql("T", "A||B", VERSION),
    ]
    assert [mine.has_same_interest(other) for other in others] == [False] * 4
    assert not subscribe_sql("T", "a", VERSION).has_same_interest(subscribe_sql("T", "b", VERSION))
