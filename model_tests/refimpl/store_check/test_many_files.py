"""A store with many files of every kind, made by the specification's rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.refimpl.store_check.damaged_store import flip, put
from model_tests.refimpl.store_check.memory_disk import MemoryDisk
from model_tests.refimpl.store_check.small_store import (
    FILE_SIZE,
    SHAPE,
    encode_index,
    encode_log,
    encode_queues,
    index_path,
    make_records,
    make_sized_record,
    make_store,
)
from refimpl.store_check import log_walk
from refimpl.store_check.dump import QueueDump, Span
from refimpl.store_check.finding import Findings, Severity
from refimpl.store_check.shape import arrange_pieces
from refimpl.store_check.source import Source
from refimpl.store_check.verify import Report, verify_store
from spec.layout.record import encode_record
from spec.recovery.state import QueueName
from spec.values.units import CommitLogPosition, QueueId, QueueOffset

Place = tuple[Severity, str, int, str]
ERROR, WARNING, NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
LOST_KEYS = "recovery.index.rebuilt-from-last-kept"
KEYS = "store.index.keys-of-a-message"
ENTRIES_AT = 40 + 4 * SHAPE.slots
COUNT = 40


def _places(files: dict[str, bytes]) -> list[Place]:
    return [finding[:4] for finding in verify_store(MemoryDisk(files)).findings]


def test_a_good_store_gives_no_finding() -> None:
    report: Report = verify_store(MemoryDisk(make_store(COUNT)))
    assert (report.findings, report.facts.records, report.queues, report.keys) == ((), COUNT, 3, 3 * COUNT)
    assert len([name for name in make_store(COUNT) if name.startswith("index/")]) == 14


@given(st.integers(2, 60))
def test_a_good_store_of_any_length_gives_no_finding(count: int) -> None:
    assert _places(make_store(count)) == []


def test_index_files_that_are_gone_are_told_by_where_they_were() -> None:
    first, middle, last = make_store(COUNT), make_store(COUNT), make_store(COUNT)
    del first[index_path(0)]
    del middle[index_path(5)]
    del last[index_path(13)]
    assert _places(first) == [(NOTE, index_path(1), 0, LOST_KEYS)]
    assert _places(middle) == [(WARNING, index_path(6), 0, LOST_KEYS)]
    assert _places(last) == [(ERROR, index_path(12), 0, LOST_KEYS)]


def test_keys_that_were_never_indexed_are_missing_where_they_should_stand() -> None:
    records = make_records(COUNT)
    files = make_store(COUNT) | encode_index(records[:10] + records[11:])
    del files[index_path(13)]
    # Ten messages have 30 keys: the eleventh message's would be the first three behind them.
    assert _places(files) == [(ERROR, index_path(3), ENTRIES_AT + 4 * 20, KEYS)]


def test_keys_of_a_message_that_the_log_does_not_hold_lead_nowhere() -> None:
    records = make_records(COUNT)
    strange = records[10]._replace(property_text="KEYS\x01strange")
    files = make_store(COUNT) | encode_index([*records[:11], strange, *records[11:]])
    # 11 messages have 33 keys, nine a file: the strange one is entry 7 of the fourth file.
    assert _places(files) == [(ERROR, index_path(3), ENTRIES_AT + 7 * 20, KEYS)]


def test_a_message_that_was_indexed_twice_is_fine() -> None:
    records = make_records(COUNT)
    files = make_store(COUNT) | encode_index([*records[:11], records[10], *records[11:]])
    assert _places(files) == []


def test_a_run_of_damaged_entries_is_told_one_by_one() -> None:
    files = make_store(COUNT)
    for number in (2, 3, 4):
        put(index_path(2), ENTRIES_AT + number * 20 + 4, ">q", 7)(files)
    assert _places(files) == [(ERROR, index_path(2), ENTRIES_AT + number * 20, KEYS) for number in (2, 3, 4)]


def test_a_log_that_lost_its_oldest_files_is_a_good_store() -> None:
    files = make_store(COUNT)
    for name in sorted(name for name in files if name.startswith("commitlog/"))[:4]:
        del files[name]
    assert _places(files) == []


def test_queues_that_begin_later_are_filled_up() -> None:
    files = make_store(COUNT)
    names = sorted(name for name in files if name.startswith("commitlog/"))
    for name in names[:4]:
        del files[name]
    for queue in range(3):
        put(f"consumequeue/T/{queue}/{0:020d}", 0, ">qiq", 0, 0x7FFF_FFFF, 0)(files)
    assert _places(files) == []


def test_an_offset_that_is_left_out_is_found_in_log_and_queue() -> None:
    records = make_records(COUNT)
    position = records[12].position
    later = [
        record._replace(queue_offset=QueueOffset(record.queue_offset + 1))
        if record.queue_id == 0 and record.position >= position and not record.system_flag & 4
        else record
        for record in records
    ]
    files = make_store(COUNT) | encode_log(later)
    one = "guarantee.sto.one-message-per-offset"
    path = f"commitlog/{position - position % 1000:020d}"
    # The offset is 4 where 3 was due; behind it every unit stands one place too low.
    assert _places(files) == [
        (ERROR, path, position % 1000, one),
        *((ERROR, f"consumequeue/T/0/{at - at % 100:020d}", at % 100, one) for at in range(100, 240, 20)),
        (ERROR, f"consumequeue/T/0/{200:020d}", 40, "recovery.state.follows-from-log"),
    ]


@pytest.mark.parametrize("number", range(1, COUNT - 4))
def test_a_damaged_body_before_the_last_file_is_the_only_finding(number: int) -> None:
    record = make_records(COUNT)[number]
    files = make_store(COUNT)
    start, at = record.position - record.position % FILE_SIZE, record.position % FILE_SIZE
    path = f"commitlog/{start:020d}"
    flip(path, at + (112 if record.born_host.is_ipv6 else 88))(files)
    assert _places(files) == [(ERROR, path, at + 8, "store.record.body-crc")]


@pytest.mark.parametrize("number", [5, 8])
def test_chains_stay_right_behind_a_damaged_second_key(number: int) -> None:
    files = make_store(COUNT)
    at = ENTRIES_AT + number * 20
    put(index_path(2), at + 4, ">q", 7)(files)
    assert _places(files) == [(ERROR, index_path(2), at, KEYS)]


def test_zeros_in_the_last_record_s_texts_are_cut_off_after_a_crash() -> None:
    records = make_records(COUNT)
    last = records[-1]
    torn = [*records[:-1], last._replace(property_text="\0" * len(last.property_text))]
    files = make_store(COUNT) | encode_log(torn) | encode_queues(torn) | encode_index(torn)
    del files[index_path(13)]  # It held the last record's keys alone.
    assert _places(files) == []
    start, at = last.position - last.position % FILE_SIZE, last.position % FILE_SIZE
    place = (NOTE, f"commitlog/{start:020d}", at, "recovery.log.torn-text")
    assert _places(files | {"abort": b""}) == [place]


def test_a_record_that_leaves_no_room_for_a_blank_one_is_found() -> None:
    records = make_records(2)
    smallest = records[0].size - len(records[0].body)
    full = make_sized_record(records[0], FILE_SIZE - smallest)
    both = [full, records[1]._replace(position=CommitLogPosition(FILE_SIZE))]
    files = make_store(2) | encode_log(both) | encode_queues(both) | encode_index(both)
    assert _places(files) == [(ERROR, f"commitlog/{0:020d}", FILE_SIZE, "store.file.keeps-room-for-blank")]


def test_a_record_is_read_whole_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    (small,) = make_records(1)
    keyless = small._replace(property_text="a\1".ljust(len(small.property_text), "b"))
    large = make_sized_record(keyless, 3_000_000)
    files = {f"commitlog/{0:020d}": encode_record(large).ljust(4_000_000, b"\0")}
    files |= encode_queues([large]) | {"checkpoint": bytes(4096)}
    files |= {"config/topics.json": b'{"topicConfigTable":{"T":{"topicName":"T","readQueueNums":3}}}'}
    assert _places(files) == []
    monkeypatch.setattr(log_walk, "RECORD_LIMIT", 2_000_000)
    assert _places(files)[0] == (ERROR, f"commitlog/{0:020d}", 0, "store.record.whole")


def test_halves_are_not_dumped() -> None:
    files = make_store(COUNT)
    source = Source(MemoryDisk(files), Findings())
    entries = MemoryDisk(files).list_folder("commitlog")
    pieces = arrange_pieces("commitlog", entries, FILE_SIZE, Findings())
    for queue_id in range(3):
        name = QueueName("T", QueueId(queue_id))
        found = list(QueueDump(source, name, pieces).iter_by_log(Span()))
        expected = [
            record
            for record in make_records(COUNT)
            if record.queue_id == queue_id and not record.system_flag & 4
        ]
        assert found == expected
