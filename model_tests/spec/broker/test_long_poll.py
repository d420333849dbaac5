import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.long_poll import (
    SWEEP_MS,
    HeldPull,
    Verdict,
    decide_on_arrival,
    decide_on_sweep,
    derive_answer_deadline_ms,
    derive_hold_limit_ms,
    derive_sweep_ms,
    is_held,
)
from spec.wire.code import ResponseCode


@pytest.mark.clause("broker.hold.only-not-found", "broker.hold.never-twice")
def test_only_an_empty_first_run_with_the_suspend_bit_is_held() -> None:
    held = {code for code in ResponseCode if is_held(code, 0b10, is_rerun=False)}
    assert held == {ResponseCode.PULL_NOT_FOUND}
    assert not is_held(ResponseCode.PULL_NOT_FOUND, 0b11101, is_rerun=False)
    assert not is_held(ResponseCode.PULL_NOT_FOUND, 0b10, is_rerun=True)


@pytest.mark.clause("broker.hold.limit")
def test_short_polling_replaces_the_requested_time() -> None:
    assert (derive_hold_limit_ms(15_000), derive_sweep_ms()) == (15_000, 5_000)
    assert derive_hold_limit_ms(15_000, is_long_polling=False) == 1_000
    assert derive_sweep_ms(is_long_polling=False) == 1_000


@pytest.mark.clause(
    "broker.hold.arrival-answers", "broker.hold.end-is-exclusive", "broker.hold.timeout-answers"
)
@pytest.mark.parametrize(
    ("queue_end", "now_ms", "is_match", "verdict"),
    [
        (101, 1, True, Verdict.ANSWER),
        (100, 1, True, Verdict.KEEP),
        (101, 1, False, Verdict.KEEP),
        (101, 14_999, False, Verdict.KEEP),
        (100, 15_000, False, Verdict.ANSWER),
    ],
)
def test_arrival_answers_news_and_overdue_pulls(
    queue_end: int, now_ms: int, *, is_match: bool, verdict: Verdict
) -> None:
    assert decide_on_arrival(HeldPull(100, 0, 15_000), queue_end, now_ms, is_match=is_match) is verdict


@pytest.mark.clause("broker.hold.sweep-matches-anything")
def test_sweep_wakes_for_a_message_that_does_not_match() -> None:
    pull = HeldPull(100, 0, 15_000)
    assert decide_on_arrival(pull, 101, 1, is_match=False) is Verdict.KEEP
    assert decide_on_sweep(pull, 101, 5_000) is Verdict.ANSWER


@pytest.mark.clause("broker.hold.answered-in-time")
@pytest.mark.parametrize(("limit_ms", "answered_ms"), [(1_000, 5_000), (7_000, 10_000)])
def test_idle_pull_is_answered_at_the_sweep_that_was_seen_on_4_9_3(limit_ms: int, answered_ms: int) -> None:
    pull = HeldPull(0, 0, limit_ms)
    sweeps = range(SWEEP_MS, 60_000, SWEEP_MS)
    assert next(at for at in sweeps if decide_on_sweep(pull, 0, at) is Verdict.ANSWER) == answered_ms


@pytest.mark.clause("broker.hold.answered-in-time", "broker.hold.arrival-answers")
@given(
    limit_ms=st.integers(0, 30_000),
    phase_ms=st.integers(1, SWEEP_MS),
    arrivals=st.lists(st.tuples(st.integers(1, 60_000), st.booleans()), max_size=5),
)
def test_every_held_pull_is_answered_by_its_deadline(
    limit_ms: int, phase_ms: int, arrivals: list[tuple[int, bool]]
) -> None:
    pull = HeldPull(10, 0, limit_ms)
    looks = [(at, "sweep", True) for at in range(phase_ms, 70_000, SWEEP_MS)]
    looks += [(at, "arrival", is_match) for at, is_match in arrivals]
    queue_end = 10
    for now_ms, kind, is_match in sorted(looks):
        queue_end += kind == "arrival"
        verdict = (
            decide_on_sweep(pull, queue_end, now_ms)
            if kind == "sweep"
            else decide_on_arrival(pull, queue_end, now_ms, is_match=is_match)
        )
        if verdict is Verdict.ANSWER:
            assert now_ms <= derive_answer_deadline_ms(pull)
            return
        assert not (kind == "arrival" and is_match)
    raise AssertionError("never answered")
