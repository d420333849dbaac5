"""No rule reports a history in which nothing went wrong, however little of it was seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.legal_run import LegalRun
from model_tests.spec.guarantees.sight import HIDEABLE, seen_between, seen_without
from spec.guarantees.catalogue import MONITORS
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Verdict, Witness
from spec.history.event import Event
from spec.history.kind import Kind
from spec.history.well_formed import checked

SEEDS = range(12)
RUNS = {"calm": LegalRun(1, is_eventful=False).run(120), "eventful": LegalRun(2).run(300)}


def find_witnesses(events: list[Event]) -> list[Witness]:
    return [witness for judgement in judge_history(events) for witness in judgement.witnesses]


@pytest.mark.parametrize("seed", SEEDS)
def test_legal_run_violates_nothing(seed: int) -> None:
    events = LegalRun(seed).run(300)
    assert list(checked(events)) == events
    assert find_witnesses(events) == []


def test_same_seed_gives_the_same_history() -> None:
    assert LegalRun(2).run(300) == RUNS["eventful"]


def test_legal_run_exercises_the_headline_rules() -> None:
    held = {
        judgement.rule for judgement in judge_history(RUNS["eventful"]) if judgement.verdict is Verdict.HELD
    }
    assert {"OWN-1", "OWN-2", "STO-1", "STO-3", "DLY-1", "DLY-2", "LIV-1", "LIV-2"} <= held


@given(st.sampled_from(list(RUNS)), st.data())
def test_legal_run_seen_from_the_middle_violates_nothing(name: str, data: st.DataObject) -> None:
    events = RUNS[name]
    first = data.draw(st.integers(1, len(events)))
    last = data.draw(st.integers(first, len(events)))
    assert find_witnesses(seen_between(events, first, last)) == []


@given(st.sampled_from(list(RUNS)), st.frozensets(st.sampled_from(HIDEABLE)), st.data())
def test_legal_run_seen_by_a_partial_recorder_violates_nothing(
    name: str, unseen: frozenset[Kind], data: st.DataObject
) -> None:
    seen = seen_without(RUNS[name], unseen)
    judged = {judgement.rule: judgement for judgement in judge_history(seen)}
    assert [judgement.witnesses for judgement in judged.values() if judgement.witnesses] == []
    for monitor in MONITORS:
        verdict = judged[monitor.rule.id].verdict
        assert (verdict is Verdict.NOT_OBSERVABLE) == bool(monitor.rule.needs & unseen)
    first = data.draw(st.integers(1, len(RUNS[name])))
    assert find_witnesses(seen_without(seen_between(RUNS[name], first), unseen)) == []


def test_long_calm_run_seen_from_the_middle_violates_nothing() -> None:
    events = LegalRun(3, queue_count=2, sends_a_round=1, is_eventful=False).run(700)
    for part in range(1, 6):
        assert find_witnesses(seen_between(events, part * len(events) // 6)) == []
