"""A store written by a real Apache 4.9.3 broker decodes to the last byte."""

from collections import Counter

import pytest

from model_tests.vectors.apache_store import (
    ENTRIES,
    SHAPE,
    SLOTS,
    files_under,
    queue_names,
    read_archive,
    stopped_store,
)
from spec.layout.checkpoint import Checkpoint, decode_checkpoint, derive_safe_time, encode_checkpoint
from spec.layout.commit_log_file import decode_file_name, is_fitting
from spec.layout.config.config_file import (
    CONSUMER_FILTERS,
    CONSUMER_OFFSETS,
    DELAY_OFFSETS,
    KV_CONFIG,
    SUBSCRIPTION_GROUPS,
    TOPICS,
)
from spec.layout.consume_queue import BLANK, UNIT_SIZE, Unit, decode_unit, derive_queue_offset, encode_unit
from spec.layout.index_chain import derive_keys, derive_slot, hash_key, iter_chain, query_chain
from spec.layout.index_file import (
    IndexHeader,
    decode_entry,
    decode_header,
    decode_slot,
    derive_entry_position,
    derive_slot_position,
    encode_header,
)
from spec.layout.record import decode_record, encode_record
from spec.layout.record_head import derive_record_head
from spec.layout.record_walk import Stop, StopKind, decode_blank, encode_blank, iter_records
from spec.layout.stored_message import StoredMessage
from spec.recovery.log_walk import LogEnd
from spec.recovery.queue import QueueContent, read_queue
from spec.recovery.state import APACHE_RULE, REFERENCE_RULE, QueueName, RecoveryRule
from spec.recovery.store import derive_unit, recover_store
from spec.recovery.store_file import arrange_files
from spec.values.message_id import decode_message_id
from spec.values.units import CommitLogPosition, Count, Index, Milliseconds, QueueId, QueueOffset

LOG_STARTS = [0, 16_384, 32_768, 49_152, 65_536]
LOG_END = 75_934


def _walks() -> dict[int, tuple[list[StoredMessage], Stop]]:
    walks: dict[int, tuple[list[StoredMessage], Stop]] = {}
    for file in files_under("store/commitlog"):
        *records, stop = iter_records(file.read(0, file.size))
        assert isinstance(stop, Stop)
        start = decode_file_name(file.name, SHAPE.log_file_size)
        walks[start] = ([record for record in records if isinstance(record, StoredMessage)], stop)
    return walks


def _records() -> list[StoredMessage]:
    return [record for records, _ in _walks().values() for record in records]


def test_archive_holds_every_file_that_the_tests_below_read() -> None:
    assert len(read_archive()) == 34
    assert [file.name for file in files_under("store/commitlog")] == [f"{start:020d}" for start in LOG_STARTS]


@pytest.mark.clause("store.record.layout", "store.record.body-crc", "store.walk.stop-reasons")
def test_all_60_records_decode_with_their_crc_and_every_file_says_why_it_ends() -> None:
    walks = _walks()
    assert {start: (len(records), stop) for start, (records, stop) in walks.items()} == {
        0: (37, Stop(14_206, StopKind.BLANK)),
        16_384: (5, Stop(15_610, StopKind.BLANK)),
        32_768: (5, Stop(15_746, StopKind.BLANK)),
        49_152: (5, Stop(16_183, StopKind.BLANK)),
        65_536: (8, Stop(10_398, StopKind.ZERO)),
    }
    for start, (records, _) in walks.items():
        at = 0
        for record in records:
            assert record.position == start + at
            at += record.size


@pytest.mark.clause("store.record.layout", "store.record.size-formula")
def test_every_record_encodes_to_the_bytes_it_came_from() -> None:
    for file in files_under("store/commitlog"):
        data = file.read(0, file.size)
        *records, _ = iter_records(data)
        assert records
        at = 0
        for record in records:
            assert isinstance(record, StoredMessage)
            assert encode_record(record) == data[at : at + record.size]
            at += record.size


