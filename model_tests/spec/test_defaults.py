"""Every number that Apache configures, once more; and that the packages agree on the ones they share."""

import pytest

from spec.broker import (
    lock_lease,
    long_poll,
    membership,
    page_cache,
    producer_choice,
    pull_scan,
    replication,
    schedule,
    send_back,
    subscription_group,
    topic,
    transaction,
)
from spec.client import consume_timestamp, identity, lifecycle, route, send_retry
from spec.group import concurrent, flow_control, orderly, pull_gate, pull_result, rebalance, retry_delay
from spec.group.timing import Timing
from spec.history.declaration import Constants
from spec.layout import consume_queue
from spec.nameserver import liveness, registration
from spec.nameserver import route as nameserver_route
from spec.wire.version import Version

MINUTE = 60_000


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (lock_lease.LEASE_MS, 60_000),
        (long_poll.SWEEP_MS, 5_000),
        (long_poll.SHORT_POLL_MS, 1_000),
        (membership.EXPIRY_MS, 120_000),
        (membership.SCAN_MS, 10_000),
        (page_cache.MEMORY_SHARE_PERCENT, 40),
        (producer_choice.LOOK_LIMIT, 3),
        (pull_scan.MEMORY_BYTES_LIMIT, 256 * 1024),
        (pull_scan.MEMORY_COUNT_LIMIT, 32),
        (pull_scan.DISK_BYTES_LIMIT, 64 * 1024),
        (pull_scan.DISK_COUNT_LIMIT, 8),
        (pull_scan.SCAN_BYTES, 800 * consume_queue.UNIT_SIZE),
        (consume_queue.UNITS_PER_FILE * consume_queue.UNIT_SIZE, 6_000_000),
        (replication.FRAME_BODY_LIMIT, 32 * 1024),
        (replication.LAG_LIMIT, 256 * 1024 * 1024),
        (replication.SILENCE_LIMIT_MS, 20_000),
        (replication.HEARTBEAT_MS, 5_000),
        (schedule.POLL_MS, 100),
        (schedule.ERROR_PAUSE_MS, 10_000),
        (schedule.LEVEL_COUNT, 18),
        (Version.V3_4_9, 121),
        (send_back.FIRST_RETRY_LEVEL, 3),
        (subscription_group.RETRY_LIMIT, 16),
        ((topic.PRIORITY, topic.READ, topic.WRITE, topic.INHERIT), (8, 4, 2, 1)),
        ((topic.UNIT_FLAG, topic.UNIT_SUBSCRIBED_FLAG), (1, 2)),
        (transaction.CHECK_LIMIT, 15),
        (transaction.AGE_LIMIT_MS, 72 * 60 * MINUTE),
        (transaction.IMMUNITY_MS, 6_000),
        (transaction.CHECK_PERIOD_MS, 60_000),
        (transaction.OPERATION_BATCH, 32),
        (transaction.OPERATION_TAG, "d"),
        (liveness.EXPIRY_MS, 120_000),
        (liveness.SCAN_MS, 10_000),
        (liveness.FIRST_SCAN_MS, 5_000),
        (liveness.REGISTER_MS, 30_000),
        (liveness.REGISTER_RANGE_MS, (10_000, 60_000)),
        (registration.MASTER_ID, 0),
        (nameserver_route.ORDER_NAMESPACE, "ORDER_TOPIC_CONFIG"),
        (concurrent.LOCAL_RETRY_MS, 5_000),
        (concurrent.REJECTED_RETRY_MS, 5_000),
        (concurrent.CONSUME_TIMEOUT_MS, 15 * MINUTE),
        (concurrent.EXPIRED_PER_ROUND, 16),
        (concurrent.EXPIRED_DELAY_LEVEL, 3),
        (flow_control.DEFAULT_PULL_LIMITS, flow_control.PullLimits(1_000, 100, 2_000)),
        (flow_control.PAUSE_MS, 50),
        (orderly.LOCK_TRUST_MS, 30_000),
        (orderly.LOCK_RENEW_MS, 20_000),
        (orderly.RUN_LIMIT_MS, 60_000),
        (orderly.YIELD_MS, 10),
        (orderly.UNLOCK_DELAY_MS, 20_000),
        (pull_gate.PULL_BATCH_SIZE, 32),
        (pull_gate.RETRY_MS, 1_000),
        (pull_gate.BROKER_BUSY_MS, 20),
        (pull_result.CORRECTION_DELAY_MS, 10_000),
        (rebalance.PULL_IDLE_LIMIT_MS, 120_000),
        (retry_delay.ATTEMPT_LIMIT, 16),
        (consume_timestamp.DEFAULT_AGE_MS, 30 * MINUTE),
        (identity.INNER_PRODUCER_GROUP, "CLIENT_INNER_PRODUCER"),
        (lifecycle.DEFAULT_CONSUMER_GROUP, "DEFAULT_CONSUMER"),
        (route.DEFAULT_TOPIC_QUEUES, 4),
        (send_retry.SYNC_RETRIES, 2),
        (send_retry.SEND_TIMEOUT_MS, 3_000),
        (send_retry.COMPRESS_FROM_BYTES, 4_096),
    ],
)
def test_default_is_the_one_of_apache(actual: object, expected: object) -> None:
    assert actual == expected


def test_timing_has_the_numbers_of_the_rules() -> None:
    assert Timing() == Timing(
        member_expiry_ms=membership.EXPIRY_MS,
        member_scan_ms=membership.SCAN_MS,
        broker_registration_ms=liveness.REGISTER_MS,
        broker_expiry_ms=liveness.EXPIRY_MS,
        broker_scan_ms=liveness.SCAN_MS,
        lock_renew_ms=orderly.LOCK_RENEW_MS,
        lock_trust_ms=orderly.LOCK_TRUST_MS,
        lock_lease_ms=lock_lease.LEASE_MS,
        unlock_delay_ms=orderly.UNLOCK_DELAY_MS,
        pull_idle_ms=rebalance.PULL_IDLE_LIMIT_MS,
        hold_check_ms=long_poll.SWEEP_MS,
        consume_timeout_ms=concurrent.CONSUME_TIMEOUT_MS,
        correction_delay_ms=pull_result.CORRECTION_DELAY_MS,
        local_retry_ms=concurrent.LOCAL_RETRY_MS,
        flow_control_ms=flow_control.PAUSE_MS,
    )


def test_declared_run_has_the_numbers_of_the_timing() -> None:
    timing = Timing()
    assert Constants() == Constants(
        rebalance_ms=timing.rebalance_ms,
        heartbeat_ms=timing.heartbeat_ms,
        member_expiry_ms=timing.member_expiry_ms,
        member_scan_ms=timing.member_scan_ms,
        route_poll_ms=timing.route_poll_ms,
        broker_register_ms=timing.broker_registration_ms,
        broker_expiry_ms=timing.broker_expiry_ms,
        broker_scan_ms=timing.broker_scan_ms,
        lock_renew_ms=timing.lock_renew_ms,
        lock_trust_ms=timing.lock_trust_ms,
        lock_lease_ms=timing.lock_lease_ms,
        unlock_delay_ms=timing.unlock_delay_ms,
        offset_persist_ms=timing.persist_ms,
        pull_expiry_ms=timing.pull_idle_ms,
        hold_limit_ms=timing.hold_limit_ms,
        hold_sweep_ms=timing.hold_check_ms,
        retry_limit=subscription_group.RETRY_LIMIT,
        half_check_ms=transaction.CHECK_PERIOD_MS,
        half_check_limit=transaction.CHECK_LIMIT,
    )
