"""The keys of Apache's `broker.conf`, and what each of them sets here.

Three kinds of key are known: those that set something, those for which only one value makes sense
because there is nothing here that the others could switch on, and those that tune what does not
exist here (thread pools, memory maps) and so have no effect.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, TypeAlias

from refimpl.broker.settings import BrokerSettings
from refimpl.cli.setting_text import (
    by_rule,
    one_of,
    read_addresses,
    read_bool,
    read_hours,
    read_ip,
    read_name,
    read_path,
    read_port,
    read_text,
    whole,
)
from refimpl.real.limit import Limits
from refimpl.real.tls import ClientProof, TlsMode, TlsSettings
from spec.broker.schedule import parse_levels
from spec.layout.consume_queue import UNIT_SIZE
from spec.store.flush import FlushMode
from spec.store.retention import parse_delete_hours
from spec.wire.connection import BROKER_PORT
from spec.wire.frame import FRAME_LIMIT

_DEFAULT_TLS: Final = TlsSettings()
_DEFAULT_LIMITS: Final = Limits()
_FILE_SIZE_LEAST: Final = 4_096
_FILE_SIZE_MOST: Final = 2**31 - 1
"""Java maps no larger file, and both must be able to open a store."""

ACCOUNT_FILE: Final = "config/plain_acl.yml"
"""Below the store's folder; Apache has it below `rocketmqHome`, as `conf/plain_acl.yml`."""


@dataclass(frozen=True, slots=True)
class BrokerFile:
    """What the file says; what it does not say has its default."""

    settings: BrokerSettings = field(default_factory=BrokerSettings)
    port: int = BROKER_PORT
    host: str | None = None
    advertised: str | None = None
    store: Path | None = None
    tls: TlsSettings = _DEFAULT_TLS
    limits: Limits = _DEFAULT_LIMITS


Apply: TypeAlias = Callable[[BrokerFile, str], BrokerFile]
"""The file with one more value; a ValueError says what was expected."""
Read: TypeAlias = Callable[[str], object]

# `replace` takes fields by name, and no type checker knows which: a test compares the type of
# every key's value with that of its field.


def _file(name: str, read: Read) -> Apply:
    return lambda file, text: replace(file, **{name: read(text)})  # type: ignore[arg-type]


def _broker(name: str, read: Read) -> Apply:
    return lambda file, text: replace(
        file,
        settings=replace(file.settings, **{name: read(text)}),  # type: ignore[arg-type]
    )


def _store(name: str, read: Read) -> Apply:
    return lambda file, text: replace(
        file,
        settings=replace(
            file.settings,
            store=replace(file.settings.store, **{name: read(text)}),  # type: ignore[arg-type]
        ),
    )


def _timing(part: str, name: str, read: Callable[[str], int]) -> Apply:
    def apply(file: BrokerFile, text: str) -> BrokerFile:
        timing = getattr(file.settings.store, part)
        return _store(part, lambda value: timing._replace(**{name: read(value)}))(file, text)

    return apply


def _tls(name: str, read: Read) -> Apply:
    return lambda file, text: replace(
        file,
        tls=replace(file.tls, **{name: read(text)}),  # type: ignore[arg-type]
    )


def _limit(name: str, read: Read) -> Apply:
    return lambda file, text: replace(
        file,
        limits=replace(file.limits, **{name: read(text)}),  # type: ignore[arg-type]
    )


def _only(value: str, reason: str) -> Apply:
    """Nothing is set, and nothing else than this value can be meant."""

    def apply(file: BrokerFile, text: str) -> BrokerFile:
        if text != value:
            raise ValueError(f"{value}: {reason}")
        return file

    return apply


def _read_seconds(text: str) -> int:
    return whole(1)(text) * 1_000


def _read_units(text: str) -> int:
    size = whole(UNIT_SIZE, _FILE_SIZE_MOST)(text)
    if size % UNIT_SIZE:
        raise ValueError(f"a multiple of {UNIT_SIZE}, the bytes of a unit")
    return size // UNIT_SIZE


_COUNT: Final = whole(1)
_PERIOD: Final = whole(1)
_NO_REPLICATION: Final = "replication is not there yet"
_NO_FILTER: Final = "filtering by properties is not there"
_NO_POOL: Final = "there is no pool of memory in front of the log"

