"""BRD: how far behind a member may begin."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.guarantees.lines import find_shown, judge_lines
from spec.guarantees.verdict import Verdict


def own(time: str, offset: int, tenure: int = 1) -> str:
    return f"{time} a own g T@x:0 tenure={tenure} offset={offset} mode=broadcast"


def local(time: str, offset: int) -> str:
    return f"{time} a local g T@x:0 tenure=1 offset={offset}"


RUN = (own("0s", 0), local("10s", 10), local("20s", 20), local("23s", 30))
CRASH = ("25s a down status=crash", "30s a up status=client")
SHUTDOWN = ("25s a down status=graceful", "30s a up status=client")
DAMAGE = ("24s a fault cause=damage", *CRASH)


@pytest.mark.clause("guarantee.brd.progress-kept")
@pytest.mark.parametrize(
    ("end", "offset", "verdict"),
    [
        (SHUTDOWN, 30, Verdict.HELD),
        (SHUTDOWN, 29, Verdict.VIOLATED),
        (SHUTDOWN, 31, Verdict.VIOLATED),
        (CRASH, 10, Verdict.HELD),
        (CRASH, 9, Verdict.VIOLATED),
        (CRASH, 31, Verdict.VIOLATED),
        (DAMAGE, 10, Verdict.HELD),
        (DAMAGE, 9, Verdict.VIOLATED),
        (("24s a fault cause=read-only", *CRASH), 0, Verdict.HELD),
        (("25s a disown g T@x:0 tenure=1 cause=route",), 30, Verdict.HELD),
        (("25s a disown g T@x:0 tenure=1 cause=route",), 29, Verdict.VIOLATED),
        (("1s x reset g T@x:0 offset=5 status=done", *CRASH), 5, Verdict.HELD),
    ],
)
def test_member_begins_where_it_stored(end: tuple[str, ...], offset: int, verdict: Verdict) -> None:
    assert judge_lines("BRD-1", *RUN, *end, own("40s", offset, 2)).verdict is verdict


@pytest.mark.clause("guarantee.brd.progress-kept")
def test_apache_stores_an_absent_queue_with_its_next_round() -> None:
    gone = "25s a disown g T@x:0 tenure=1 cause=route"
    judgement = judge_lines("BRD-1", "declare dialect=apache-4.9", *RUN, gone, own("40s", 10, 2))
    assert (judgement.verdict, judgement.explained) == (
        Verdict.HELD,
        {"progress that was not stored yet": 1},
    )


@pytest.mark.clause("guarantee.brd.progress-kept")
def test_jump_is_shown_with_the_progress_it_ignores() -> None:
    judgement = judge_lines("BRD-1", *RUN, *SHUTDOWN, own("40s", 99, 2))
    assert find_shown(judgement) == [("a begins T x:0 at 99, ahead of the 30 that a had reached", [4, 7])]


@given(st.lists(st.integers(0, 4_000), min_size=1, max_size=40), st.data())
def test_member_that_crashed_may_begin_at_any_copy_of_its_last_interval(
    gaps: list[int], data: st.DataObject
) -> None:
    """The file is written every 5 s; the crash may come at any time after the last write."""
    now_ms, written, next_write_ms = 0, 0, 5_000
    lines = [own("0s", 0)]
    for position, gap in enumerate(gaps, start=1):
        now_ms += gap
        while next_write_ms <= now_ms:
            written, next_write_ms = position - 1, next_write_ms + 5_000
        lines.append(local(f"{now_ms}ms", position))
    crash_ms = data.draw(st.integers(now_ms, next_write_ms - 1))
    lines += [f"{crash_ms}ms a down status=crash", own(f"{crash_ms + 1}ms", written)]
    assert judge_lines("BRD-1", *lines).verdict is Verdict.HELD


@pytest.mark.clause("guarantee.brd.nobody-excluded")
def test_group_that_stopped_broadcasting_may_refuse() -> None:
    judgement = judge_lines(
        "BRD-2",
        own("0s", 0),
        "1s a own g T@x:1 tenure=1 offset=0 mode=ordered",
        "2s x lock g T@x:1 client=b outcome=fail",
    )
    assert judgement.verdict is Verdict.NOT_EXERCISED
