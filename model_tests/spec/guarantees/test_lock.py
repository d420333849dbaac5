"""LCK at its boundaries: deadlines a millisecond either side, witnesses, and who is excused."""

import pytest

from model_tests.spec.guarantees.lines import find_shown, judge_lines
from spec.guarantees.verdict import Verdict

LOCK_A = "0s x lock g T@x:0 client=a outcome=ok"
OWN_A = "0s a own g T@x:0 tenure=1 offset=0 mode=ordered"
LOCKED_A = "0s a locked g T@x:0 outcome=ok"
UP_A = "0s a up status=client"
UP_B = "0s b up status=client"


def start(time: str, client: str = "a", tenure: int = 1, request: int = 1) -> str:
    return f"{time} {client} start g T@x:0 tenure={tenure} offset=0 message=m0 attempt=0 request={request}"


@pytest.mark.clause("guarantee.lck.lease-respected")
@pytest.mark.parametrize(("time", "verdict"), [("60000ms", Verdict.VIOLATED), ("60001ms", Verdict.HELD)])
def test_lease_ends_when_more_than_its_time_has_passed(time: str, verdict: Verdict) -> None:
    judgement = judge_lines("LCK-1", LOCK_A, f"{time} x lock g T@x:0 client=b outcome=ok")
    assert judgement.verdict is verdict


@pytest.mark.clause("guarantee.lck.lease-respected")
def test_lease_witness_is_the_last_renewal_and_the_grant() -> None:
    judgement = judge_lines(
        "LCK-1", LOCK_A, "20s x lock g T@x:0 client=a outcome=ok", "61s x lock g T@x:0 client=b outcome=ok"
    )
    assert find_shown(judgement) == [
        ("T x:0 was granted to b 41000 ms after a's last grant, which is good for 60000 ms", [2, 3])
    ]


@pytest.mark.clause("guarantee.lck.lease-respected")
def test_tap_on_the_wire_may_be_off_by_one_request() -> None:
    early = "0s tap lock g T@x:0 client=a outcome=ok", "57001ms tap lock g T@x:0 client=b outcome=ok"
    earlier = early[0], "57000ms tap lock g T@x:0 client=b outcome=ok"
    assert judge_lines("LCK-1", *early).verdict is Verdict.HELD
    assert judge_lines("LCK-1", *earlier).verdict is Verdict.VIOLATED


@pytest.mark.clause("guarantee.lck.lease-respected")
def test_decision_that_nobody_knows_makes_no_lease() -> None:
    judgement = judge_lines(
        "LCK-1", "0s x lock g T@x:0 client=a outcome=unknown", "1s x lock g T@x:0 client=b outcome=ok"
    )
    assert judgement.verdict is Verdict.HELD


@pytest.mark.clause("guarantee.lck.lease-respected")
def test_replica_that_restarts_does_not_free_locks() -> None:
    judgement = judge_lines(
        "LCK-5",
        LOCK_A,
        "1s x-replica up status=broker broker=x replica=1",
        "2s x lock g T@x:0 client=b outcome=fail",
    )
    assert judgement.violations == 0


@pytest.mark.clause("guarantee.lck.start-gated")
@pytest.mark.parametrize(("time", "verdict"), [("31000ms", Verdict.HELD), ("31001ms", Verdict.VIOLATED)])
def test_trust_lasts_for_its_time_and_the_scheduling_delay(time: str, verdict: Verdict) -> None:
    assert judge_lines("LCK-2", LOCKED_A, OWN_A, start(time)).verdict is verdict


@pytest.mark.clause("guarantee.lck.start-gated")
@pytest.mark.parametrize(("time", "verdict"), [("6000ms", Verdict.HELD), ("6001ms", Verdict.VIOLATED)])
def test_refusal_ends_the_trust(time: str, verdict: Verdict) -> None:
    refused = "5s a locked g T@x:0 outcome=fail"
    assert judge_lines("LCK-2", LOCKED_A, OWN_A, refused, start(time)).verdict is verdict


@pytest.mark.clause("guarantee.lck.start-gated")
def test_batch_is_one_call() -> None:
    judgement = judge_lines("LCK-2", UP_A, OWN_A, start("1s"), start("1s").replace("offset=0", "offset=1"))
    assert judgement.violations == 1


@pytest.mark.clause("guarantee.lck.start-gated")
def test_apache_shutdown_races_with_the_next_call() -> None:
    lines = LOCKED_A, OWN_A, "5s x unlock g T@x:0 client=a outcome=ok", start("6s")
    assert judge_lines("LCK-2", *lines).verdict is Verdict.VIOLATED
    admitted = judge_lines("LCK-2", "declare dialect=apache-4.9", *lines)
    assert admitted.explained == {"a shutdown unlocks without waiting (K9)": 1}


@pytest.mark.clause("guarantee.lck.start-exclusive")
def test_nothing_is_promised_when_the_lease_is_too_short() -> None:
    judgement = judge_lines(
        "LCK-3",
        "declare lock_lease_ms=34000",
        UP_A,
        LOCK_A,
        OWN_A,
        "35s x lock g T@x:0 client=b outcome=ok",
        start("36s"),
    )
    assert judgement.verdict is Verdict.NOT_EXERCISED
    assert judgement.explained == {"the lease is not longer than trust, request and delay together": 1}


