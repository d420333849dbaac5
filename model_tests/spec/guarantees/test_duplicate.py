"""DUP: each cause by itself, and each duplicate under exactly one."""

import pytest

from model_tests.spec.guarantees.lines import find_shown, judge_lines
from spec.guarantees.verdict import Verdict

OWN = "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent"
START = "1s a start g T@x:0 tenure=1 offset=0 message=m0 attempt=0 request=1"
RETRY = "2s a end g T@x:0 tenure=1 offset=0 message=m0 attempt=0 request=1 status=retry"
AGAIN = "9s a start g T@x:0 tenure=1 offset=0 message=m0 attempt=1 request=2"
BACK = "3s a back g T@x:0 tenure=1 offset=0 message=m0 attempt=1 level=3 status=retry"
COPY = "50s a start g %RETRY%g@x:0 tenure=1 offset=0 message=m0b origin=m0 attempt=1 request=3"


@pytest.mark.clause("guarantee.dup.every-start-explained")
@pytest.mark.parametrize(
    ("lines", "cause"),
    [
        ((RETRY, f"{BACK} outcome=fail cause=send-back", AGAIN), "local retry after a failed return"),
        ((RETRY, f"{BACK} outcome=unknown cause=send-back", AGAIN), "local retry after a failed return"),
        ((RETRY, f"{BACK} outcome=ok cause=send-back", COPY), "explicit retry"),
        ((f"{BACK} outcome=ok cause=timeout", COPY), "consume timeout"),
        (
            (
                "2s a pulled g T@x:0 tenure=1 offset=5 next=0 request=9 status=moved offsets=",
                AGAIN,
            ),
            "corrected pull position",
        ),
        (
            ("3s a own g T@x:0 tenure=2 offset=0 mode=concurrent", AGAIN.replace("tenure=1", "tenure=2")),
            "hand-over",
        ),
        (
            (
                "2s x reset g T@x:0 offset=0 status=begun",
                "3s a own g T@x:0 tenure=2 offset=0 mode=concurrent",
                AGAIN.replace("tenure=1", "tenure=2"),
            ),
            "reset",
        ),
        ((AGAIN.replace("tenure=1", "tenure=9"),), "a tenure whose beginning was not seen"),
    ],
)
def test_duplicate_has_exactly_one_cause(lines: tuple[str, ...], cause: str) -> None:
    judgement = judge_lines("DUP", OWN, START, *lines)
    assert (judgement.verdict, judgement.explained) == (Verdict.HELD, {cause: 1})


@pytest.mark.clause("guarantee.dup.every-start-explained")
def test_concurrent_failure_that_was_not_refused_is_no_cause() -> None:
    judgement = judge_lines("DUP", OWN, START, RETRY, AGAIN)
    assert find_shown(judgement) == [
        ("offset 0 of T x:0 starts again without a cause in tenure 1 of a, which began at 0", [1, 4])
    ]


@pytest.mark.clause("guarantee.dup.every-start-explained")
def test_tenure_that_ignores_its_answer_has_no_cause() -> None:
    judgement = judge_lines(
        "DUP",
        OWN,
        START,
        "3s b queried g T@x:0 tenure=1 status=value offset=4",
        "3s b own g T@x:0 tenure=1 offset=0 mode=concurrent",
        "4s b start g T@x:0 tenure=1 offset=0 message=m0 attempt=0 request=1",
    )
    assert judgement.verdict is Verdict.VIOLATED


@pytest.mark.clause("guarantee.dup.every-start-explained")
def test_local_retry_explains_one_start_only() -> None:
    refused = f"{BACK} outcome=fail cause=send-back"
    judgement = judge_lines("DUP", OWN, START, RETRY, refused, AGAIN, AGAIN.replace("9s", "10s"))
    assert (judgement.violations, judgement.explained) == (1, {"local retry after a failed return": 1})
