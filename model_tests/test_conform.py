"""The report says held only where something ran and nothing failed."""

import pytest

from model_tests.conform import (
    EXIT_INCONCLUSIVE,
    Finding,
    Verdict,
    derive_exit_code,
    derive_findings,
    is_held_by_vectors,
)
from model_tests.evaluation import Recorder
from spec.registry import parse_page

PAGE = """\
## wire.thing.{name}

- level: must
- side: broker
- when: always
- source: decision: an example

A thing.

Why: So.

Holds: It is.

Broken: It is not.
"""
CLAUSES = [parse_page("wire", PAGE.format(name=name))[0] for name in ("one", "two", "three")]


def _recorder(failures: dict[str, str]) -> Recorder:
    tests = {"t1": ["wire.thing.one", "wire.thing.two"], "t2": ["wire.thing.two"]}
    return Recorder(tests, failures)


def test_one_failed_check_violates_a_clause_and_no_check_leaves_it_open() -> None:
    assert derive_findings(CLAUSES, _recorder({"t2": "AssertionError"})) == [
        Finding(CLAUSES[0], Verdict.HELD, ("t1",), ()),
        Finding(CLAUSES[1], Verdict.VIOLATED, ("t1", "t2"), ("t2: AssertionError",)),
        Finding(CLAUSES[2], Verdict.NOT_EXERCISED, (), ()),
    ]


@pytest.mark.parametrize(
    ("recorder", "code"),
    [
        (_recorder({}), 0),
        (_recorder({"t2": "AssertionError"}), 1),
        (_recorder({"a test of no clause": "AssertionError"}), 1),
        (Recorder(), EXIT_INCONCLUSIVE),
    ],
)
def test_the_exit_code_says_held_violated_or_inconclusive(recorder: Recorder, code: int) -> None:
    assert derive_exit_code(derive_findings(CLAUSES, recorder), recorder) == code


def test_an_example_alone_is_not_a_vector() -> None:
    vector, example = "model_tests/vectors/test_x.py::t", "model_tests/spec/test_clause_pages.py::t"
    assert is_held_by_vectors(Finding(CLAUSES[0], Verdict.HELD, (example, vector), ()))
    assert not is_held_by_vectors(Finding(CLAUSES[0], Verdict.HELD, (example,), ()))
    assert not is_held_by_vectors(Finding(CLAUSES[0], Verdict.VIOLATED, (vector,), ("x",)))