KEYS: Final[dict[str, Apply]] = {
    "brokerName": _broker("name", read_name),
    "brokerClusterName": _broker("cluster", read_name),
    "brokerId": _only("0", _NO_REPLICATION),
    "brokerRole": _only("ASYNC_MASTER", _NO_REPLICATION),
    "brokerIP1": _file("advertised", read_ip),
    "bindAddress": _file("host", read_text),
    "listenPort": _file("port", read_port),
    "namesrvAddr": _broker("name_servers", read_addresses),
    "brokerPermission": _broker("permission", one_of({"0": 0, "2": 2, "4": 4, "6": 6})),
    "autoCreateTopicEnable": _broker("is_topic_auto_created", read_bool),
    "autoCreateSubscriptionGroup": _broker("is_group_auto_created", read_bool),
    "defaultTopicQueueNums": _broker("topic_queue_count", _COUNT),
    "notifyConsumerIdsChangedEnable": _broker("is_change_notified", read_bool),
    "longPollingEnable": _broker("is_long_polling", read_bool),
    "slaveReadEnable": _broker("is_slave_read_enabled", read_bool),
    "rejectTransactionMessage": _broker("is_transaction_refused", read_bool),
    "compressedRegister": _broker("is_register_compressed", read_bool),
    "regionId": _broker("region", read_name),
    "traceOn": _broker("is_trace_on", read_bool),
    "registerNameServerPeriod": _broker("register_ms", _PERIOD),
    "flushConsumerOffsetInterval": _broker("offset_flush_ms", _PERIOD),
    "transactionTimeOut": _broker("immunity_ms", _PERIOD),
    "transactionCheckMax": _broker("check_limit", _COUNT),
    "transactionCheckInterval": _broker("check_period_ms", _PERIOD),
    "aclEnable": _broker("account_file", one_of({"true": ACCOUNT_FILE, "false": ""})),
    "sendThreadPoolQueueCapacity": _broker("waiting_send_limit", _COUNT),
    "pullThreadPoolQueueCapacity": _broker("held_pull_limit", _COUNT),
    "storePathRootDir": _file("store", read_path),
    "mappedFileSizeCommitLog": _store("log_file_size", whole(_FILE_SIZE_LEAST, _FILE_SIZE_MOST)),
    "mappedFileSizeConsumeQueue": _store("units_per_file", _read_units),
    "maxHashSlotNum": _store("index_slots", _COUNT),
    "maxIndexNum": _store("index_entries", whole(2)),
    "messageDelayLevel": _store("delays_ms", by_rule(parse_levels, "1s 5s 1m")),
    "flushDiskType": _store(
        "flush_mode", one_of({"ASYNC_FLUSH": FlushMode.ASYNC, "SYNC_FLUSH": FlushMode.SYNC})
    ),
    "syncFlushTimeout": _store("sync_wait_ms", _PERIOD),
    "fileReservedTime": _store("reserved_ms", read_hours),
    "deleteWhen": _store("delete_hours", by_rule(parse_delete_hours, "04")),
    "maxMessageSize": _store("message_size_limit", whole(1, FRAME_LIMIT)),
    "flushDelayOffsetInterval": _broker("cursor_flush_ms", _PERIOD),
    "flushIntervalCommitLog": _timing("log_timing", "interval_ms", _PERIOD),
    "flushCommitLogLeastPages": _timing("log_timing", "least_pages", whole()),
    "flushCommitLogThoroughInterval": _timing("log_timing", "thorough_ms", _PERIOD),
    "flushIntervalConsumeQueue": _timing("queue_timing", "interval_ms", _PERIOD),
    "flushConsumeQueueLeastPages": _timing("queue_timing", "least_pages", whole()),
    "flushConsumeQueueThoroughInterval": _timing("queue_timing", "thorough_ms", _PERIOD),
    "serverChannelMaxIdleTimeSeconds": _limit("idle_ms", _read_seconds),
    "tls.server.mode": _tls("mode", one_of({mode.value: mode for mode in TlsMode})),
    "tls.server.certPath": _tls("certificate", read_path),
    "tls.server.keyPath": _tls("key", read_path),
    "tls.server.keyPassword": _tls("key_password", read_text),
    "tls.server.trustCertPath": _tls("client_authority", read_path),
    "tls.server.need.client.auth": _tls(
        "client_proof", one_of({proof.value: proof for proof in ClientProof})
    ),
    "tls.enable": _tls("is_used_outward", read_bool),
    "tls.client.trustCertPath": _tls("server_authority", read_path),
    "enablePropertyFilter": _only("false", _NO_FILTER),
    "enableCalcFilterBitMap": _only("false", _NO_FILTER),
    "enableConsumeQueueExt": _only("false", _NO_FILTER),
    "transientStorePoolEnable": _only("false", _NO_POOL),
    "enableDLegerCommitLog": _only("false", _NO_REPLICATION),
    "duplicationEnable": _only("false", _NO_REPLICATION),
    "messageIndexEnable": _only("true", "the key index is always kept"),
    "fetchNamesrvAddrByAddressServer": _only("false", "name servers are given by namesrvAddr"),
    "enableLmq": _only("false", "light queues are not there"),
    "enableMultiDispatch": _only("false", "light queues are not there"),
}

