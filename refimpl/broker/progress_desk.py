"""How far groups are, in messages and in time: what tools show as progress and lag."""

from collections.abc import Iterable, Mapping

from refimpl.broker.parts import BrokerParts
from refimpl.broker.queue_view import QueueView
from refimpl.remoting.request import Handler, Reply, Request, refuse, succeed
from spec.broker.topic import TopicConfig
from spec.values.units import Milliseconds, QueueOffset
from spec.wire.body.statistic import (
    BrokerConsumeStats,
    ConsumeProgress,
    ConsumeStats,
    ConsumeTimeSpanBody,
    QueueTimeSpan,
)
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.admin import (
    BrokerConsumeStatsHeader,
    BrokerStatsHeader,
    ConsumeStatsHeader,
    TopicGroupHeader,
)

_ZERO = QueueOffset(0)


class ProgressDesk:
    """Compares what is stored with what was committed."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts
        self._queues = QueueView(parts.store, parts.settings.name)

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.GET_CONSUME_STATS: self.on_group,
            RequestCode.QUERY_CONSUME_TIME_SPAN: self.on_time_span,
            RequestCode.GET_BROKER_CONSUME_STATS: self.on_all_groups,
            RequestCode.VIEW_BROKER_STATS_DATA: self.on_statistic,
        }

    def on_group(self, request: Request) -> Reply:
        """How far a group is in one topic, or in all of which it has committed anything."""
        header = request.header(ConsumeStatsHeader)
        group = header.consumer_group
        topic = (header.topic or "").strip()
        parts = [
            self._derive_progress(group, config, config.read_queue_count)
            for config in self._find_topics(
                group, (topic,) if topic else self._parts.offsets.topics_of(group)
            )
        ]
        table = {queue: progress for part in parts for queue, progress in part.offset_table.items()}
        return succeed(None, ConsumeStats(table, sum(part.consume_tps for part in parts)))

    def on_all_groups(self, request: Request) -> Reply:
        """How far every group is, in ordered topics only or in all; a list of one entry a topic for each."""
        is_order = request.header(BrokerConsumeStatsHeader).is_order
        found: list[Mapping[str, tuple[ConsumeStats, ...]]] = []
        total = 0
        for group in self._parts.groups.all():
            topics = self._find_topics(group, self._parts.offsets.topics_of(group))
            stats = tuple(
                self._derive_progress(group, config, config.write_queue_count)
                for config in topics
                if config.is_ordered or not is_order
            )
            found.append({group: stats})
            total += sum(_lag(progress) for part in stats for progress in part.offset_table.values())
        return succeed(None, BrokerConsumeStats(tuple(found), str(self._parts.settings.host), total))

    def _find_topics(self, group: str, topics: Iterable[str]) -> list[TopicConfig]:
        """The topics that there are, without those that an online group does not subscribe any more."""
        online = self._parts.consumers.find(group)
        subscribed = None if online is None else {one.topic for one in online.subscriptions}
        configs = [
            self._parts.topics.find(topic) for topic in topics if not subscribed or topic in subscribed
        ]
        return [config for config in configs if config is not None]

    def _derive_progress(self, group: str, topic: TopicConfig, queue_count: int) -> ConsumeStats:
        committed = self._parts.offsets.offsets(group, topic.name)
        table = {}
        for queue_id in range(queue_count):
            queue = self._queues.name(topic.name, queue_id)
            offset = max(_ZERO, committed.get(queue.queue_id, _ZERO))
            last_ms = self._queues.store_time(topic.name, queue_id, offset - 1) if offset else 0
            maximum = self._queues.bounds(topic.name, queue_id).maximum
            table[queue] = ConsumeProgress(maximum, offset, Milliseconds(max(0, last_ms)))
        return ConsumeStats(table, self._parts.statistics.get_rate(group, topic.name))

    def on_time_span(self, request: Request) -> Reply:
        """How far a group is in the write queues of a topic, in store times."""
        header = request.header(TopicGroupHeader)
        topic = self._parts.topics.find(header.topic)
        if topic is None:
            return refuse(
                ResponseCode.TOPIC_NOT_EXIST, f"the topic {header.topic[:127]} is not on this broker"
            )
        spans = tuple(
            self._derive_span(header.group, topic.name, queue_id, request.now_ms)
            for queue_id in range(topic.write_queue_count)
        )
        return succeed(None, ConsumeTimeSpanBody(spans))

    def _derive_span(self, group: str, topic: str, queue_id: int, now_ms: int) -> QueueTimeSpan:
        """The times of one queue; the delay is the age of the first message that is not consumed."""
        minimum, maximum = self._queues.bounds(topic, queue_id)
        min_ms = self._queues.store_time(topic, queue_id, minimum)
        max_ms = self._queues.store_time(topic, queue_id, maximum - 1)
        offset = self._parts.offsets.find(group, topic, queue_id) or 0
        consumed_ms = self._queues.store_time(topic, queue_id, offset - 1) if offset > 0 else min_ms
        next_ms = self._queues.store_time(topic, queue_id, max(offset, minimum)) if offset < maximum else -1
        delay_ms = Milliseconds(max(0, now_ms - next_ms) if next_ms >= 0 else 0)
        return QueueTimeSpan(self._queues.name(topic, queue_id), min_ms, max_ms, consumed_ms, delay_ms)

    def on_statistic(self, request: Request) -> Reply:
        """The figures of one statistic over the last minute, hour and day.

        Clause: broker.admin.statistic-span
        """
        header = request.header(BrokerStatsHeader)
        data = self._parts.statistics.view(header.stats_name, header.stats_key)
        if data is None:
            which = f"<{header.stats_name[:80]}> <{header.stats_key[:400]}>"
            return refuse(ResponseCode.SYSTEM_ERROR, f"nothing was counted as {which} lately")
        return succeed(None, data)


def _lag(progress: ConsumeProgress) -> int:
    return progress.broker_offset - progress.consumer_offset
