"""Pull result: the commit is corrected only when nothing is in custody."""

from spec.group.pull_gate import AskAgain, EndRequest, PullSituation, SendPull, judge_pull
from spec.group.pull_result import EndAndCorrect, PullOn, PullStatus, derive_pull_sequel
from spec.values.units import QueueOffset


def correction_needs_empty_custody(status: PullStatus, next_begin: int, matched: int, custody: int) -> bool:
    """The commit moves to the pull cursor only after an answer without messages and with empty custody.

    clause: group.pull.empty-corrects-commit
    pre: 0 <= next_begin and 0 <= matched and 0 <= custody
    post: __return__
    """
    sequel = derive_pull_sequel(status, QueueOffset(next_begin), matched_count=matched, custody_count=custody)
    if isinstance(sequel, EndAndCorrect) or sequel.corrected is None:
        return True
    return custody == 0 and status is not PullStatus.FOUND and sequel.corrected == next_begin


def cursor_goes_where_the_broker_says(
    status: PullStatus, next_begin: int, matched: int, custody: int
) -> bool:
    """Every answer that does not end the tenure sets the cursor to what the broker named.

    clause: group.pull.found-goes-on
    pre: 0 <= next_begin and 0 <= matched and 0 <= custody
    post: __return__
    """
    sequel = derive_pull_sequel(status, QueueOffset(next_begin), matched_count=matched, custody_count=custody)
    if status is PullStatus.OFFSET_ILLEGAL:
        return isinstance(sequel, EndAndCorrect) and sequel.corrected == next_begin
    return isinstance(sequel, PullOn) and sequel.next_offset == next_begin


def live_tenure_never_loses_its_request(
    *, is_running: bool, is_suspended: bool, needs_lock: bool, is_locked: bool, has_subscription: bool
) -> bool:
    """A request of a live tenure is sent or asks again; an unlocked one is not sent.

    clause: group.pull.not-yet-asks-again
    post: __return__
    """
    verdict = judge_pull(
        PullSituation(
            is_running=is_running,
            is_suspended=is_suspended,
            needs_lock=needs_lock,
            is_locked=is_locked,
            has_subscription=has_subscription,
        )
    )
    if isinstance(verdict, SendPull):
        return is_running and has_subscription and not is_suspended and (is_locked or not needs_lock)
    return isinstance(verdict, AskAgain) and verdict.delay_ms > 0


def dropped_tenure_ends_its_request(*, is_running: bool, is_locked: bool) -> bool:
    """A request of a tenure that is over ends, whatever else is true.

    clause: group.pull.dropped-ends
    post: __return__
    """
    situation = PullSituation(is_tenure_live=False, is_running=is_running, is_locked=is_locked)
    return isinstance(judge_pull(situation), EndRequest)
