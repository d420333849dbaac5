"""Topics: their configurations, their names, and what a topic config table is made of.

The table is at once a body (GET_ALL_TOPIC_CONFIG) and a file (`topics.json`).
"""

from collections.abc import Mapping
from dataclasses import field

from spec.broker.topic import DataVersion, TopicConfig
from spec.wire.body.record import JsonRecord, json_record


@json_record
class TopicConfigTable(JsonRecord):
    """All topics of a broker, by name."""

    topic_config_table: Mapping[str, TopicConfig] = field(default_factory=dict)
    data_version: DataVersion = DataVersion()


@json_record
class TopicList(JsonRecord):
    """Names of topics; the address is that of a broker which knows the system topics."""

    topic_list: frozenset[str] = frozenset()
    broker_addr: str | None = None
