"""Legal runs of a small world violate nothing, also when seen from the middle; a flaw is found."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.guarantees.group_world import World, without_beginning
from spec.guarantees.catalogue import MONITORS
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Verdict, Witness
from spec.history.declaration import Declaration, encode_declaration
from spec.history.event import Event
from spec.history.kind import Kind
from spec.history.well_formed import checked

FAMILIES = ("OWN", "OFF", "NLS")
JUDGES = tuple(monitor for monitor in MONITORS if monitor.rule.id.startswith(FAMILIES))


def find_witnesses(events: list[Event]) -> list[Witness]:
    judgements = judge_history(checked(events), JUDGES)
    return [witness for judgement in judgements for witness in judgement.witnesses]


@given(st.integers(0, 2**32))
def test_legal_run_violates_nothing(seed: int) -> None:
    assert find_witnesses(World(Random(seed)).run(400)) == []


@given(st.integers(0, 2**32), st.frozensets(st.sampled_from(list(Kind)), max_size=4))
def test_legal_run_seen_by_a_partial_recorder_violates_nothing(seed: int, unseen: frozenset[Kind]) -> None:
    begin, *events = World(Random(seed)).run(400)
    declared = begin._replace(detail=encode_declaration(Declaration(frozenset(Kind) - unseen)))
    assert find_witnesses([declared, *(event for event in events if event.kind not in unseen)]) == []


@given(st.integers(0, 2**32))
def test_legal_run_violates_no_rule_of_any_family(seed: int) -> None:
    judgements = judge_history(World(Random(seed)).run(300))
    assert [witness for judgement in judgements for witness in judgement.witnesses] == []


@given(st.integers(0, 2**32), st.integers(0, 600))
def test_legal_run_seen_from_the_middle_violates_nothing(seed: int, seen_from: int) -> None:
    events = World(Random(seed)).run(400)
    assert find_witnesses(without_beginning(events, seen_from)) == []


def test_legal_runs_exercise_every_rule_that_needs_no_long_calm() -> None:
    exercised: dict[str, int] = {}
    explained: set[str] = set()
    for seed in range(40):
        for judgement in judge_history(World(Random(seed)).run(400), JUDGES):
            exercised[judgement.rule] = exercised.get(judgement.rule, 0) + judgement.exercised
            explained |= set(judgement.explained)
    assert {rule for rule, count in exercised.items() if count == 0} <= {"OWN-3"}
    assert {
        "reset",
        "restart or fail-over",
        "different tenures",
        "two owners with different views",
    } <= explained


@pytest.mark.parametrize(
    ("flaw", "rules"),
    [
        ("members sort differently", {"OWN-1", "OWN-2"}),
        ("error is none", {"OFF-1", "NLS-1"}),
        ("commits what was pulled", {"OFF-2", "OFF-3", "NLS-1"}),
        ("refused return is forgotten", {"OFF-2", "NLS-1", "NLS-3"}),
        ("reset does not fence", {"OFF-6"}),
        ("never stores", {"OFF-5"}),
    ],
)
def test_flawed_run_is_found(flaw: str, rules: set[str]) -> None:
    found: set[str] = set()
    for seed in range(40):
        found |= {
            judgement.rule
            for judgement in judge_history(World(Random(seed), flaw).run(400), JUDGES)
            if judgement.verdict is Verdict.VIOLATED
        }
    assert rules <= found
