"""The clause pages are whole, their examples do what they say, and the code names real clauses."""

from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from model_tests.spec.clause_reference import Reference, find_all_references, find_references
from spec.registry import Clause, Example, load_clauses
from spec.rejection import Rejection

ROOT: Final = Path(__file__).parents[2]
CHAPTERS: Final = ("broker", "client", "group", "history", "nameserver", "recovery", "store", "wire")
CLAUSES_AT_LEAST: Final = 150


def _run(example: Example, name: str) -> None:
    exec(compile(example.text, name, "exec"), {"__name__": name})


def _cases() -> list[Clause]:
    return list(load_clauses().values())


def _example_cases() -> list[pytest.ParameterSet]:
    """Clauses with executable examples; only a pair of them counts as an evaluation of the clause."""
    return [
        pytest.param(
            clause,
            id=clause.id,
            marks=[pytest.mark.clause(clause.id)] if clause.holds.is_code and clause.broken.is_code else [],
        )
        for clause in _cases()
        if clause.holds.is_code or clause.broken.is_code
    ]


def test_there_are_at_least_150_clauses() -> None:
    assert len(load_clauses()) >= CLAUSES_AT_LEAST


def test_every_chapter_has_a_page_with_clauses() -> None:
    chapters = Counter(clause.chapter for clause in load_clauses().values())
    assert [chapter for chapter in CHAPTERS if not chapters[chapter]] == []


def test_every_id_begins_with_its_chapter() -> None:
    """A long chapter may have several pages: `wire` and `wire-body` both hold `wire.*`."""
    strays = [c.id for c in _cases() if c.id.partition(".")[0] != c.chapter.partition("-")[0]]
    assert strays == []


@pytest.mark.parametrize("clause", _example_cases())
def test_the_holding_example_is_clean_and_the_broken_one_is_refused(clause: Clause) -> None:
    where = f"{clause.chapter}.md:{clause.line}"
    if clause.holds.is_code:
        _run(clause.holds, f"{where} Holds")
    if clause.broken.is_code:
        # A slip such as a NameError is no refusal.
        with pytest.raises((AssertionError, Rejection)):
            _run(clause.broken, f"{where} Broken")


def test_every_clause_that_the_sources_name_exists() -> None:
    known = load_clauses()
    unknown = [reference for reference in find_all_references(ROOT) if reference.clause not in known]
    assert [f"{place.path}:{place.line}: {place.clause}" for place in unknown] == []


def test_references_are_found_in_docstrings_constants_and_rejections() -> None:
    source = '''\
"""Essay.

Clauses: a.one, b.two-more,
    c.three
"""
_RULE = "wire.frame.four"
LIMIT = 3
"""A limit. Clause: e.five."""

def decode(data):
    """True afterwards. Clause: prose is not an id."""
    if data:
        raise Rejection(_RULE, 0, "why")
    raise refusal(0, "store.record.six")

def _reject(at, field, reason):
    return Rejection(f"store.record.{field}", at, reason)

def check(data):
    raise _reject(0, "seven", "why")
'''
    assert find_references("m.py", source) == [
        Reference("m.py", 3, "a.one"),
        Reference("m.py", 3, "b.two-more"),
        Reference("m.py", 3, "c.three"),
        Reference("m.py", 6, "wire.frame.four"),
        Reference("m.py", 8, "e.five"),
        Reference("m.py", 14, "store.record.six"),
        Reference("m.py", 20, "store.record.seven"),
    ]
