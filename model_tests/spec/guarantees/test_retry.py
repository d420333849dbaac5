"""RTY: the arithmetic of attempts, and what may be returned."""

import pytest

from model_tests.spec.guarantees.lines import find_shown, judge_lines
from spec.guarantees.verdict import Verdict

OWN = "0s a own g T@x:0 tenure=1 offset=0 mode=concurrent"


def message(kind: str, attempt: int, rest: str) -> str:
    return f"1s a {kind} g T@x:0 tenure=1 offset=0 message=m0 attempt={attempt} {rest}"


def fail_and_return(failed: int, returned: int, level: int, status: str, cause: str) -> list[str]:
    return [
        OWN,
        message("start", failed, "request=1"),
        message("end", failed, "request=1 status=retry"),
        message("back", returned, f"level={level} status={status} outcome=ok cause={cause}"),
    ]


@pytest.mark.clause("guarantee.rty.attempt-counted")
@pytest.mark.parametrize(
    ("failed", "level", "status", "cause", "verdict"),
    [
        (0, 3, "retry", "send-back", Verdict.HELD),
        (15, 18, "retry", "send-back", Verdict.HELD),
        (15, 0, "dead-letter", "send-back", Verdict.VIOLATED),
        (16, 0, "dead-letter", "send-back", Verdict.HELD),
        (16, 3, "dead-letter", "send-back", Verdict.VIOLATED),
        (16, 18, "retry", "send-back", Verdict.VIOLATED),
        (14, 17, "retry", "fallback", Verdict.HELD),
        (15, 18, "retry", "fallback", Verdict.VIOLATED),
        (15, 0, "dead-letter", "fallback", Verdict.HELD),
        (4, 3, "retry", "timeout", Verdict.HELD),
        (4, 3, "retry", "send-back", Verdict.VIOLATED),
        (4, 1, "retry", "chosen", Verdict.HELD),
        (4, 0, "dead-letter", "chosen", Verdict.HELD),
    ],
)
def test_destination_and_level_follow_from_the_attempt(
    failed: int, level: int, status: str, cause: str, verdict: Verdict
) -> None:
    judgement = judge_lines("RTY-1", *fail_and_return(failed, failed + 1, level, status, cause))
    assert judgement.verdict is verdict


@pytest.mark.clause("guarantee.rty.attempt-counted")
def test_limit_is_the_declared_one() -> None:
    lines = fail_and_return(3, 4, 0, "dead-letter", "send-back")
    assert judge_lines("RTY-1", "declare retry_limit=3", *lines).verdict is Verdict.HELD


@pytest.mark.clause("guarantee.rty.attempt-counted")
@pytest.mark.parametrize(
    ("returned", "level", "cause"), [(1, 3, "send-back"), (2, 4, "send-back"), (2, 4, "fallback")]
)
def test_return_after_a_local_retry_counts_from_memory_or_store(
    returned: int, level: int, cause: str
) -> None:
    judgement = judge_lines(
        "RTY-1",
        *fail_and_return(0, 1, 3, "retry", "send-back")[:3],
        message("back", 1, "level=3 status=retry outcome=fail cause=send-back"),
        message("start", 1, "request=2"),
        message("end", 1, "request=2 status=retry"),
        message("back", returned, f"level={level} status=retry outcome=ok cause={cause}"),
    )
    assert judgement.verdict is Verdict.HELD


@pytest.mark.clause("guarantee.rty.attempt-counted")
def test_copy_that_skips_an_attempt_is_shown_with_what_is_known() -> None:
    judgement = judge_lines(
        "RTY-1",
        "0s x append T@x:0 offset=0 message=m0 position=0",
        *fail_and_return(0, 1, 3, "retry", "send-back"),
        "9s a start g %RETRY%g@x:0 tenure=1 offset=0 message=m0c origin=m0 attempt=2 request=9",
    )
    assert find_shown(judgement) == [("attempt 2 of m0 follows attempt 0", [5, 6])]


@pytest.mark.clause("guarantee.rty.attempt-counted")
def test_copy_of_a_message_older_than_the_observation_may_seem_to_skip_an_attempt() -> None:
    judgement = judge_lines(
        "RTY-1",
        *fail_and_return(0, 1, 3, "retry", "send-back"),
        "9s a start g %RETRY%g@x:0 tenure=1 offset=0 message=m0c origin=m0 attempt=2 request=9",
    )
    assert judgement.verdict is Verdict.HELD


@pytest.mark.clause("guarantee.rty.attempt-counted")
def test_copy_whose_return_was_never_answered_is_legal() -> None:
    judgement = judge_lines(
        "RTY-1",
        *fail_and_return(0, 1, 3, "retry", "send-back"),
        "9s a start g %RETRY%g@x:0 tenure=1 offset=0 message=m0b origin=m0 attempt=1 request=9",
        "9s a end g %RETRY%g@x:0 tenure=1 offset=0 message=m0b origin=m0 attempt=1 request=9 status=retry",
        "10s a down status=crash",
        "50s b start g %RETRY%g@x:0 tenure=1 offset=1 message=m0c origin=m0 attempt=2 request=1",
    )
    assert judgement.verdict is Verdict.HELD


@pytest.mark.clause("guarantee.rty.returned-once")
def test_second_return_after_a_timeout_shows_both() -> None:
    judgement = judge_lines(
        "RTY-2",
        OWN,
        message("start", 0, "request=1"),
        message("back", 1, "level=3 status=retry outcome=ok cause=timeout"),
        message("end", 0, "request=1 status=retry"),
        message("back", 1, "level=3 status=retry outcome=ok cause=send-back"),
    )
    assert find_shown(judgement) == [("a returned offset 0 of T x:0, which had been returned before", [3, 5])]


@pytest.mark.clause("guarantee.rty.returned-once")
def test_refused_return_does_not_count() -> None:
    judgement = judge_lines(
        "RTY-2",
        *fail_and_return(0, 1, 3, "retry", "send-back")[:3],
        message("back", 1, "level=3 status=retry outcome=fail cause=send-back"),
        message("back", 1, "level=3 status=retry outcome=ok cause=fallback"),
    )
    assert (judgement.verdict, judgement.exercised) == (Verdict.HELD, 1)


@pytest.mark.clause("guarantee.rty.returned-once")
@pytest.mark.parametrize(
    ("before", "state"),
    [
        ([], "has not started"),
        ([message("start", 0, "request=1")], "was still being processed"),
        (
            [message("start", 0, "request=1"), message("end", 0, "request=1 status=success")],
            "had succeeded",
        ),
    ],
)
def test_needless_return_says_what_the_message_was_doing(before: list[str], state: str) -> None:
    returned = message("back", 1, "level=3 status=retry outcome=ok cause=send-back")
    judgement = judge_lines("RTY-2", OWN, *before, returned)
    assert find_shown(judgement) == [
        (f"a returned offset 0 of T x:0, which {state}", [len(before) + 2]),
    ]