@pytest.mark.clause("guarantee.lck.start-exclusive")
def test_exclusive_start_witness_shows_loss_lease_and_call() -> None:
    judgement = judge_lines(
        "LCK-3",
        UP_A,
        LOCK_A,
        OWN_A,
        "5s x unlock g T@x:0 client=a outcome=ok",
        "6s x lock g T@x:0 client=b outcome=ok",
        start("7s"),
    )
    assert find_shown(judgement) == [("a begins a call on T x:0 while b holds its lock", [4, 5, 6])]


@pytest.mark.clause("guarantee.lck.execution-exclusive")
def test_overlap_witness_shows_unlock_grant_and_both_calls() -> None:
    judgement = judge_lines(
        "LCK-4",
        UP_A,
        UP_B,
        LOCK_A,
        OWN_A,
        start("1s"),
        "2s a disown g T@x:0 tenure=1 cause=rebalance",
        "2s x unlock g T@x:0 client=a outcome=ok",
        "3s x lock g T@x:0 client=b outcome=ok",
        "3s b own g T@x:0 tenure=1 offset=0 mode=ordered",
        start("4s", "b"),
    )
    assert find_shown(judgement) == [
        ("a and b both run calls on T x:0; no proviso failed", [5, 7, 8, 10]),
    ]


@pytest.mark.clause("guarantee.lck.execution-exclusive")
def test_lease_that_ran_out_excuses_only_calls_begun_before() -> None:
    taken_over = (
        "61s x lock g T@x:0 client=b outcome=ok",
        "61s b own g T@x:0 tenure=1 offset=0 mode=ordered",
    )
    before = UP_A, UP_B, LOCK_A, OWN_A, start("1s"), *taken_over, start("62s", "b")
    after = UP_A, UP_B, LOCK_A, OWN_A, *taken_over, start("62s", "b"), start("63s")
    assert judge_lines("LCK-4", *before).explained == {"(i) the lease ran out during a call": 1}
    assert judge_lines("LCK-4", *after).verdict is Verdict.VIOLATED


@pytest.mark.clause("guarantee.lck.execution-exclusive")
def test_call_ends_with_its_last_message() -> None:
    second = start("1s").replace("offset=0", "offset=1")
    ended = "2s a end g T@x:0 tenure=1 offset=0 message=m0 attempt=0 request=1 status=success"
    running = judge_lines("LCK-4", LOCK_A, OWN_A, start("1s"), second, ended, start("3s", request=2))
    over = judge_lines(
        "LCK-4",
        LOCK_A,
        OWN_A,
        start("1s"),
        second,
        ended,
        ended.replace("offset=0", "offset=1"),
        start("3s", request=2),
    )
    assert (running.violations, over.violations) == (1, 0)


@pytest.mark.clause("guarantee.lck.handed-on")
@pytest.mark.parametrize(("time", "violations"), [("45s", 0), ("45001ms", 1)])
def test_dropped_queue_is_unlocked_within_a_tick_the_delay_and_a_request(time: str, violations: int) -> None:
    judgement = judge_lines(
        "LCK-5",
        LOCK_A,
        LOCKED_A,
        OWN_A,
        "0s a pull g T@x:0 tenure=1 offset=0 request=1",
        "1s a disown g T@x:0 tenure=1 cause=rebalance",
        f"{time} a view g topic=T members=a queues=x:0 strategy=AVG assigned=",
    )
    assert judgement.violations == violations


@pytest.mark.clause("guarantee.lck.handed-on")
@pytest.mark.parametrize(("time", "violations"), [("30s", 0), ("30001ms", 1)])
def test_granted_tenure_pulls_within_a_renewal(time: str, violations: int) -> None:
    judgement = judge_lines("LCK-5", LOCK_A, LOCKED_A, OWN_A, f"{time} recorder end-of-run")
    assert judgement.violations == violations


@pytest.mark.clause("guarantee.lck.handed-on")
def test_holder_may_unlock_and_ask_again() -> None:
    unlock = judge_lines("LCK-5", LOCK_A, "1s x unlock g T@x:0 client=a outcome=fail")
    again = judge_lines("LCK-5", LOCK_A, "1s x lock g T@x:0 client=a outcome=fail")
    assert find_shown(unlock) == [("a may not unlock T x:0, which it holds", [1, 2])]
    assert find_shown(again) == [("a was refused T x:0, which it holds itself", [1, 2])]


@pytest.mark.clause("guarantee.lck.handed-on")
def test_lost_answer_does_not_count_as_a_contradiction() -> None:
    judgement = judge_lines(
        "LCK-5",
        LOCK_A,
        "1s a locked g T@x:0 outcome=unknown",
        "2s x unlock g T@x:0 client=a outcome=ok",
        "3s x lock g T@x:0 client=b outcome=ok",
        "4s x lock g T@x:0 client=a outcome=fail",
        "5s a locked g T@x:0 outcome=fail",
    )
    assert judgement.violations == 0
