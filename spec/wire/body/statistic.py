"""Figures: how full topics are, how far groups are, how fast a broker is."""

from collections.abc import Mapping
from dataclasses import field

from spec.values.java_literal import Long
from spec.values.message_queue import MessageQueue
from spec.values.units import CommitLogPosition, Milliseconds, QueueOffset
from spec.wire.body.record import JsonRecord, json_record
from spec.wire.body.subscription import SubscriptionRecord


@json_record
class TopicOffset(JsonRecord):
    """The bounds of a queue, and when its last message was stored."""

    min_offset: QueueOffset = QueueOffset(0)
    max_offset: QueueOffset = QueueOffset(0)
    last_update_timestamp: Milliseconds = Milliseconds(0)


@json_record
class TopicStatsTable(JsonRecord):
    """The queues of a topic."""

    offset_table: Mapping[MessageQueue, TopicOffset] = field(default_factory=dict)


@json_record
class ConsumeProgress(JsonRecord):
    """How far a group is in a queue, and when the last consumed message was stored."""

    broker_offset: QueueOffset = QueueOffset(0)
    consumer_offset: QueueOffset = QueueOffset(0)
    last_timestamp: Milliseconds = Milliseconds(0)


@json_record
class ConsumeStats(JsonRecord):
    """How far a group is, and how fast it consumes."""

    offset_table: Mapping[MessageQueue, ConsumeProgress] = field(default_factory=dict)
    consume_tps: float = 0.0


@json_record
class BrokerConsumeStats(JsonRecord):
    """How far all groups of a broker are: one map a group, one entry a topic."""

    consume_stats_list: tuple[Mapping[str, tuple[ConsumeStats, ...]], ...] = ()
    broker_addr: str | None = None
    total_diff: Long = 0


@json_record
class BrokerStatsItem(JsonRecord):
    """A counter over a span of time."""

    sum: Long = 0
    tps: float = 0.0
    avgpt: float = 0.0


@json_record
class BrokerStatsData(JsonRecord):
    """A counter over the last minute, hour and day."""

    stats_minute: BrokerStatsItem = BrokerStatsItem()
    stats_hour: BrokerStatsItem = BrokerStatsItem()
    stats_day: BrokerStatsItem = BrokerStatsItem()


@json_record
class QueueTimeSpan(JsonRecord):
    """The oldest, newest and last consumed store time of a queue, and the delay.

    Java adds the same times as texts; they are not read and not written.
    """

    message_queue: MessageQueue
    min_time_stamp: Milliseconds = Milliseconds(0)
    max_time_stamp: Milliseconds = Milliseconds(0)
    consume_time_stamp: Milliseconds = Milliseconds(0)
    delay_time: Milliseconds = Milliseconds(0)


@json_record
class ConsumeTimeSpanBody(JsonRecord):
    """The queues of a topic, as one group sees them in time."""

    consume_time_span_set: tuple[QueueTimeSpan, ...] = ()


@json_record
class ConsumeQueueUnit(JsonRecord):
    """One unit of a consume queue, and what a filter made of its message."""

    physic_offset: CommitLogPosition = CommitLogPosition(0)
    physic_size: int = 0
    tags_code: Long = 0
    extend_data_json: str | None = None
    bit_map: str | None = None
    eval: bool = False
    msg: str | None = None


@json_record
class ConsumeQueueBody(JsonRecord):
    """Some units of a consume queue, and its bounds."""

    queue_data: tuple[ConsumeQueueUnit, ...] = ()
    max_queue_index: QueueOffset = QueueOffset(0)
    min_queue_index: QueueOffset = QueueOffset(0)
    subscription_data: SubscriptionRecord | None = None
    filter_data: str | None = None
