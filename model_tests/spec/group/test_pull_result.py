"""What a client does with the answer to a pull."""

import pytest

from spec.group.pull_result import (
    EndAndCorrect,
    PullOn,
    PullSame,
    PullStatus,
    classify_pull_code,
    derive_pull_retry,
    derive_pull_sequel,
)
from spec.values.units import Milliseconds, QueueOffset

NEXT = QueueOffset(40)


@pytest.mark.clause("group.pull.status-codes")
def test_codes_of_a_pull_answer() -> None:
    assert [classify_pull_code(code) for code in (0, 19, 20, 21)] == list(PullStatus)
    assert [classify_pull_code(code) for code in (1, 2, 22, 24, 25, 215)] == [None] * 6


@pytest.mark.clause("group.pull.found-goes-on")
def test_found_messages_go_on_and_only_they_wait_for_the_pull_interval() -> None:
    interval = Milliseconds(300)
    some = derive_pull_sequel(
        PullStatus.FOUND, NEXT, matched_count=1, custody_count=0, pull_interval_ms=interval
    )
    none = derive_pull_sequel(
        PullStatus.FOUND, NEXT, matched_count=0, custody_count=0, pull_interval_ms=interval
    )
    assert (some, none) == (PullOn(NEXT, None, interval), PullOn(NEXT, None))


@pytest.mark.clause("group.pull.empty-corrects-commit")
@pytest.mark.parametrize("status", [PullStatus.NO_NEW_MESSAGE, PullStatus.NO_MATCHED_MESSAGE])
def test_commit_follows_the_cursor_only_over_empty_custody(status: PullStatus) -> None:
    assert derive_pull_sequel(status, NEXT, matched_count=0, custody_count=0) == PullOn(NEXT, NEXT)
    assert derive_pull_sequel(status, NEXT, matched_count=0, custody_count=1) == PullOn(NEXT, None)


@pytest.mark.clause("group.pull.illegal-offset-ends-tenure")
def test_illegal_offset_ends_the_tenure_and_is_corrected_later() -> None:
    sequel = derive_pull_sequel(PullStatus.OFFSET_ILLEGAL, NEXT, matched_count=0, custody_count=3)
    assert sequel == EndAndCorrect(NEXT, Milliseconds(10_000))


@pytest.mark.clause("group.pull.error-repeats")
def test_error_repeats_the_pull_and_flow_control_sooner_since_4_9_5() -> None:
    assert [derive_pull_retry(code).delay_ms for code in (None, 1, 24, 25, 215)] == [
        1000,
        1000,
        1000,
        1000,
        20,
    ]
    assert derive_pull_retry(215, knows_flow_control=False) == PullSame(Milliseconds(1000))
