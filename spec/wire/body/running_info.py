"""What a running consumer tells when it is asked: its queues, its pace, one message's fate."""

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from spec.values.java_literal import Long
from spec.values.message_queue import MessageQueue
from spec.values.units import Milliseconds, QueueOffset
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.body.subscription import SubscriptionRecord
from spec.wire.header.codec import wire_name


@json_record
class ProcessQueueInfo(JsonRecord):
    """One queue in the hands of a consumer; `droped` is Apache's spelling."""

    commit_offset: QueueOffset = QueueOffset(0)
    cached_msg_min_offset: QueueOffset = QueueOffset(0)
    cached_msg_max_offset: QueueOffset = QueueOffset(0)
    cached_msg_count: int = 0
    cached_msg_size_in_mib: int = field(default=0, metadata=wire_name("cachedMsgSizeInMiB"))
    transaction_msg_min_offset: QueueOffset = QueueOffset(0)
    transaction_msg_max_offset: QueueOffset = QueueOffset(0)
    transaction_msg_count: int = 0
    locked: bool = False
    try_unlock_times: Long = 0
    last_lock_timestamp: Milliseconds = Milliseconds(0)
    is_dropped: bool = field(default=False, metadata=wire_name("droped"))
    last_pull_timestamp: Milliseconds = Milliseconds(0)
    last_consume_timestamp: Milliseconds = Milliseconds(0)


@json_record
class ConsumePace(JsonRecord):
    """How a consumer does in one topic: times in milliseconds, rates a second."""

    pull_rt: float = field(default=0.0, metadata=wire_name("pullRT"))
    pull_tps: float = field(default=0.0, metadata=wire_name("pullTPS"))
    consume_rt: float = field(default=0.0, metadata=wire_name("consumeRT"))
    consume_ok_tps: float = field(default=0.0, metadata=wire_name("consumeOKTPS"))
    consume_failed_tps: float = field(default=0.0, metadata=wire_name("consumeFailedTPS"))
    consume_failed_msgs: Long = 0


@json_record
class ConsumerRunningInfo(JsonRecord):
    """A consumer's whole state."""

    properties: Mapping[str, str] = field(default_factory=dict)
    subscription_set: tuple[SubscriptionRecord, ...] = ()
    mq_table: Mapping[MessageQueue, ProcessQueueInfo] = field(default_factory=dict)
    status_table: Mapping[str, ConsumePace] = field(default_factory=dict)
    jstack: str | None = None


class ConsumeResult(Enum):
    """What the listener made of the message."""

    SUCCESS = "CR_SUCCESS"
    LATER = "CR_LATER"
    ROLLBACK = "CR_ROLLBACK"
    COMMIT = "CR_COMMIT"
    THROW_EXCEPTION = "CR_THROW_EXCEPTION"
    RETURN_NULL = "CR_RETURN_NULL"


@json_record
class ConsumeDirectlyResult(JsonRecord):
    """The fate of a message that was consumed on request."""

    consume_result: ConsumeResult
    order: bool = False
    auto_commit: bool = True
    remark: str | None = None
    spent_time_mills: Milliseconds = Milliseconds(0)
