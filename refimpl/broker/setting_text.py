"""A broker's settings as text: Apache's keys, in the order of its own files' chapters.

Only what this broker goes by is listed. Keys that Apache has besides, mostly sizes of thread
pools, would say something that is not so.
"""

from collections.abc import Mapping
from typing import Final

from refimpl.broker.settings import BrokerSettings
from refimpl.store.settings import StoreSettings
from spec.broker.setting import Value
from spec.layout.consume_queue import UNIT_SIZE
from spec.store.flush import FlushMode
from spec.values.host import Host
from spec.values.java_literal import encode_boolean

HOUR_MS: Final = 3_600_000

FIELDS: Final[Mapping[str, str]] = {
    "autoCreateSubscriptionGroup": "is_group_auto_created",
    "autoCreateTopicEnable": "is_topic_auto_created",
    "brokerPermission": "permission",
    "notifyConsumerIdsChangedEnable": "is_change_notified",
    "rejectTransactionMessage": "is_transaction_refused",
    "sendThreadPoolQueueCapacity": "waiting_send_limit",
    "slaveReadEnable": "is_slave_read_enabled",
}
"""The fields behind the settings that may change while the broker runs."""


def derive_texts(settings: BrokerSettings) -> dict[str, str]:
    """Every setting by Apache's key."""
    return {**_derive_broker_texts(settings), **_derive_store_texts(settings.store)}


def _derive_broker_texts(settings: BrokerSettings) -> dict[str, str]:
    return {
        "brokerClusterName": settings.cluster,
        "brokerName": settings.name,
        "brokerId": str(settings.broker_id),
        "brokerRole": "SLAVE" if settings.broker_id else "ASYNC_MASTER",
        "brokerIP1": str(Host(settings.host.address, 0)).rpartition(":")[0],
        "listenPort": str(settings.host.port),
        "namesrvAddr": ";".join(settings.name_servers),
        "brokerPermission": str(settings.permission),
        "defaultTopicQueueNums": str(settings.topic_queue_count),
        "autoCreateTopicEnable": encode_boolean(settings.is_topic_auto_created),
        "autoCreateSubscriptionGroup": encode_boolean(settings.is_group_auto_created),
        "rejectTransactionMessage": encode_boolean(settings.is_transaction_refused),
        "notifyConsumerIdsChangedEnable": encode_boolean(settings.is_change_notified),
        "longPollingEnable": encode_boolean(settings.is_long_polling),
        "slaveReadEnable": encode_boolean(settings.is_slave_read_enabled),
        "compressedRegister": encode_boolean(settings.is_register_compressed),
        "traceOn": encode_boolean(settings.is_trace_on),
        "regionId": settings.region,
        "registerNameServerPeriod": str(settings.register_ms),
        "flushConsumerOffsetInterval": str(settings.offset_flush_ms),
        "flushDelayOffsetInterval": str(settings.cursor_flush_ms),
        "transactionTimeOut": str(settings.immunity_ms),
        "transactionCheckInterval": str(settings.check_period_ms),
        "transactionCheckMax": str(settings.check_limit),
        "sendThreadPoolQueueCapacity": str(settings.waiting_send_limit),
        "pullThreadPoolQueueCapacity": str(settings.held_pull_limit),
    }


def _derive_store_texts(settings: StoreSettings) -> dict[str, str]:
    return {
        "mappedFileSizeCommitLog": str(settings.log_file_size),
        "mappedFileSizeConsumeQueue": str(settings.units_per_file * UNIT_SIZE),
        "maxHashSlotNum": str(settings.index_slots),
        "maxIndexNum": str(settings.index_entries),
        "messageDelayLevel": " ".join(map(_spell_delay, settings.delays_ms)),
        "flushDiskType": "SYNC_FLUSH" if settings.flush_mode is FlushMode.SYNC else "ASYNC_FLUSH",
        "syncFlushTimeout": str(settings.sync_wait_ms),
        "flushIntervalCommitLog": str(settings.log_timing.interval_ms),
        "flushCommitLogLeastPages": str(settings.log_timing.least_pages),
        "flushCommitLogThoroughInterval": str(settings.log_timing.thorough_ms),
        "flushIntervalConsumeQueue": str(settings.queue_timing.interval_ms),
        "flushConsumeQueueLeastPages": str(settings.queue_timing.least_pages),
        "flushConsumeQueueThoroughInterval": str(settings.queue_timing.thorough_ms),
        "maxMessageSize": str(settings.message_size_limit),
        "fileReservedTime": str(settings.reserved_ms // HOUR_MS),
        "deleteWhen": ";".join(f"{hour:02}" for hour in settings.delete_hours),
    }


def _spell_delay(delay_ms: int) -> str:
    """The delay in the largest unit that divides it; parts of a second have none in Apache."""
    seconds = delay_ms // 1000
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds and seconds % length == 0:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def apply_values(settings: BrokerSettings, values: Mapping[str, Value]) -> None:
    """The settings, which every room of the broker reads, have the new values."""
    for key, value in values.items():
        setattr(settings, FIELDS[key], value)
