"""Start position: only an explicit "none" lets the policy decide."""

from spec.group.start_position import (
    AskByTimestamp,
    AskMaximum,
    DoNotAcquire,
    NothingStored,
    QueryFailed,
    StartAt,
    StartPolicy,
    Stored,
    classify_answer,
    derive_asked_start,
    derive_start,
)
from spec.values.units import Milliseconds, QueueOffset
from spec.wire.code import ResponseCode


def error_never_reaches_the_policy(
    policy: StartPolicy, code: int, offset: int, *, is_retry_topic: bool
) -> bool:
    """Any answer but success and "not found" acquires nothing, under every policy.

    clause: group.start-position.error-is-not-none
    pre: code not in (0, 22)
    post: __return__
    """
    answer = classify_answer(code, offset)
    start = derive_start(policy, answer, Milliseconds(0), is_retry_topic=is_retry_topic)
    return isinstance(answer, QueryFailed) and isinstance(start, DoNotAcquire)


def negative_offset_is_not_a_place(policy: StartPolicy, offset: int, *, is_retry_topic: bool) -> bool:
    """A success that carries a negative offset acquires nothing.

    clause: group.start-position.error-is-not-none
    pre: offset < 0
    post: __return__
    """
    answer = classify_answer(ResponseCode.SUCCESS, offset)
    start = derive_start(policy, answer, Milliseconds(0), is_retry_topic=is_retry_topic)
    return isinstance(start, DoNotAcquire)


def stored_offset_wins_over_every_policy(policy: StartPolicy, offset: int, *, is_retry_topic: bool) -> bool:
    """What the group committed is where it goes on.

    clause: group.start-position.stored-wins
    pre: 0 <= offset
    post: __return__
    """
    answer = classify_answer(ResponseCode.SUCCESS, offset)
    start = derive_start(policy, answer, Milliseconds(0), is_retry_topic=is_retry_topic)
    return answer == Stored(QueueOffset(offset)) and start == StartAt(QueueOffset(offset))


def none_lets_the_policy_decide(policy: StartPolicy, timestamp: int, *, is_retry_topic: bool) -> bool:
    """The table of first starts for push consumers.

    clause: group.start-position.policy-table
    post: __return__
    """
    start = derive_start(policy, NothingStored(), Milliseconds(timestamp), is_retry_topic=is_retry_topic)
    if policy is StartPolicy.FIRST_OFFSET:
        return start == StartAt(QueueOffset(0))
    if policy is StartPolicy.TIMESTAMP:
        return start == (AskMaximum() if is_retry_topic else AskByTimestamp(Milliseconds(timestamp)))
    return start == (StartAt(QueueOffset(0)) if is_retry_topic else AskMaximum())


def start_is_never_negative(policy: StartPolicy, code: int, offset: int, *, is_retry_topic: bool) -> bool:
    """Whatever the broker answers, no tenure starts below 0.

    clause: group.start-position.policy-table
    pre: -3 <= code <= 30
    post: __return__
    """
    start = derive_start(
        policy, classify_answer(code, offset), Milliseconds(0), is_retry_topic=is_retry_topic
    )
    return not isinstance(start, StartAt) or start.offset >= 0


def failed_question_skips_the_queue(code: int, offset: int) -> bool:
    """After "ask for the end" only a success with an offset starts a tenure, and there.

    clause: group.start-position.asked-error-skips
    post: __return__
    """
    start = derive_asked_start(code, offset)
    is_answer = code == ResponseCode.SUCCESS and offset >= 0
    return start == StartAt(QueueOffset(offset)) if is_answer else isinstance(start, DoNotAcquire)