@pytest.mark.clause("store.blank.layout", "store.blank.covers-the-rest", "store.file.keeps-room-for-blank")
def test_blank_records_cover_the_rest_and_stand_where_the_next_record_did_not_fit() -> None:
    walks = _walks()
    blanks = 0
    for file in files_under("store/commitlog"):
        start = decode_file_name(file.name, SHAPE.log_file_size)
        stop = walks[start][1]
        if stop.kind is not StopKind.BLANK:
            continue
        data = file.read(0, file.size)
        remaining = file.size - stop.at
        assert decode_blank(data, stop.at, remaining) == remaining
        assert data[stop.at :] == encode_blank(remaining).ljust(remaining, b"\0")
        assert not is_fitting(walks[start + file.size][0][0].size, remaining)
        blanks += 1
    assert blanks == 4


@pytest.mark.clause("store.queue.unit-layout", "store.queue.unit-place", "store.queue.tag-code")
def test_every_unit_leads_to_the_record_of_its_queue_offset_and_tag_code() -> None:
    by_position = {record.position: record for record in _records()}
    counts: Counter[QueueName] = Counter()
    for name in queue_names():
        for file in files_under(f"store/consumequeue/{name.topic}/{name.queue_id}"):
            start = decode_file_name(file.name, SHAPE.units_per_file * UNIT_SIZE)
            data = file.read(0, file.size)
            for at in range(0, file.size, UNIT_SIZE):
                unit = decode_unit(data, at)
                assert encode_unit(unit) == data[at : at + UNIT_SIZE]
                if unit == BLANK:
                    continue
                record = by_position[unit.position]
                assert (record.topic, record.queue_id) == name
                assert record.queue_offset == derive_queue_offset(start, at)
                assert derive_unit(derive_record_head(record), SHAPE.delays_ms) == unit
                counts[name] += 1
    assert counts == {
        ("%DLQ%SB", 0): 2,
        ("%RETRY%SB", 0): 4,
        ("OFFSET_MOVED_EVENT", 0): 5,
        ("R", 0): 12,
        ("SCHEDULE_TOPIC_XXXX", 2): 2,
        ("SCHEDULE_TOPIC_XXXX", 17): 1,
        ("T", 0): 30,
        ("T", 1): 1,
        ("T", 2): 1,
        ("T", 3): 2,
    }
    assert counts.total() == len(by_position) == 60


@pytest.mark.clause("store.queue.schedule-tag-is-due-time")
def test_units_of_the_schedule_topic_carry_due_times() -> None:
    name = "store/consumequeue/SCHEDULE_TOPIC_XXXX"
    assert decode_unit(files_under(f"{name}/17")[0].read(0, 20)).tag_code == 1_794_981_269_440 + 7_200_000
    assert decode_unit(files_under(f"{name}/2")[0].read(0, 20)).tag_code == 1_794_981_269_428 + 10_000


@pytest.mark.clause("store.index.layout", "store.index.chain", "store.index.key-hash")
def test_index_chains_hold_every_key_from_the_position_where_the_file_begins() -> None:
    (file,) = files_under("store/index")
    data = file.read(0, file.size)
    assert len(data) == SHAPE.index_file_size
    header = decode_header(data)
    assert header == IndexHeader(
        Milliseconds(1_794_981_269_432),
        Milliseconds(1_794_981_522_672),
        CommitLogPosition(49_152),
        CommitLogPosition(72_688),
        Count(8),
        Index(14),
    )
    assert encode_header(header) == data[:40]
    found: list[tuple[int, int]] = []
    used = 0
    for slot in range(SLOTS):
        number = decode_slot(data, derive_slot_position(slot))
        used += number != 0
        chain = list(
            iter_chain(
                number,
                header.next_entry,
                lambda number: decode_entry(data, derive_entry_position(number, SLOTS)),
            )
        )
        assert all(derive_slot(entry.key_hash, SLOTS) == slot for entry in chain)
        found += [(entry.key_hash, entry.position) for entry in chain]
    expected = [
        (hash_key(record.topic, key), record.position)
        for record in _records()
        if record.position >= header.begin_position
        for key in derive_keys(record.properties(), record.system_flag)
    ]
    assert sorted(found) == sorted(expected)
    assert (len(found), used) == (13, header.used_slots)


