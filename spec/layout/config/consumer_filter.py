"""`consumerFilter.json`: SQL filters by topic and group.

A broker without SQL filters writes the empty table. The reference reads what other brokers
wrote as far as it needs it to filter again: the expression and its type; the bloom filter data
is a cache that a broker may build anew.
"""

from collections.abc import Mapping
from dataclasses import field

from spec.values.java_literal import Long
from spec.wire.body.record import JsonRecord, json_record


@json_record
class FilterData(JsonRecord):
    """One group's filter on one topic."""

    consumer_group: str | None = None
    topic: str | None = None
    expression: str | None = None
    expression_type: str | None = None
    born_time: Long = 0
    dead_time: Long = 0
    client_version: Long = 0


@json_record
class TopicFilterTable(JsonRecord):
    """The filters on one topic, by group."""

    topic: str | None = None
    group_filter_data: Mapping[str, FilterData] = field(default_factory=dict)


@json_record
class ConsumerFilterTable(JsonRecord):
    """All filters, by topic."""

    filter_data_by_topic: Mapping[str, TopicFilterTable] = field(default_factory=dict)
