import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.send_back import (
    BackTarget,
    Copy,
    FailedMessage,
    check_send_back,
    derive_copy,
    derive_retry_level,
    is_dead,
)
from spec.wire.code import ResponseCode


@pytest.mark.clause("broker.retry.guard-order", "broker.retry.no-retry-queue-discards")
@pytest.mark.parametrize(
    ("target", "code"),
    [
        (BackTarget(False, False, 0, False, False), ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST),  # noqa: FBT003 - all bad
        (BackTarget(is_broker_writable=False, retry_queue_count=0), ResponseCode.NO_PERMISSION),
        (BackTarget(retry_queue_count=0, has_message=False), ResponseCode.SUCCESS),
        (BackTarget(is_retry_topic_writable=False, has_message=False), ResponseCode.NO_PERMISSION),
        (BackTarget(has_message=False), ResponseCode.SYSTEM_ERROR),
        (BackTarget(), None),
    ],
)
def test_send_back_is_checked_in_order(target: BackTarget, code: ResponseCode | None) -> None:
    assert check_send_back(target) is code


@pytest.mark.clause("broker.retry.exhausted-goes-dead", "broker.retry.negative-level-goes-dead")
def test_message_dies_at_its_limit_or_by_its_clients_word() -> None:
    assert [is_dead(times, 16, 0) for times in (15, 16, 17)] == [False, True, True]
    assert is_dead(0, 16, -1)


@pytest.mark.clause("broker.retry.level-series")
def test_default_retries_wait_at_levels_three_to_eighteen() -> None:
    assert [derive_retry_level(0, times) for times in range(16)] == list(range(3, 19))
    assert derive_retry_level(1, 9) == 1


@pytest.mark.clause("broker.retry.one-attempt-older", "broker.retry.origin-kept")
def test_first_copy_remembers_where_it_comes_from() -> None:
    message = FailedMessage("T", 0, "ID1", {"KEYS": "k", "WAIT": "true"})
    assert derive_copy("G", message, 0, 16) == Copy(
        topic="%RETRY%G",
        reconsume_times=1,
        delay_level=3,
        properties={
            "RETRY_TOPIC": "T",
            "ORIGIN_MESSAGE_ID": "ID1",
            "KEYS": "k",
            "WAIT": "false",
            "DELAY": "3",
        },
    )


@pytest.mark.clause("broker.retry.origin-kept", "broker.retry.dead-letter-is-not-delayed")
def test_last_copy_keeps_the_first_origin_and_is_not_delayed() -> None:
    known = {"RETRY_TOPIC": "T", "ORIGIN_MESSAGE_ID": "ID1", "DELAY": "18"}
    copy = derive_copy("G", FailedMessage("%RETRY%G", 16, "ID9", known), 0, 16)
    assert copy == Copy("%DLQ%G", 17, 0, {**known, "DELAY": "0", "WAIT": "false"})


@pytest.mark.clause("broker.retry.limit-source")
def test_limit_of_the_request_counts_for_new_clients() -> None:
    message = FailedMessage("T", 3, "ID1", {})
    assert derive_copy("G", message, 0, 16, asked_limit=3, client_version=399).topic == "%DLQ%G"
    assert derive_copy("G", message, 0, 16, asked_limit=3, client_version=120).topic == "%RETRY%G"


@pytest.mark.clause("broker.retry.one-attempt-older", "broker.retry.exhausted-goes-dead")
@given(limit=st.integers(0, 20))
def test_message_that_always_fails_dies_after_exactly_its_limit_of_retries(limit: int) -> None:
    message, retries = FailedMessage("T", 0, "ID1", {}), 0
    while (copy := derive_copy("G", message, 0, limit)).topic == "%RETRY%G":
        retries += 1
        message = FailedMessage(copy.topic, copy.reconsume_times, f"ID{retries}", copy.properties)
    assert retries == limit
    assert copy.properties["ORIGIN_MESSAGE_ID"] == "ID1"
    assert copy.properties["RETRY_TOPIC"] == "T"