@pytest.mark.clause("store.index.collisions-are-returned", "store.index.query-limit")
def test_index_query_leads_to_the_records_by_key() -> None:
    (file,) = files_under("store/index")
    data = file.read(0, file.size)
    header = decode_header(data)
    by_position = {record.position: record for record in _records()}
    for topic, key, count in (
        ("T", "crash3", 1),
        ("%RETRY%SB", "k0", 4),
        ("%DLQ%SB", "k0", 2),
        ("T", "k0", 0),
    ):
        key_hash = hash_key(topic, key)
        positions = query_chain(
            header,
            decode_slot(data, derive_slot_position(derive_slot(key_hash, SLOTS))),
            key_hash,
            lambda number: decode_entry(data, derive_entry_position(number, SLOTS)),
            begin_ms=0,
            end_ms=2**62,
        )
        assert len(positions) == count
        assert list(positions) == sorted(positions, reverse=True)
        for position in positions:
            assert (by_position[position].topic, by_position[position].message().keys) == (topic, (key,))
    assert derive_entry_position(ENTRIES, SLOTS) == file.size


@pytest.mark.clause("store.checkpoint.layout", "store.checkpoint.safe-time")
def test_checkpoint_page_is_read_and_written_back() -> None:
    page = read_archive()["store/checkpoint"]
    checkpoint = decode_checkpoint(page)
    assert checkpoint == Checkpoint(
        Milliseconds(1_794_981_279_518), Milliseconds(1_794_981_517_038), Milliseconds(0)
    )
    assert encode_checkpoint(checkpoint) == page
    assert derive_safe_time(checkpoint) == 1_794_981_276_518


@pytest.mark.clause("store.id.offset-id-layout")
def test_origin_message_ids_of_retried_messages_lead_to_the_first_record() -> None:
    origins = {
        decode_message_id(identifier)
        for record in _records()
        if (identifier := record.properties().get("ORIGIN_MESSAGE_ID"))
    }
    (origin,) = origins
    assert str(origin.store_host) == "127.0.0.1:20911"
    start = files_under("store/commitlog")[0].read(0, SHAPE.log_file_size)
    record = decode_record(start, origin.position)
    assert (record.topic, record.queue_offset, record.store_host) == ("R", 0, origin.store_host)


@pytest.mark.clause(
    "recovery.state.follows-from-log", "recovery.start.crash", "recovery.index.drops-unsafe-file"
)
@pytest.mark.parametrize("rule", [REFERENCE_RULE, APACHE_RULE], ids=["reference", "apache"])
def test_recovery_gives_the_state_that_the_log_holds(rule: RecoveryRule) -> None:
    recovered = recover_store(stopped_store(), SHAPE, rule=rule)
    assert recovered.log_min == 0
    assert recovered.log_end == LogEnd(CommitLogPosition(LOG_END), StopKind.ZERO, None)
    assert recovered.walk_start == 49_152
    assert (recovered.kept_files, recovered.dropped_files) == (tuple(LOG_STARTS), ())
    from_log: dict[QueueName, list[Unit]] = {}
    for record in _records():
        unit = derive_unit(derive_record_head(record), SHAPE.delays_ms)
        assert unit is not None
        units = from_log.setdefault(QueueName(record.topic, record.queue_id), [])
        assert len(units) == record.queue_offset
        units.append(unit)
    assert {name: queue.content for name, queue in recovered.queues.items()} == {
        name: QueueContent(QueueOffset(0), tuple(units)) for name, units in from_log.items()
    }
    assert {name: (queue.min_offset, queue.max_offset) for name, queue in recovered.queues.items()} == {
        name: (0, len(units)) for name, units in from_log.items()
    }
    (verdict,) = recovered.index_files
    assert verdict.refusal is not None
    assert verdict.refusal.clause == "recovery.index.drops-unsafe-file"


