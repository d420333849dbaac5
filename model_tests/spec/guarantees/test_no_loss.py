"""NLS: limits, causes and witnesses that the recorded histories do not show."""

import pytest

from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Judgement, Verdict, Witness
from spec.history.notation import parse_history

NLS_2 = "declare observes=append,own,disown,pulled,flow,start,end,back,up,down,fault,rpc,deliver,divert\n"
NLS_3 = "declare observes=own,disown,pulled,start,end,back,local,up,down\n"


def judge(rule: str, text: str) -> Judgement:
    return next(found for found in judge_history(parse_history(text)) if found.rule == rule)


@pytest.mark.clause("guarantee.nls.no-orphan")
def test_orphan_is_shown_by_the_commit_that_passes_it_and_the_one_before() -> None:
    events = parse_history(
        """
        declare observes=append,own,disown,pulled,start,end,back,commit,up,down
        0s a own g T@x:0 tenure=1 offset=5 mode=concurrent
        1s x commit g T@x:0 offset=5 cause=update client=a tenure=1
        2s x append T@x:0 offset=5 message=m5 position=0
        9s x commit g T@x:0 offset=6 cause=update client=a tenure=1
        """
    )
    judgement = next(found for found in judge_history(events) if found.rule == "NLS-1")
    summary = "offset 5 of T x:0 is lost to g: the commit 6 passes it, and nobody has disposed of it"
    assert judgement.witnesses == (Witness("NLS-1", summary, (events[2], events[4])),)


@pytest.mark.clause("guarantee.nls.no-orphan")
@pytest.mark.parametrize("settled", ["deliver", "divert"])
def test_copy_that_was_delivered_or_put_aside_may_be_passed(settled: str) -> None:
    columns = " due_ms=0 outcome=ok" if settled == "deliver" else ""
    text = (
        "declare observes=append,own,pulled,start,end,back,commit,deliver,divert,cursor,retain,up,down\n"
        "0s x append SCHEDULE_TOPIC_XXXX@x:2 offset=4 message=r origin=m attempt=1 position=0\n"
        f"1s x {settled} broker=x level=3 offset=4 message=r{columns}\n"
        "2s x cursor broker=x level=3 offset=5 status=moved\n"
    )
    assert judge("NLS-1", text).verdict is not Verdict.VIOLATED
    unsettled = "\n".join(line for line in text.splitlines() if settled + " broker" not in line)
    assert judge("NLS-1", unsettled).verdict is Verdict.VIOLATED


@pytest.mark.clause("guarantee.nls.eventually-disposed")
@pytest.mark.parametrize(("end_ms", "verdict"), [(193_000, "held"), (193_001, "violated")])
def test_waiting_is_a_violation_one_millisecond_after_a_lost_pull_is_replaced(
    end_ms: int, verdict: str
) -> None:
    """120 s expiry, two ticks, a held pull with its sweep, one request: 183 s."""
    text = NLS_2 + (
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "10s x append T@x:0 offset=0 message=m0 position=0\n"
        f"{end_ms}ms a end-of-run\n"
    )
    assert judge("NLS-2", text).verdict is Verdict(verdict)


@pytest.mark.clause("guarantee.nls.eventually-disposed")
def test_disturbance_gives_time_again() -> None:
    text = NLS_2 + (
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "10s x append T@x:0 offset=0 message=m0 position=0\n"
        "100s c rpc client=c outcome=fail cause=heartbeat\n"
        "{}s a end-of-run\n"
    )
    assert judge("NLS-2", text.format(283)).verdict is Verdict.HELD
    assert judge("NLS-2", text.format(284)).verdict is Verdict.VIOLATED


@pytest.mark.clause("guarantee.nls.custody-transfer")
@pytest.mark.parametrize(("attempt", "verdict"), [(0, "violated"), (1, "held"), (2, "violated")])
def test_copy_is_exactly_one_attempt_higher(attempt: int, verdict: str) -> None:
    text = NLS_3 + (
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "1s a pulled g T@x:0 tenure=1 offset=0 next=1 request=1 status=found offsets=0\n"
        "1s a start g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1\n"
        "2s a end g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1 status=retry\n"
        f"3s a back g T@x:0 tenure=1 offset=0 message=m attempt={attempt} level=3 "
        "status=retry outcome=ok cause=listener\n"
    )
    assert judge("NLS-3", text).verdict is Verdict(verdict)


@pytest.mark.clause("guarantee.nls.custody-transfer")
def test_message_that_left_custody_is_shown_by_its_failure_and_the_position() -> None:
    events = parse_history(
        NLS_3 + "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "1s a start g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1\n"
        "2s a end g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1 status=retry\n"
        "3s a local g T@x:0 tenure=1 offset=1\n"
    )
    judgement = next(found for found in judge_history(events) if found.rule == "NLS-3")
    summary = "m at 0 of T x:0 failed and leaves custody without an acknowledged copy"
    assert judgement.witnesses == (Witness("NLS-3", summary, (events[3], events[4])),)


@pytest.mark.clause("guarantee.nls.custody-transfer")
def test_consume_timeout_returns_what_still_runs_and_the_late_success_is_no_second_copy() -> None:
    text = NLS_3 + (
        "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent\n"
        "1s a pulled g T@x:0 tenure=1 offset=0 next=1 request=1 status=found offsets=0\n"
        "1s a start g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1\n"
        "901s a back g T@x:0 tenure=1 offset=0 message=m attempt=1 level=3 "
        "status=retry outcome=ok cause=timeout\n"
        "901s a local g T@x:0 tenure=1 offset=1\n"
        "990s a end g T@x:0 tenure=1 offset=0 message=m attempt=0 request=1 status=success\n"
    )
    assert judge("NLS-3", text).verdict is Verdict.HELD
