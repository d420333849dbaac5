import pytest

from spec.dialects.dialect import DIALECTS, Dialect
from spec.dialects.hole import Hole
from spec.guarantees.example import verdict_of
from spec.registry import load_clauses

STUCK = """
declare dialect={dialect}
0s b append SCHEDULE_TOPIC_XXXX@b:0 offset=0 message=m position=0 due_ms=1000
900s b end-of-run
"""


@pytest.mark.parametrize("dialect", DIALECTS.values(), ids=list(DIALECTS))
def test_differences_name_clauses_that_exist(dialect: Dialect) -> None:
    assert sorted(dialect.differs.keys() - load_clauses().keys()) == []
    assert all(dialect.differs.values())


def test_strict_reference_differs_nowhere_and_admits_nothing() -> None:
    assert DIALECTS["strict"].differs == {}
    assert DIALECTS["strict"].holes == frozenset()


def test_apache_4_9_admits_all_ten_holes_and_5_closes_the_first() -> None:
    assert DIALECTS["apache-4.9"].holes == frozenset(Hole)
    assert DIALECTS["apache-5"].holes == frozenset(Hole) - {Hole.K1}


@pytest.mark.clause("history.verdict.assumptions-bind")
def test_rule_whose_clause_a_dialect_answers_differently_is_not_applicable() -> None:
    assert verdict_of("DLY-3", STUCK.format(dialect="strict")) == "violated"
    assert verdict_of("DLY-3", STUCK.format(dialect="apache-4.9")) == "not applicable"