@pytest.mark.clause("recovery.index.rebuilt-from-last-kept")
def test_reference_indexes_all_31_keys_again_and_apache_only_13() -> None:
    reference = recover_store(stopped_store(), SHAPE)
    apache = recover_store(stopped_store(), SHAPE, rule=APACHE_RULE)
    assert (reference.index_start, len(reference.indexed_keys)) == (0, 31)
    assert (apache.index_start, len(apache.indexed_keys)) == (49_152, 13)
    assert reference.indexed_keys[-13:] == apache.indexed_keys


@pytest.mark.clause("recovery.queue.ends-at-first-unwritten")
def test_queue_files_on_disk_already_hold_what_recovery_gives() -> None:
    recovered = recover_store(stopped_store(), SHAPE)
    for name, found in stopped_store().queues.items():
        assert recovered.queues[name].content == read_queue(arrange_files(found, 200))


@pytest.mark.clause("recovery.state.follows-from-log")
def test_recovery_without_any_queue_file_gives_the_same_queues() -> None:
    store = stopped_store()
    bare = recover_store(store._replace(queues={}), SHAPE)
    assert bare.queues == recover_store(store, SHAPE).queues
    assert bare.queues[QueueName("T", QueueId(0))].max_offset == 30


@pytest.mark.clause("store.config.both-spellings")
def test_every_config_file_decodes_and_is_written_back_byte_for_byte() -> None:
    archive = read_archive()
    written: dict[str, bytes] = {}
    for end in ("", ".bak"):
        for file in (TOPICS, CONSUMER_OFFSETS, SUBSCRIPTION_GROUPS, DELAY_OFFSETS, CONSUMER_FILTERS):
            path = f"store/config/{file.name}{end}"
            written[path] = file.respell(archive[path], is_dialect=True)
            standard = file.respell(archive[path], is_dialect=False)
            assert file.decode(standard) == file.decode(archive[path])
        path = f"namesrv/kvConfig.json{end}"
        written[path] = KV_CONFIG.respell(archive[path], is_dialect=True)
    configs = {path for path in archive if "config/" in path or path.startswith("namesrv/")}
    assert set(written) == configs
    assert len(configs) == 12
    # One file of the archive was replaced by hand with compact standard JSON.
    by_hand = written.pop("store/config/consumerOffset.json")
    assert by_hand == b'{\n\t"offsetTable":{\n\t\t"T@PYG":{0:11,1:3\n\t\t}\n\t}\n}'
    assert written == {path: archive[path] for path in written}


@pytest.mark.clause("store.config.both-spellings")
def test_config_tables_hold_what_the_broker_knew() -> None:
    archive = read_archive()
    topics = TOPICS.decode(archive["store/config/topics.json"])
    groups = SUBSCRIPTION_GROUPS.decode(archive["store/config/subscriptionGroup.json"])
    assert (len(topics.topic_config_table), topics.data_version.counter) == (14, 8)
    assert (len(groups.subscription_group_table), groups.data_version.counter) == (11, 4)
    assert CONSUMER_OFFSETS.decode(archive["store/config/consumerOffset.json"]).offset_table == {
        "T@PYG": {0: 11, 1: 3}
    }
    assert DELAY_OFFSETS.decode(archive["store/config/delayOffset.json"]).offset_table == {3: 1}
    assert CONSUMER_FILTERS.decode(archive["store/config/consumerFilter.json"]).filter_data_by_topic == {}
    assert KV_CONFIG.decode(archive["namesrv/kvConfig.json.bak"]).config_table == {"NS": {"k": "v"}}
