"""What the broker counts, by topic and by group: Apache's BrokerStatsManager.

Messages are counted as they are stored and handed out; figures of the last minute, hour and day
are made when somebody asks, from notes that are taken every ten seconds.
"""

from collections.abc import Callable
from datetime import UTC, tzinfo
from enum import StrEnum
from typing import Final

from refimpl.broker.tally import Tally
from refimpl.broker.traffic import Traffic
from spec.broker.statistic import Figures, Span
from spec.wire.body.statistic import BrokerStatsData, BrokerStatsItem

SAMPLE_MS: Final = Span.MINUTE.period_ms
"""How often `sample` is to be called."""

KEY_SEPARATOR: Final = "@"


class StatisticName(StrEnum):
    """The statistics that can be asked for by name; the key is a topic, `topic@group` or the cluster."""

    TOPIC_PUT_NUMS = "TOPIC_PUT_NUMS"
    TOPIC_PUT_SIZE = "TOPIC_PUT_SIZE"
    GROUP_GET_NUMS = "GROUP_GET_NUMS"
    GROUP_GET_SIZE = "GROUP_GET_SIZE"
    SNDBCK_PUT_NUMS = "SNDBCK_PUT_NUMS"
    BROKER_PUT_NUMS = "BROKER_PUT_NUMS"
    BROKER_GET_NUMS = "BROKER_GET_NUMS"


class Statistics:
    """The counters of one broker."""

    def __init__(self, cluster: str, now_ms: int, zone: tzinfo = UTC) -> None:
        """Nothing was counted yet."""
        self.traffic = Traffic(now_ms, zone)
        self._puts: dict[str, Tally] = {}
        self._gets: dict[tuple[str, str], Tally] = {}
        """By topic and group."""
        self._returns: dict[tuple[str, str], Tally] = {}
        self._cluster = cluster
        self._all_puts = Tally()
        self._all_gets = Tally()
        self._next_ms = {Span.HOUR: now_ms + Span.HOUR.period_ms, Span.DAY: now_ms + Span.DAY.period_ms}

    # Counting

    def put(self, topic: str, count: int, size: int) -> None:
        """Messages of a topic were stored by one send."""
        tally = self._puts.get(topic)
        if tally is None:
            tally = self._puts[topic] = Tally()
        tally.message_count += count
        tally.byte_count += size
        tally.calls += 1
        self.traffic.put += count
        self.traffic.put_bytes += size

    def put_failed(self) -> None:
        """A send was not stored."""
        self.traffic.put_failed += 1

    def get(self, group: str, topic: str, count: int, size: int) -> None:
        """One pull was answered; with messages, if there were any."""
        traffic = self.traffic
        if not count:
            traffic.missed += 1
            return
        tally = self._gets.get((topic, group))
        if tally is None:
            tally = self._gets[topic, group] = Tally()
        tally.message_count += count
        tally.byte_count += size
        tally.calls += 1
        traffic.found += 1
        traffic.transferred += count

    def send_back(self, group: str, topic: str) -> None:
        """A message that could not be consumed came back."""
        tally = self._returns.setdefault((topic, group), Tally())
        tally.message_count += 1
        tally.calls += 1

    # Time

    def sample(self, now_ms: int) -> None:
        """Everything is noted; what was idle for a whole day is forgotten."""
        self.traffic.sample(now_ms)
        self._all_puts.message_count = self.traffic.put
        self._all_gets.message_count = self.traffic.transferred
        spans = [Span.MINUTE, *(span for span, due_ms in self._next_ms.items() if now_ms >= due_ms)]
        for span in spans:
            for tally in self._tallies():
                tally.sample(span, now_ms)
            if span in self._next_ms:
                self._next_ms[span] = now_ms + span.period_ms
        if Span.DAY in spans:
            self._forget(lambda _topic, _group, tally: tally.is_idle)

    def _tallies(self) -> list[Tally]:
        return [
            self._all_puts,
            self._all_gets,
            *self._puts.values(),
            *self._gets.values(),
            *self._returns.values(),
        ]

    def _forget(self, is_meant: Callable[[str, str, Tally], bool]) -> None:
        self._puts = {topic: tally for topic, tally in self._puts.items() if not is_meant(topic, "", tally)}
        self._gets = {key: tally for key, tally in self._gets.items() if not is_meant(*key, tally)}
        self._returns = {key: tally for key, tally in self._returns.items() if not is_meant(*key, tally)}

    def forget_topic(self, topic: str) -> None:
        """Nothing is known of a topic that was deleted."""
        self._forget(lambda name, _group, _tally: name == topic)

    def forget_group(self, group: str) -> None:
        """Nothing is known of a group that was deleted."""
        self._forget(lambda _topic, name, _tally: name == group)

    # Asking

    def get_rate(self, group: str, topic: str) -> float:
        """How many messages of the topic the group took each second of the last minute."""
        tally = self._gets.get((topic, group))
        return 0.0 if tally is None else tally.messages(Span.MINUTE).per_second

    def view(self, name: str, key: str) -> BrokerStatsData | None:
        """The figures of one statistic; None if nothing was counted under this name and key."""
        tally = self._find(name, key)
        if tally is None:
            return None
        is_size = name.endswith("_SIZE")
        items = [_item(tally.bytes(span) if is_size else tally.messages(span)) for span in Span]
        return BrokerStatsData(*items)

    def _find(self, name: str, key: str) -> Tally | None:
        topic, _, group = key.partition(KEY_SEPARATOR)
        match name:
            case StatisticName.TOPIC_PUT_NUMS | StatisticName.TOPIC_PUT_SIZE:
                return self._puts.get(key)
            case StatisticName.GROUP_GET_NUMS | StatisticName.GROUP_GET_SIZE:
                return self._gets.get((topic, group))
            case StatisticName.SNDBCK_PUT_NUMS:
                return self._returns.get((topic, group))
            case StatisticName.BROKER_PUT_NUMS if key == self._cluster:
                return self._all_puts
            case StatisticName.BROKER_GET_NUMS if key == self._cluster:
                return self._all_gets
            case _:
                return None


def _item(figures: Figures) -> BrokerStatsItem:
    return BrokerStatsItem(figures.total, figures.per_second, figures.per_call)
