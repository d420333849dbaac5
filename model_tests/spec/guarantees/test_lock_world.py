"""Legal runs of ordered consumption violate nothing, however little of them is seen; a flaw is found."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.guarantees.lock_world import LockWorld
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

FAMILIES = ("LCK", "ORD", "DUP", "RTY", "OFF")


def find_witnesses(events: list[Event]) -> list[Witness]:
    judgements = judge_history(checked(events))
    return [witness for judgement in judgements for witness in judgement.witnesses]


@given(st.integers(0, 2**32))
def test_legal_run_violates_nothing(seed: int) -> None:
    assert find_witnesses(LockWorld(Random(seed)).run(300)) == []


@given(st.integers(0, 2**32), st.integers(1, 600), st.integers(1, 600))
def test_legal_run_seen_from_the_middle_violates_nothing(seed: int, first: int, length: int) -> None:
    events = LockWorld(Random(seed)).run(300)
    assert find_witnesses(seen_between(events, first)) == []
    assert find_witnesses(seen_between(events, first, first + length)) == []


@given(st.integers(0, 2**32), st.frozensets(st.sampled_from(HIDEABLE)), st.integers(0, 600))
def test_legal_run_seen_by_a_partial_recorder_violates_nothing(
    seed: int, unseen: frozenset[Kind], first: int
) -> None:
    events = LockWorld(Random(seed)).run(300)
    assert find_witnesses(seen_without(events, unseen)) == []
    assert find_witnesses(seen_without(seen_between(events, first), unseen)) == []


@given(st.integers(0, 2**32), st.integers(0, 60_000))
def test_legal_run_stamped_by_differing_clocks_violates_nothing(seed: int, skew_ms: int) -> None:
    events = LockWorld(Random(seed)).run(300)
    assert find_witnesses(seen_by_own_clocks(events, Random(seed), skew_ms)) == []


def test_legal_runs_exercise_the_rules_and_every_proviso() -> None:
    exercised: dict[str, int] = {}
    explained: set[str] = set()
    for seed in range(12):
        for judgement in judge_history(LockWorld(Random(seed)).run(900)):
            exercised[judgement.rule] = exercised.get(judgement.rule, 0) + judgement.exercised
            explained |= set(judgement.explained)
    idle = {rule for rule, count in exercised.items() if count == 0 and rule.startswith(FAMILIES)}
    assert idle == {"RTY-2"}
    assert {
        "(i) the lease ran out during a call",
        "(ii) the queue was reset during a call",
        "(iii) the master restarted or changed",
        "the holder's lease had run out",
        "ordered suspend",
        "hand-over",
        "reset",
    } <= explained


@pytest.mark.parametrize(
    ("flaw", "rules"),
    [
        ("grants too early", {"LCK-1", "LCK-4"}),
        ("refuses what is free", {"LCK-5"}),
        ("ignores a refusal", {"LCK-2"}),
        ("inverts the expiry", {"LCK-2", "LCK-3"}),
        ("unlocks during a call", {"LCK-4"}),
        ("never unlocks", {"LCK-5"}),
        ("calls twice at once", {"LCK-4", "ORD-1"}),
        ("forgets what failed", {"ORD-1", "ORD-2"}),
        ("presents it again", {"ORD-1", "DUP"}),
        ("does not count", {"RTY-1"}),
        ("begins ahead", {"ORD-2"}),
    ],
)
def test_flawed_run_is_found(flaw: str, rules: set[str]) -> None:
    found: set[str] = set()
    for seed in range(20):
        found |= {
            judgement.rule
            for judgement in judge_history(LockWorld(Random(seed), flaw).run(900))
            if judgement.verdict is Verdict.VIOLATED
        }
    assert rules <= found
