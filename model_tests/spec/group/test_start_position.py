"""The truth table of start positions."""

import pytest

from spec.group.start_position import (
    AskByTimestamp,
    AskMaximum,
    DoNotAcquire,
    NothingStored,
    Obstacle,
    QueryFailed,
    Start,
    StartAt,
    StartPolicy,
    Stored,
    StoredAnswer,
    classify_answer,
    derive_asked_start,
    derive_start,
)
from spec.values.units import Milliseconds, QueueOffset

TIME = Milliseconds(77)
ZERO = StartAt(QueueOffset(0))
DEPRECATED = [StartPolicy.LAST_OFFSET_AND_MIN_AT_FIRST_BOOT, StartPolicy.MIN_OFFSET, StartPolicy.MAX_OFFSET]


@pytest.mark.clause("group.start-position.policy-table")
@pytest.mark.parametrize(
    ("policy", "normal", "retry"),
    [
        (StartPolicy.LAST_OFFSET, AskMaximum(), ZERO),
        *((policy, AskMaximum(), ZERO) for policy in DEPRECATED),
        (StartPolicy.FIRST_OFFSET, ZERO, ZERO),
        (StartPolicy.TIMESTAMP, AskByTimestamp(TIME), AskMaximum()),
    ],
)
def test_policy_decides_when_nothing_is_stored(policy: StartPolicy, normal: Start, retry: Start) -> None:
    assert derive_start(policy, NothingStored(), TIME, is_retry_topic=False) == normal
    assert derive_start(policy, NothingStored(), TIME, is_retry_topic=True) == retry


@pytest.mark.clause("group.start-position.policy-table")
@pytest.mark.parametrize("policy", DEPRECATED)
def test_lite_pull_consumer_does_not_know_the_deprecated_policies(policy: StartPolicy) -> None:
    start = derive_start(policy, NothingStored(), TIME, is_retry_topic=False, is_push=False)
    assert start == DoNotAcquire(Obstacle.POLICY_UNKNOWN)
    assert derive_start(policy, Stored(QueueOffset(3)), TIME, is_retry_topic=False, is_push=False) == StartAt(
        QueueOffset(3)
    )


@pytest.mark.clause("group.start-position.stored-wins", "group.start-position.error-is-not-none")
@pytest.mark.parametrize("policy", list(StartPolicy))
@pytest.mark.parametrize("is_retry_topic", [False, True])
def test_policy_is_not_asked_after_a_value_or_a_failure(policy: StartPolicy, *, is_retry_topic: bool) -> None:
    stored = derive_start(policy, Stored(QueueOffset(7)), TIME, is_retry_topic=is_retry_topic)
    failed = derive_start(policy, QueryFailed(1), TIME, is_retry_topic=is_retry_topic)
    assert (stored, failed) == (StartAt(QueueOffset(7)), DoNotAcquire(Obstacle.QUERY_FAILED))


@pytest.mark.clause("group.start-position.error-is-not-none")
@pytest.mark.parametrize(
    ("code", "offset", "strict", "apache"),
    [
        (0, 5, Stored(QueueOffset(5)), Stored(QueueOffset(5))),
        (0, 0, Stored(QueueOffset(0)), Stored(QueueOffset(0))),
        (22, None, NothingStored(), NothingStored()),
        (1, None, QueryFailed(1), NothingStored()),
        (2, None, QueryFailed(2), NothingStored()),
        (16, None, QueryFailed(16), NothingStored()),
        (None, None, QueryFailed(None), QueryFailed(None)),
        (0, -1, QueryFailed(0), NothingStored()),
        (0, -2, QueryFailed(0), QueryFailed(0)),
        (0, None, QueryFailed(0), QueryFailed(0)),
    ],
)
def test_only_not_found_means_none_and_apache_4_9_takes_every_error_for_it(
    code: int | None, offset: int | None, strict: StoredAnswer, apache: StoredAnswer
) -> None:
    assert classify_answer(code, offset) == strict
    assert classify_answer(code, offset, error_means_none=True) == apache


@pytest.mark.clause("group.start-position.asked-error-skips")
@pytest.mark.parametrize(("code", "offset"), [(1, None), (None, None), (0, None), (0, -1), (22, 3)])
def test_failed_question_for_the_end_acquires_nothing(code: int | None, offset: int | None) -> None:
    assert derive_asked_start(code, offset) == DoNotAcquire(Obstacle.QUESTION_FAILED)


@pytest.mark.clause("group.start-position.asked-error-skips")
@pytest.mark.parametrize("offset", [0, 1, 12])
def test_answered_question_starts_at_its_offset_also_at_zero(offset: int) -> None:
    assert derive_asked_start(0, offset) == StartAt(QueueOffset(offset))
