"""The registry reads a page in the one form, and says clearly what is wrong with any other."""

import pytest

from spec.registry import Clause, ClauseId, ClausePageError, Example, Level, Side, load_clauses, parse_page

PAGE = """\
# Wire

An introduction.

## wire.frame.length

- level: must
- side: broker, name server
- when: always
- source: Apache NettyDecoder

The length counts
everything after itself.

Why: A reader that is one
off never finds the next frame.

Holds:

```python
# a comment
## not a heading

assert 1 == 1
```

Broken: A length that counts itself.
"""

CLAUSE = Clause(
    id=ClauseId("wire.frame.length"),
    chapter="wire",
    level=Level.MUST,
    sides=(Side.BROKER, Side.NAME_SERVER),
    preconditions="always",
    source="Apache NettyDecoder",
    sentence="The length counts everything after itself.",
    reason="A reader that is one off never finds the next frame.",
    holds=Example("# a comment\n## not a heading\n\nassert 1 == 1", is_code=True),
    broken=Example("A length that counts itself.", is_code=False),
    line=5,
)


def test_a_page_gives_its_clauses_whole() -> None:
    assert parse_page("wire", PAGE) == [CLAUSE]


def test_a_page_of_two_clauses_keeps_their_order_and_lines() -> None:
    second = PAGE.partition("introduction.\n\n")[2].replace("wire.frame.length", "wire.frame.mark")
    clauses = parse_page("wire", PAGE + "\n" + second)
    assert [(clause.id, clause.line) for clause in clauses] == [
        ("wire.frame.length", 5),
        ("wire.frame.mark", 5 + PAGE.partition("introduction.\n\n")[2].count("\n") + 1),
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("## wire.frame.length", "## The length", "wire.md:5: a second-level heading is a clause id"),
        (
            "wire.frame.length",
            "wire",
            "an id is three or four lower-case words in kebab case, joined by dots",
        ),
        ("wire.frame.length", "wire.frame..length", "an id is three or four lower-case words in kebab case"),
        ("- level: must\n", "", "expected the lines level, side, when, source in this order"),
        ("- level: must\n- side: broker, name server", "- side: broker\n- level: must", "in this order"),
        ("level: must", "level: shall", "'shall' is not a valid Level"),
        ("broker, name server", "brocker", "'brocker' is not a valid Side"),
        ("Why:", "Because:", "expected the blocks Why:, Holds:, Broken: in this order"),
        ("Broken:", "Holds:", "expected the blocks Why:, Holds:, Broken: in this order"),
        ("A length that counts itself.", "", "sentence, reason and both examples must be written"),
        ("The length counts\neverything after itself.", "", "sentence, reason and both examples"),
    ],
)
def test_a_page_in_another_form_is_refused_with_a_clear_line(old: str, new: str, message: str) -> None:
    assert PAGE.count(old) == 1
    with pytest.raises(ClausePageError) as caught:
        parse_page("wire", PAGE.replace(old, new))
    assert message in str(caught.value)
    assert str(caught.value).startswith("wire.md:5: ")


def _hash_after(old: str, new: str) -> str:
    return parse_page("wire", PAGE.replace(old, new))[0].text_hash


def test_the_text_hash_changes_with_sentence_level_and_preconditions_only() -> None:
    assert _hash_after("everything", "all") != CLAUSE.text_hash
    assert _hash_after("level: must", "level: may") != CLAUSE.text_hash
    assert _hash_after("when: always", "when: never") != CLAUSE.text_hash
    assert _hash_after("Apache NettyDecoder", "decision") == CLAUSE.text_hash
    assert _hash_after("counts\neverything", "counts everything") == CLAUSE.text_hash


def test_the_loaded_clauses_stand_under_their_own_ids() -> None:
    assert [(name, clause.id) for name, clause in load_clauses().items() if name != clause.id] == []
