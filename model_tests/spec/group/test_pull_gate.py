"""What becomes of a pull request that is due."""

import pytest

from spec.group.flow_control import Pause
from spec.group.pull_gate import (
    LITE_PULL_FLAG,
    AskAgain,
    EndRequest,
    PullSituation,
    SendPull,
    derive_pull_flag,
    judge_pull,
)
from spec.values.units import Milliseconds, QueueOffset


@pytest.mark.clause("group.pull.not-yet-asks-again", "group.pull.dropped-ends")
@pytest.mark.parametrize(
    ("situation", "verdict"),
    [
        (PullSituation(), SendPull(confirms_start=False)),
        (PullSituation(is_tenure_live=False, is_running=False), EndRequest()),
        (PullSituation(is_running=False), AskAgain(Milliseconds(1000))),
        (PullSituation(is_suspended=True), AskAgain(Milliseconds(1000))),
        (PullSituation(pause=Pause.SIZE), AskAgain(Milliseconds(50))),
        (PullSituation(is_suspended=True, pause=Pause.SIZE), AskAgain(Milliseconds(1000))),
        (PullSituation(needs_lock=True), AskAgain(Milliseconds(1000))),
        (PullSituation(pause=Pause.COUNT, needs_lock=True), AskAgain(Milliseconds(50))),
        (PullSituation(has_subscription=False), AskAgain(Milliseconds(1000))),
    ],
)
def test_questions_are_asked_in_order(
    situation: PullSituation, verdict: EndRequest | AskAgain | SendPull
) -> None:
    assert judge_pull(situation) == verdict


@pytest.mark.clause("group.pull.lock-confirms-start")
def test_start_is_confirmed_once_under_the_lock() -> None:
    first = PullSituation(needs_lock=True, is_locked=True)
    later = PullSituation(needs_lock=True, is_locked=True, was_locked_before=True)
    assert judge_pull(first) == SendPull(confirms_start=True)
    assert judge_pull(later) == SendPull(confirms_start=False)


@pytest.mark.clause("group.pull.commit-rides-along", "group.pull.flag-bits")
@pytest.mark.parametrize(
    ("position", "is_clustering", "is_master", "flag"),
    [
        (5, True, True, 3),
        (1, True, True, 3),
        (0, True, True, 2),
        (None, True, True, 2),
        (5, False, True, 2),
        (5, True, False, 2),
    ],
)
def test_commit_bit_needs_a_position_a_group_and_a_master(
    position: int | None, *, is_clustering: bool, is_master: bool, flag: int
) -> None:
    local = None if position is None else QueueOffset(position)
    assert derive_pull_flag(local, is_clustering=is_clustering, is_master=is_master) == flag


@pytest.mark.clause("group.pull.flag-bits")
def test_subscription_travels_only_when_asked_and_lite_pull_has_its_own_bit() -> None:
    assert derive_pull_flag(None, is_clustering=True, is_master=True, posts_subscription=True) == 6
    assert LITE_PULL_FLAG == 22
