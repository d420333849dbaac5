"""OWN: what the recorded histories do not show."""

import pytest

from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Judgement, Verdict, Witness
from spec.history.notation import parse_history

CALM = "declare observes=view,own,disown,up,down,fault,heal,rpc,join,leave,locked\n"


def judge(rule: str, text: str) -> Judgement:
    return next(found for found in judge_history(parse_history(text)) if found.rule == rule)


@pytest.mark.clause("guarantee.own.same-view-one-owner")
def test_double_owner_is_reported_once_and_shows_both_tenures_and_views() -> None:
    events = parse_history(
        """
        declare observes=view,own,disown,up,down
        0s b view g topic=T members=a,b queues=x:0 strategy=AVG assigned=x:0
        0s b own g T@x:0 tenure=1 offset=0 mode=concurrent
        1s a view g topic=T members=a,b queues=x:0 strategy=AVG assigned=x:0
        1s a own g T@x:0 tenure=1 offset=0 mode=concurrent
        20s b view g topic=T members=a,b queues=x:0 strategy=AVG assigned=x:0
        """
    )
    judgement = next(found for found in judge_history(events) if found.rule == "OWN-2")
    _, b_view, b_own, a_view, a_own, _ = events
    summary = "a and b both hold T x:0 with equal views"
    assert judgement.witnesses == (Witness("OWN-2", summary, (b_own, a_own, b_view, a_view)),)
    assert judgement.violations == 1


@pytest.mark.clause("guarantee.own.same-view-one-owner")
def test_double_owner_with_different_views_is_explained_once() -> None:
    judgement = judge(
        "OWN-2",
        """
        declare observes=view,own,disown,up,down
        0s a view g topic=T members=a queues=x:0 strategy=AVG assigned=x:0
        0s a own g T@x:0 tenure=1 offset=0 mode=concurrent
        1s b view g topic=T members=a,b queues=x:0 strategy=AVG assigned=x:0
        1s b own g T@x:0 tenure=1 offset=0 mode=concurrent
        2s a view g topic=T members=a queues=x:0 strategy=AVG assigned=x:0
        """,
    )
    assert (judgement.verdict, judgement.explained) == (Verdict.HELD, {"two owners with different views": 1})


@pytest.mark.clause("guarantee.own.convergence")
@pytest.mark.parametrize(("end_ms", "verdict"), [(204_000, "not exercised"), (204_001, "violated")])
def test_gap_is_a_violation_one_millisecond_after_all_must_agree(end_ms: int, verdict: str) -> None:
    """BEGIN may hide a lost broker: 180 s until all know, one tick, one request, one delay."""
    text = CALM + (
        "0s a up status=client\n"
        "0s a view g topic=T members=a queues=x:0,x:1 strategy=AVG assigned=x:0,x:1\n"
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "200s a view g topic=T members=a queues=x:0,x:1 strategy=AVG assigned=x:0,x:1\n"
        f"{end_ms}ms a end-of-run\n"
    )
    assert judge("OWN-3", text).verdict is Verdict(verdict)


@pytest.mark.clause("guarantee.own.convergence")
def test_join_shortens_nothing_and_prolongs_by_two_ticks() -> None:
    def verdict_at(end_s: int) -> Verdict:
        text = CALM + (
            "0s a up status=client\n"
            "0s a view g topic=T members=a queues=x:0 strategy=AVG assigned=x:0\n"
            "300s x join g client=b broker=x\n"
            "301s a view g topic=T members=a queues=x:0 strategy=AVG assigned=x:0\n"
            f"{end_s}s a view g topic=T members=a queues=x:0 strategy=AVG assigned=x:0\n"
        )
        return judge("OWN-3", text).verdict

    assert verdict_at(344) is Verdict.NOT_EXERCISED
    assert verdict_at(345) is Verdict.VIOLATED


@pytest.mark.clause("guarantee.own.convergence")
def test_owner_older_than_the_observation_is_not_missed() -> None:
    text = CALM + (
        "0s a view g topic=T members=a,b queues=x:0,x:1 strategy=AVG assigned=x:0\n"
        "1s b view g topic=T members=a,b queues=x:0,x:1 strategy=AVG assigned=x:1\n"
        "250s a disown g T@x:0 tenure=7 cause=pull-expired\n"
        "251s a own g T@x:0 tenure=8 offset=9 mode=concurrent\n"
        "600s a view g topic=T members=a,b queues=x:0,x:1 strategy=AVG assigned=x:0\n"
        "601s b view g topic=T members=a,b queues=x:0,x:1 strategy=AVG assigned=x:1\n"
    )
    assert judge("OWN-3", text).verdict is Verdict.HELD


@pytest.mark.clause("guarantee.own.convergence")
def test_owner_that_nobody_lists_is_reported() -> None:
    text = CALM + (
        "0s c own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "0s a view g topic=T members=a queues=x:0 strategy=AVG assigned=x:0\n"
        "300s a view g topic=T members=a queues=x:0 strategy=AVG assigned=x:0\n"
    )
    (witness,) = judge("OWN-3", text).witnesses
    assert witness.summary == "T x:0 is held by c, which nobody lists as a member of g"


@pytest.mark.clause("guarantee.own.convergence")
def test_room_strategy_may_leave_queues_out() -> None:
    text = CALM + (
        "0s a view g topic=T members=a queues=r@x:0,s@y:0 strategy=MACHINE_ROOM assigned=r@x:0\n"
        "0s a own g T@r@x:0 tenure=1 offset=0 mode=concurrent\n"
        "300s a view g topic=T members=a queues=r@x:0,s@y:0 strategy=MACHINE_ROOM assigned=r@x:0\n"
    )
    assert judge("OWN-3", text).verdict is not Verdict.VIOLATED


@pytest.mark.clause("guarantee.own.single-tenancy")
@pytest.mark.parametrize(("after_ms", "verdict"), [(1_000, "held"), (1_001, "violated")])
def test_apache_may_take_one_more_step_within_the_scheduling_delay(after_ms: int, verdict: str) -> None:
    text = (
        "declare observes=own,disown,pull,pulled,start,local,up,down dialect=apache-4.9\n"
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "5s a disown g T@x:0 tenure=1 cause=rebalance\n"
        f"{5_000 + after_ms}ms a start g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1\n"
    )
    assert judge("OWN-4", text).verdict is Verdict(verdict)


@pytest.mark.clause("guarantee.own.single-tenancy")
def test_effect_of_a_tenure_whose_beginning_was_not_seen_is_not_judged() -> None:
    text = (
        "declare observes=own,disown,pull,pulled,start,local,up,down\n"
        "0s a pull g T@x:0 tenure=4 offset=0 request=1\n"
        "1s a disown g T@x:0 tenure=4 cause=rebalance\n"
        "2s a start g T@x:0 tenure=4 offset=0 message=m attempt=0 request=1\n"
    )
    assert judge("OWN-4", text).verdict is Verdict.HELD
