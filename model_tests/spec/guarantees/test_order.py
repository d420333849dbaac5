"""ORD: what the recorded histories do not show."""

import pytest

from model_tests.spec.guarantees.lines import find_shown, judge_lines
from spec.guarantees.verdict import Verdict

OWN = "0s a own g T@x:0 tenure=1 offset=0 mode=ordered"


def call(kind: str, offset: int, request: int, attempt: int = 0, status: str = "") -> str:
    ended = f" status={status}" if status else ""
    return (
        f"{request}s a {kind} g T@x:0 tenure=1 offset={offset} message=m{offset} attempt={attempt} "
        f"request={request}{ended}"
    )


def back(offset: int, outcome: str) -> str:
    return (
        f"2s a back g T@x:0 tenure=1 offset={offset} message=m{offset} attempt=3 level=0 "
        f"status=dead-letter outcome={outcome} cause=limit"
    )


@pytest.mark.clause("guarantee.ord.tenure-order")
def test_skipped_failure_is_shown_with_its_end() -> None:
    judgement = judge_lines(
        "ORD-1", OWN, call("start", 0, 1), call("end", 0, 1, status="suspend"), call("start", 1, 2)
    )
    assert find_shown(judgement) == [("a presents offset 1 of T x:0 before offset 0, which failed", [3, 4])]


@pytest.mark.clause("guarantee.ord.tenure-order")
@pytest.mark.parametrize(("outcome", "verdict"), [("unknown", Verdict.HELD), ("fail", Verdict.VIOLATED)])
def test_failure_whose_return_is_not_known_may_be_passed(outcome: str, verdict: Verdict) -> None:
    judgement = judge_lines(
        "ORD-1",
        OWN,
        call("start", 0, 1),
        call("end", 0, 1, status="suspend"),
        back(0, outcome),
        call("start", 1, 2),
    )
    assert judgement.verdict is verdict


@pytest.mark.clause("guarantee.ord.tenure-order")
def test_batch_with_a_returned_message_is_presented_as_a_whole() -> None:
    failed = call("end", 0, 1, 3, "suspend"), call("end", 1, 1, 0, "suspend")
    judgement = judge_lines(
        "ORD-1",
        OWN,
        call("start", 0, 1, 3),
        call("start", 1, 1),
        *failed,
        back(0, "ok"),
        call("start", 0, 2, 3),
        call("start", 1, 2, 1),
    )
    assert judgement.verdict is Verdict.HELD
    assert judgement.explained == {
        "presented again with the batch it belongs to": 1,
        "presented again after it failed": 1,
    }


@pytest.mark.clause("guarantee.ord.no-jump-ahead")
def test_jump_is_reported_once() -> None:
    own = OWN.replace("offset=0", "offset=3")
    judgement = judge_lines(
        "ORD-2",
        own,
        call("start", 5, 1),
        call("end", 5, 1, status="success"),
        call("start", 6, 2),
    )
    assert find_shown(judgement) == [
        ("a begins with offset 5 of T x:0 while offset 3 has not been dealt with", [1, 2])
    ]


@pytest.mark.clause("guarantee.ord.no-jump-ahead")
def test_deleted_group_begins_anywhere() -> None:
    judgement = judge_lines(
        "ORD-2",
        OWN,
        call("start", 0, 1),
        "2s a disown g T@x:0 tenure=1 cause=rebalance",
        "3s x delete g status=group",
        "4s a own g T@x:0 tenure=2 offset=9 mode=ordered",
        "5s a start g T@x:0 tenure=2 offset=9 message=m9 attempt=0 request=2",
    )
    assert judgement.verdict is Verdict.HELD


@pytest.mark.clause("guarantee.ord.no-jump-ahead")
def test_filtered_tail_of_a_pull_is_dealt_with() -> None:
    judgement = judge_lines(
        "ORD-2",
        OWN,
        "1s a pulled g T@x:0 tenure=1 offset=0 next=4 request=1 status=found offsets=0",
        call("start", 0, 1),
        call("end", 0, 1, status="success"),
        call("start", 4, 2),
    )
    assert judgement.verdict is Verdict.HELD
