from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.config.config_file import (
    CONSUMER_FILTERS,
    CONSUMER_OFFSETS,
    DELAY_OFFSETS,
    KV_CONFIG,
    LOCAL_OFFSETS,
    SUBSCRIPTION_GROUPS,
    TOPICS,
)
from spec.layout.config.consumer_filter import ConsumerFilterTable, FilterData, TopicFilterTable
from spec.layout.config.local_offset import LocalOffsetTable
from spec.layout.safe_write import LoadedFrom
from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId, QueueOffset
from spec.wire.body.offset import ConsumerOffsetTable, DelayOffsetTable

FILES = (
    TOPICS,
    CONSUMER_OFFSETS,
    SUBSCRIPTION_GROUPS,
    DELAY_OFFSETS,
    CONSUMER_FILTERS,
    LOCAL_OFFSETS,
    KV_CONFIG,
)
OFFSETS = ConsumerOffsetTable({"T@G": {QueueId(0): QueueOffset(4), QueueId(1): QueueOffset(3)}})


@pytest.mark.clause("store.config.both-spellings")
def test_offset_file_is_read_in_both_spellings_and_written_as_standard_json() -> None:
    assert CONSUMER_OFFSETS.decode(b'{"offsetTable":{"T@G":{0:4,1:3}}}') == OFFSETS
    assert CONSUMER_OFFSETS.decode(b'{"offsetTable":{"T@G":{"0":4,"1":3}}}') == OFFSETS
    assert b'"0"' in CONSUMER_OFFSETS.encode(OFFSETS)
    assert b"{0:4,1:3" in CONSUMER_OFFSETS.encode(OFFSETS, is_dialect=True)


@pytest.mark.clause("store.config.both-spellings")
def test_local_offsets_are_read_in_both_spellings() -> None:
    table = LocalOffsetTable({MessageQueue("T1", "broker-a", QueueId(1)): QueueOffset(3)})
    dialect = b'{"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"T1"}:3}}'
    assert LOCAL_OFFSETS.decode(dialect) == table
    assert LOCAL_OFFSETS.decode(LOCAL_OFFSETS.encode(table)) == table
    assert LOCAL_OFFSETS.decode(LOCAL_OFFSETS.encode(table, is_dialect=True)) == table


@pytest.mark.clause("store.config.both-spellings")
def test_delay_offsets_and_filters_read_back() -> None:
    delays = DelayOffsetTable({2: QueueOffset(1), 3: QueueOffset(7)})
    assert DELAY_OFFSETS.decode(DELAY_OFFSETS.encode(delays, is_dialect=True)) == delays
    filters = ConsumerFilterTable({"T": TopicFilterTable("T", {"G": FilterData("G", "T", "a > 1", "SQL92")})})
    assert CONSUMER_FILTERS.decode(CONSUMER_FILTERS.encode(filters)) == filters


@pytest.mark.clause("store.config.load-falls-back")
def test_torn_file_gives_way_to_its_copy() -> None:
    loaded = CONSUMER_OFFSETS.load(b'{"offsetTable":{"T@G":', CONSUMER_OFFSETS.encode(OFFSETS))
    assert (loaded.value, loaded.source, len(loaded.refusals)) == (OFFSETS, LoadedFrom.BACKUP, 1)


@given(st.binary(max_size=40))
def test_any_bytes_are_a_table_or_refused(data: bytes) -> None:
    for file in FILES:
        with suppress(Rejection):
            file.decode(data)


@pytest.mark.clause("store.config.both-spellings")
def test_empty_object_is_an_empty_table() -> None:
    assert [file.decode(b"{}") == file.table() for file in FILES] == [True] * 7
