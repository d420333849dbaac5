"""OFF: deadlines, causes and witnesses that the recorded histories do not show."""

import pytest

from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Judgement, Verdict, Witness
from spec.history.notation import parse_history

OFF_4 = "declare observes=own,disown,pulled,commit,reset,delete,range,up,down,fault,heal,rpc\n"
OFF_5 = "declare observes=own,disown,pull,pulled,start,end,back,local,commit,up,down,fault,heal,rpc,reset\n"

LOWER = "x commit g T@x:0 offset=6"
MOVED = "a pulled g T@x:0 tenure=1 offset=9 next=6 request=1 status=moved offsets="
OTHER = "b own g T@x:0 tenure=1 offset=6 mode=concurrent"


def judge(rule: str, text: str) -> Judgement:
    return next(found for found in judge_history(parse_history(text)) if found.rule == rule)


@pytest.mark.clause("guarantee.off.attributed-decrease")
@pytest.mark.parametrize(
    ("events", "cause"),
    [
        ("9s x commit g T@x:0 offset=3 cause=reset", "reset"),
        ("8s x reset g T@x:0 offset=3 status=begun | 9s x commit g T@x:0 offset=3 cause=update", "reset"),
        (f"9s {LOWER} cause=correction client=a tenure=1", "offset correction"),
        (f"8s {MOVED} | 9s {LOWER} cause=update client=a tenure=1", "offset correction"),
        (f"8s x down status=crash | 9s {LOWER} cause=update client=a tenure=1", "restart or fail-over"),
        (f"8s {OTHER} | 9s {LOWER} cause=update client=b tenure=1", "different tenures"),
        (f"9s {LOWER} cause=pull client=a tenure=1", "two requests of one tenure overtook each other"),
    ],
)
def test_decrease_is_attributed_to_exactly_one_cause(events: str, cause: str) -> None:
    text = OFF_4 + (
        "0s a own g T@x:0 tenure=1 offset=5 mode=concurrent\n"
        "7s x commit g T@x:0 offset=9 cause=update client=a tenure=1\n"
    )
    judgement = judge("OFF-4", text + events.replace(" | ", "\n"))
    assert (judgement.verdict, judgement.explained) == (Verdict.HELD, {cause: 1})


@pytest.mark.clause("guarantee.off.attributed-decrease")
def test_unexplained_decrease_shows_both_commits() -> None:
    events = parse_history(
        OFF_4 + "0s a own g T@x:0 tenure=1 offset=5 mode=concurrent\n"
        "7s x commit g T@x:0 offset=9 cause=update client=a tenure=1\n"
        "30s x commit g T@x:0 offset=7 cause=update client=a tenure=1\n"
    )
    judgement = next(found for found in judge_history(events) if found.rule == "OFF-4")
    summary = "the commit of g on T x:0 falls from 9 to 7 for no legal reason"
    assert judgement.witnesses == (Witness("OFF-4", summary, (events[2], events[3])),)


@pytest.mark.clause("guarantee.off.attributed-decrease")
@pytest.mark.parametrize(("back_to", "verdict"), [(20, "held"), (19, "violated")])
def test_restart_brings_back_nothing_older_than_one_flush(back_to: int, verdict: str) -> None:
    text = OFF_4 + (
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "1s x commit g T@x:0 offset=10 cause=update client=a tenure=1\n"
        "10s x commit g T@x:0 offset=20 cause=update client=a tenure=1\n"
        "18s x commit g T@x:0 offset=30 cause=update client=a tenure=1\n"
        "19s x down status=crash\n20s x up status=broker\n"
        f"40s x commit g T@x:0 offset={back_to} cause=update client=a tenure=1\n"
    )
    assert judge("OFF-4", text).verdict is Verdict(verdict)


