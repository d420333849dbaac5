"""Config files of a real 4.9.3 broker are read, and written back byte for byte."""

from typing import Final

import pytest

from model_tests.vectors.apache_store import read_archive
from spec.broker.topic import TopicConfig
from spec.values.units import QueueId, QueueOffset
from spec.wire.body.group import GroupConfigTable
from spec.wire.body.offset import ConsumerOffsetTable, DelayOffsetTable
from spec.wire.body.record import JsonRecord
from spec.wire.body.topic import TopicConfigTable

WRITTEN_BY_APACHE: Final[list[tuple[str, type[JsonRecord]]]] = [
    ("topics.json", TopicConfigTable),
    ("topics.json.bak", TopicConfigTable),
    ("subscriptionGroup.json", GroupConfigTable),
    ("subscriptionGroup.json.bak", GroupConfigTable),
    ("consumerOffset.json.bak", ConsumerOffsetTable),
    ("delayOffset.json", DelayOffsetTable),
    ("delayOffset.json.bak", DelayOffsetTable),
]


@pytest.mark.clause("wire.fastjson.writes-both-forms", "wire.body.java-names")
@pytest.mark.parametrize(("name", "record"), WRITTEN_BY_APACHE)
def test_a_config_file_of_apache_is_written_back_byte_for_byte(name: str, record: type[JsonRecord]) -> None:
    data = read_archive()[f"store/config/{name}"]
    assert record.decode(data).encode(is_dialect=True, is_pretty=True) == data


@pytest.mark.clause("wire.fastjson.dialect-keys")
def test_offsets_are_read_from_the_dialect_and_from_standard_json() -> None:
    files = read_archive()
    dialect = ConsumerOffsetTable.decode(files["store/config/consumerOffset.json.bak"])
    standard = ConsumerOffsetTable.decode(files["store/config/consumerOffset.json"])
    assert dialect.offset_table["T@GX"] == {QueueId(0): QueueOffset(7)}
    assert standard.offset_table == {"T@PYG": {QueueId(0): QueueOffset(11), QueueId(1): QueueOffset(3)}}


def test_topics_of_the_real_broker_have_their_queues() -> None:
    topics = TopicConfigTable.decode(read_archive()["store/config/topics.json"]).topic_config_table
    assert topics["SCHEDULE_TOPIC_XXXX"] == TopicConfig("SCHEDULE_TOPIC_XXXX", 18, 18)
    assert topics["%DLQ%SB"] == TopicConfig("%DLQ%SB", 1, 1)
