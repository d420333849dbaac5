"""Figures of a running broker, for whoever watches it."""

from collections.abc import Iterator

from refimpl.broker.broker import Broker
from refimpl.metric import Metric, MetricKind


def iter_metrics(broker: Broker) -> Iterator[Metric]:
    """What it keeps, what waits in it, and what went through it."""
    labels = (("broker", broker.settings.name),)
    for name, text, value in _list_gauges(broker):
        yield Metric(f"mqspec_{name}", text, MetricKind.GAUGE, value, labels)
    totals = broker.parts.statistics.traffic.now
    for name, text, value in (
        ("messages_put", "Messages that were stored.", totals.put),
        ("messages_put_bytes", "Bytes of the messages that were stored.", totals.put_bytes),
        ("puts_failed", "Sends that were not stored.", totals.put_failed),
        ("pulls_found", "Pulls that found something.", totals.found),
        ("pulls_missed", "Pulls that found nothing.", totals.missed),
        ("messages_got", "Messages that were handed to consumers.", totals.transferred),
    ):
        yield Metric(f"mqspec_{name}_total", text, MetricKind.COUNTER, value, labels)


def _list_gauges(broker: Broker) -> tuple[tuple[str, str, int], ...]:
    store, parts = broker.store, broker.parts
    return (
        ("log_end_bytes", "Position behind the last message of the log.", store.log.end),
        ("log_flushed_bytes", "Position up to which the log is on disk.", store.log.flushed),
        ("log_readable_bytes", "Position up to which messages can be read.", store.reput_position),
        ("is_writable", "1 if the store takes messages.", int(store.why_not_writable() is None)),
        ("topics", "Topics.", len(parts.topics.all())),
        ("groups", "Consumer groups that are configured.", len(parts.groups.all())),
        ("groups_online", "Consumer groups that have members.", len(parts.consumers.groups())),
        ("queues", "Consume queues.", sum(1 for _ in store.queues)),
        ("pulls_held", "Pulls that wait for messages.", broker.pulls.holds.count),
        ("sends_waiting", "Sends that wait for their flush.", parts.intake.waiting_count),
        ("calls_open", "Requests of the broker that wait for their answer.", broker.calls.open_count),
    )
