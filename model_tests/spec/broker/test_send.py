import pytest

from spec.broker.send import (
    STORED,
    Placement,
    PutStatus,
    SendTarget,
    check_send,
    derive_code,
    derive_retry_limit,
    is_exhausted,
    pick_queue,
    place_retry,
    rewrite_properties,
)
from spec.values.units import QueueId
from spec.wire.code import ResponseCode

ALL_BAD = SendTarget(
    is_broker_writable=False,
    is_ordered_topic=True,
    has_topic=False,
    queue_count=0,
    is_retry_group_known=False,
    is_transaction=True,
    is_transaction_refused=True,
)


@pytest.mark.clause("broker.send.guard-order")
@pytest.mark.parametrize(
    ("target", "topic", "queue_id", "code"),
    [
        (ALL_BAD, "", 0, ResponseCode.NO_PERMISSION),
        (SendTarget(is_broker_writable=False), "T", 0, None),
        (SendTarget(has_topic=False), "", 0, ResponseCode.SYSTEM_ERROR),
        (SendTarget(has_topic=False), "SCHEDULE_TOPIC_XXXX", 0, ResponseCode.NO_PERMISSION),
        (SendTarget(has_topic=False), "T", 9, ResponseCode.TOPIC_NOT_EXIST),
        (SendTarget(queue_count=0), "T", 0, ResponseCode.SYSTEM_ERROR),
        (SendTarget(is_retry_group_known=False), "%RETRY%G", 4, ResponseCode.SYSTEM_ERROR),
        (SendTarget(is_retry_group_known=False), "%RETRY%G", 3, ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST),
        (SendTarget(is_transaction=True, is_transaction_refused=True), "T", 0, ResponseCode.NO_PERMISSION),
        (SendTarget(is_transaction_refused=True), "T", 0, None),
        (SendTarget(), "T", -1, None),
    ],
)
def test_send_is_checked_in_order(
    target: SendTarget, topic: str, queue_id: int, code: ResponseCode | None
) -> None:
    assert check_send(target, topic, queue_id) is code


@pytest.mark.clause("broker.send.negative-queue-is-drawn")
def test_negative_queue_id_is_drawn_from_the_write_queues() -> None:
    assert [pick_queue(-1, 4, draw) for draw in range(6)] == [0, 1, 2, 3, 0, 1]
    assert pick_queue(-1, 0, 5) == 0
    assert [pick_queue(named, 4, 5) for named in range(4)] == [0, 1, 2, 3]


@pytest.mark.clause("broker.send.status-code", "broker.send.late-is-stored")
def test_every_store_result_has_its_code() -> None:
    codes = {status.name: int(derive_code(status)) for status in PutStatus}
    assert codes == {
        "PUT_OK": 0,
        "FLUSH_DISK_TIMEOUT": 10,
        "SLAVE_NOT_AVAILABLE": 11,
        "FLUSH_SLAVE_TIMEOUT": 12,
        "MESSAGE_ILLEGAL": 13,
        "PROPERTIES_SIZE_EXCEEDED": 13,
        "SERVICE_NOT_AVAILABLE": 14,
        "CREATE_FILE_FAILED": 1,
        "PAGE_CACHE_BUSY": 1,
        "UNKNOWN_ERROR": 1,
    }
    assert sorted(int(derive_code(status)) for status in STORED) == [0, 10, 11, 12]


@pytest.mark.clause("broker.retry.limit-source")
def test_limit_of_a_client_counts_from_version_121() -> None:
    assert [derive_retry_limit(16, 3, version) for version in (0, 120, 121, 399)] == [16, 16, 3, 3]
    assert derive_retry_limit(16, None, 399) == 16
    assert derive_retry_limit(16, 0, 399) == 0


@pytest.mark.clause("broker.retry.exhausted-goes-dead", "broker.retry.dead-letter-is-not-delayed")
def test_exhausted_retry_goes_to_the_dead_letters_without_delay() -> None:
    sent = Placement("%RETRY%G", QueueId(3), {"DELAY": "18", "TAGS": "A"})
    assert place_retry(sent, "G", 15, 16) == sent
    assert place_retry(sent, "G", 16, 16) == Placement("%DLQ%G", QueueId(0), {"TAGS": "A"})
    late = place_retry(sent, "G", 16, 16, clears_delay=False)
    assert late == Placement("%DLQ%G", QueueId(0), {"DELAY": "18", "TAGS": "A"})
    assert is_exhausted(0, 0)


@pytest.mark.clause("broker.send.stored-properties")
def test_plain_message_gains_its_cluster_and_loses_wait() -> None:
    sent = {"WAIT": "false", "CLUSTER": "old", "KEYS": "k"}
    assert rewrite_properties(sent, "C") == {"CLUSTER": "C", "KEYS": "k"}
