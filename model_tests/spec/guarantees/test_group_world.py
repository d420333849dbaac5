"""Legal runs of a small world violate nothing, however little of them is seen; a flaw is found."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.guarantees.group_world import World
from model_tests.spec.guarantees.sight import (
    HIDEABLE,
    seen_between,
    seen_by_own_clocks,
    seen_without,
)
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Verdict, Witness
from spec.history.event import Event
from spec.history.kind import Kind
from spec.history.well_formed import checked

FAMILIES = ("OWN", "OFF", "NLS", "DUP", "RTY-1")


def find_witnesses(events: list[Event]) -> list[Witness]:
    judgements = judge_history(checked(events))
    return [witness for judgement in judgements for witness in judgement.witnesses]


@given(st.integers(0, 2**32))
def test_legal_run_violates_nothing(seed: int) -> None:
    assert find_witnesses(World(Random(seed)).run(400)) == []


@given(st.integers(0, 2**32), st.frozensets(st.sampled_from(HIDEABLE)), st.integers(0, 600))
def test_legal_run_seen_by_a_partial_recorder_violates_nothing(
    seed: int, unseen: frozenset[Kind], first: int
) -> None:
    events = World(Random(seed)).run(400)
    assert find_witnesses(seen_without(events, unseen)) == []
    assert find_witnesses(seen_without(seen_between(events, first), unseen)) == []


@given(st.integers(0, 2**32), st.integers(0, 600), st.integers(1, 600))
def test_legal_run_seen_from_the_middle_violates_nothing(seed: int, first: int, length: int) -> None:
    events = World(Random(seed)).run(400)
    assert find_witnesses(seen_between(events, first)) == []
    assert find_witnesses(seen_between(events, first, first + length)) == []


@given(st.integers(0, 2**32), st.integers(0, 60_000))
def test_legal_run_stamped_by_differing_clocks_violates_nothing(seed: int, skew_ms: int) -> None:
    events = World(Random(seed)).run(400)
    assert find_witnesses(seen_by_own_clocks(events, Random(seed), skew_ms)) == []


@pytest.mark.parametrize(
    ("seed", "steps", "first"),
    [
        pytest.param(38, 400, 431, id="RTY-1: the refused return was not seen, its local retry was"),
        pytest.param(1742, 600, 595, id="OFF-3: a store of the process before the one that was seen"),
        pytest.param(20595, 300, 251, id="RTY-1: a copy of a copy from before the observation"),
    ],
)
def test_legal_run_that_was_once_reported_violates_nothing(seed: int, steps: int, first: int) -> None:
    assert find_witnesses(seen_between(World(Random(seed)).run(steps), first)) == []


def test_legal_runs_exercise_every_rule_that_needs_no_long_calm() -> None:
    exercised: dict[str, int] = {}
    explained: set[str] = set()
    for seed in range(40):
        for judgement in judge_history(World(Random(seed)).run(400)):
            exercised[judgement.rule] = exercised.get(judgement.rule, 0) + judgement.exercised
            explained |= set(judgement.explained)
    idle = {rule for rule, count in exercised.items() if count == 0 and rule.startswith(FAMILIES)}
    assert idle <= {"OWN-3"}
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
            for judgement in judge_history(World(Random(seed), flaw).run(400))
            if judgement.verdict is Verdict.VIOLATED
        }
    assert rules <= found