_POOLS: Final = (
    "send", "putMessageFuture", "pull", "replyMessage", "processReplyMessage", "query", "adminBroker",
    "clientManage", "consumerManage", "heartbeat", "endTransaction", "loadBalanceProcessor", "ackMessage",
)  # fmt: skip

WITHOUT_EFFECT: Final = frozenset(
    {
        *(f"{pool}ThreadPoolNums" for pool in _POOLS),
        *(f"{pool}MessageThreadPoolNums" for pool in _POOLS),
        *(f"{pool}ThreadPoolQueueCapacity" for pool in _POOLS if pool not in {"send", "pull"}),
        *(f"waitTimeMillsIn{queue}Queue" for queue in ("Send", "Pull", "Heartbeat", "Transaction", "Ack")),
        *("rocketmqHome", "brokerIP2", "haListenPort", "haMasterAddress", "haSendHeartbeatInterval"),
        *("haHousekeepingInterval", "haTransferBatchSize", "haSlaveFallbehindMax", "offsetCheckInSlave"),
        *("serverWorkerThreads", "serverCallbackExecutorThreads", "serverSelectorThreads"),
        *("serverOnewaySemaphoreValue", "serverAsyncSemaphoreValue", "serverSocketSndBufSize"),
        *("serverSocketRcvBufSize", "serverPooledByteBufAllocatorEnable", "useEpollNativeSelector"),
        *("serverSocketBacklog", "writeBufferHighWaterMark", "writeBufferLowWaterMark"),
        *(
            "warmMapedFileEnable",
            "useReentrantLockWhenPutMessage",
            "transferMsgByHeap",
            "fastFailIfNoBufferInStorePool",
        ),
        *("transientStorePoolSize", "osPageCacheBusyTimeOutMills", "putMsgIndexHightWater", "maxDelayTime"),
        *("brokerFastFailureEnable", "flushLeastPagesWhenWarmMapedFile", "redeleteHangedFileInterval"),
        *("flushCommitLogTimed", "commitIntervalCommitLog", "commitCommitLogLeastPages"),
        *("commitCommitLogThoroughInterval", "destroyMapedFileIntervalForcibly", "cleanFileForciblyEnable"),
        *("deleteCommitLogFilesInterval", "deleteConsumeQueueFilesInterval", "cleanResourceInterval"),
        *("diskMaxUsedSpaceRatio", "diskFallRecorded", "checkCRCOnRecover", "debugLockEnable"),
        *("maxTransferBytesOnMessageInMemory", "maxTransferCountOnMessageInMemory"),
        *(
            "maxTransferBytesOnMessageInDisk",
            "maxTransferCountOnMessageInDisk",
            "accessMessageInMemoryMaxRatio",
        ),
        *("maxMsgsNumBatch", "messageIndexSafe", "accountStatsEnable", "highSpeedMode", "commercialEnable"),
        *("commercialTimerCount", "commercialTransCount", "commercialBigCount", "commercialBaseCount"),
        *("autoDeleteUnusedStats", "brokerTopicEnable", "clusterTopicEnable", "brokerFilterServerNums"),
        *("filterServerNums", "traceTopicEnable", "msgTraceTopicName", "registerBrokerTimeoutMills"),
        *(
            "forceRegister",
            "isEnableBatchPush",
            "consumerFallbehindThreshold",
            "startAcceptSendRequestTimeStamp",
        ),
        *("disableConsumeIfConsumerReadSlowly", "expectConsumerNumUseFilter", "maxErrorRateOfBloomFilter"),
        *("filterDataCleanTimeSpan", "filterSupportRetry", "bitMapLengthConsumeQueueExt"),
        *(
            "mappedFileSizeConsumeQueueExt",
            "enableDetailStat",
            "fetchNameServerAddrPeriod",
            "storeReplyMessageEnable",
        ),
    }
)
"""Keys of Apache 4.9 that tune what is done otherwise here."""