@pytest.mark.clause("guarantee.off.progress")
@pytest.mark.parametrize(("end_ms", "verdict"), [(18_000, "not exercised"), (18_001, "violated")])
def test_commit_is_overdue_one_millisecond_after_period_and_request(end_ms: int, verdict: str) -> None:
    text = OFF_5 + (
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "1s a pulled g T@x:0 tenure=1 offset=0 next=1 request=1 status=found offsets=0\n"
        "2s a start g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1\n"
        "10s a end g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1 status=success\n"
        f"{end_ms}ms a end-of-run\n"
    )
    assert judge("OFF-5", text).verdict is Verdict(verdict)


@pytest.mark.clause("guarantee.off.progress")
@pytest.mark.parametrize(("end_ms", "verdict"), [(38_000, "not exercised"), (38_001, "violated")])
def test_commit_over_a_filtered_tail_has_one_held_pull_more(end_ms: int, verdict: str) -> None:
    text = OFF_5 + (
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "10s a pulled g T@x:0 tenure=1 offset=0 next=9 request=1 status=no-match offsets=\n"
        f"{end_ms}ms a end-of-run\n"
    )
    assert judge("OFF-5", text).verdict is Verdict(verdict)


@pytest.mark.clause("guarantee.off.progress")
def test_late_commit_is_reported_even_if_it_comes() -> None:
    text = OFF_5 + (
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "1s a pulled g T@x:0 tenure=1 offset=0 next=1 request=1 status=found offsets=0\n"
        "2s a start g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1\n"
        "10s a end g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1 status=success\n"
        "60s x commit g T@x:0 offset=1 cause=update client=a tenure=1\n"
    )
    assert judge("OFF-5", text).verdict is Verdict.VIOLATED


@pytest.mark.clause("guarantee.off.safety")
def test_commit_that_passes_something_is_reported_once() -> None:
    text = (
        "declare observes=own,disown,pulled,end,back,local,commit,up,down\n"
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "6s x commit g T@x:0 offset=5 cause=update client=a tenure=1\n"
        "7s x commit g T@x:0 offset=5 cause=update client=a tenure=1\n"
    )
    judgement = judge("OFF-2", text)
    assert (judgement.violations, judgement.exercised) == (1, 1)


@pytest.mark.clause("guarantee.off.provenance")
@pytest.mark.parametrize(("after_ms", "verdict"), [(4_000, "held"), (4_001, "violated")])
def test_last_store_may_arrive_one_request_after_the_end(after_ms: int, verdict: str) -> None:
    text = (
        "declare observes=own,disown,pulled,local,commit,reset,up,down,fault,rpc\n"
        "0s a own g T@x:0 tenure=1 offset=5 mode=concurrent\n"
        "1s a local g T@x:0 tenure=1 offset=7\n"
        "10s a disown g T@x:0 tenure=1 cause=rebalance\n"
        f"{10_000 + after_ms}ms x commit g T@x:0 offset=7 cause=update client=a tenure=1\n"
    )
    assert judge("OFF-3", text).verdict is Verdict(verdict)


@pytest.mark.clause("guarantee.off.resume")
def test_first_moments_of_the_observation_are_not_judged() -> None:
    text = (
        "declare observes=query,queried,initial,own,pull,up,down\n"
        "0s b pull g T@x:1 tenure=3 offset=0 request=1\n"
        "{}ms a own g T@x:0 tenure=1 offset=5 mode=concurrent\n"
    )
    assert judge("OFF-1", text.format(3_000)).verdict is Verdict.NOT_EXERCISED
    assert judge("OFF-1", text.format(3_001)).verdict is Verdict.VIOLATED


@pytest.mark.clause("guarantee.off.decisions-stick")
def test_reset_that_a_restart_undid_is_explained() -> None:
    text = (
        "declare observes=own,disown,commit,reset,delete,up,down\n"
        "0s x reset g T@x:0 offset=20 status=begun\n"
        "1s x reset g T@x:0 offset=20 status=done\n"
        "2s x down status=crash\n3s x up status=broker\n"
        "9s a own g T@x:0 tenure=1 offset=70 mode=concurrent\n"
    )
    judgement = judge("OFF-6", text)
    assert judgement.verdict is Verdict.HELD
    assert judgement.explained == {"a restart brought back what was held before the reset": 1}
