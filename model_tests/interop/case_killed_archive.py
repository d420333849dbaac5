"""Apache starts on the store of a killed Apache 4.9.3, and does what the specification says that it does."""

from pathlib import Path
from typing import NamedTuple

import pytest

from model_tests.interop.artifact import Jars
from model_tests.interop.owed import derive_delivered, derive_owed, split_delivered, wait_delivered
from model_tests.interop.peer import FileSizes, run_apache
from model_tests.interop.reference import now_ms
from model_tests.interop.served import Queues, ServedQueue, ask_keys, ask_queues, derive_all_keys
from model_tests.interop.store_folder import (
    copy_store,
    read_delay_offset,
    read_index,
    read_stopped_store,
    read_units,
    unpack_store,
)
from model_tests.vectors.apache_store import ARCHIVE, ENTRIES, SHAPE, SLOTS
from spec.layout.index_chain import hash_key
from spec.layout.record import decode_record
from spec.layout.record_head import derive_record_head
from spec.layout.stored_message import StoredMessage
from spec.recovery.index import derive_indexed_keys
from spec.recovery.queue import QueueContent
from spec.recovery.state import APACHE_RULE, QueueName, RecoveredStore, StoppedStore
from spec.recovery.store import derive_unit, recover_store
from spec.recovery.store_file import FoundFile
from spec.values.units import QueueOffset

SIZES = FileSizes(SHAPE.log_file_size, SHAPE.units_per_file, SLOTS, ENTRIES)


class Restart(NamedTuple):
    """The archive before the start, what Apache served, and the folder that it left by a clean stop."""

    before: StoppedStore
    recovered: RecoveredStore
    owed: dict[QueueName, int]
    queues: Queues
    keys: dict[tuple[str, str], tuple[int, ...]]
    left: Path


@pytest.fixture(scope="module")
def restart(jars: Jars, tmp_path_factory: pytest.TempPathFactory) -> Restart:
    folder = tmp_path_factory.mktemp("archive")
    store = unpack_store(ARCHIVE, folder)
    before = read_stopped_store(store)
    recovered = recover_store(before, SHAPE, rule=APACHE_RULE)
    owed = derive_owed(store, recovered, now_ms())
    cursors = {name.queue_id + 1: int(read_delay_offset(store, name.queue_id + 1)) for name in owed}
    with run_apache(jars, store, folder / "home", SIZES) as broker:
        with broker.connect() as client:
            wait_delivered(client, owed, cursors)
            client.wait_dispatched()
            queues = ask_queues(client, store, SHAPE)
            messages = [message for queue in queues.values() for message in queue.messages]
            keys = ask_keys(client, derive_all_keys(messages))
        broker.child.stop()
    left = copy_store(store, folder / "left")
    return Restart(
        before, recovered, owed, queues, {name: tuple(found) for name, found in keys.items()}, left
    )


def _record_at(log: list[FoundFile], position: int) -> StoredMessage:
    file = log[position // SHAPE.log_file_size]
    return decode_record(file.read(0, file.size), position % SHAPE.log_file_size)


def _expected_queues(restart: Restart) -> Queues:
    log = sorted(restart.before.log, key=lambda file: file.name)
    return {
        name: ServedQueue(
            queue.min_offset,
            queue.max_offset,
            tuple(_record_at(log, unit.position) for unit in queue.content.units),
        )
        for name, queue in restart.recovered.queues.items()
    }


@pytest.mark.clause("recovery.state.follows-from-log", "recovery.start.crash")
def test_apache_serves_exactly_what_recovery_says(restart: Restart) -> None:
    served, _ = split_delivered(restart.queues, restart.recovered.log_end.position)
    assert served == _expected_queues(restart)
    assert sum(len(queue.messages) for queue in served.values()) == 60


@pytest.mark.clause("broker.schedule.due-time", "broker.schedule.impossible-due-counts")
def test_apache_delivers_the_delayed_messages_that_it_owes_and_nothing_else(restart: Restart) -> None:
    _, delivered = split_delivered(restart.queues, restart.recovered.log_end.position)
    expected = _expected_queues(restart)
    owed = [
        derive_delivered(message)
        for name, count in restart.owed.items()
        for message in expected[name].messages[len(expected[name].messages) - count :]
    ]
    found = [(QueueName(message.topic, message.queue_id), message.body) for message in delivered]
    assert sorted(found) == sorted(owed)
    assert len(owed) == 2


@pytest.mark.clause("recovery.queue.ends-at-first-unwritten", "store.queue.tag-code")
def test_files_that_apache_leaves_hold_the_units_of_the_apache_rule(restart: Restart) -> None:
    _, delivered = split_delivered(restart.queues, restart.recovered.log_end.position)
    expected = {name: list(queue.content.units) for name, queue in restart.recovered.queues.items()}
    for message in delivered:
        unit = derive_unit(derive_record_head(message), SHAPE.delays_ms)
        assert unit is not None
        units = expected.setdefault(QueueName(message.topic, message.queue_id), [])
        assert len(units) == message.queue_offset
        units.append(unit)
    assert read_units(restart.left, SHAPE) == {
        name: QueueContent(QueueOffset(0), tuple(units)) for name, units in expected.items()
    }


@pytest.mark.clause("recovery.index.drops-unsafe-file", "recovery.index.rebuilt-from-last-kept")
def test_index_that_apache_leaves_holds_the_keys_of_the_apache_rule_and_no_older_ones(
    restart: Restart,
) -> None:
    _, delivered = split_delivered(restart.queues, restart.recovered.log_end.position)
    after = read_stopped_store(restart.left)
    expected = [*restart.recovered.indexed_keys, *derive_indexed_keys(map(derive_record_head, delivered))]
    found = [pair for file in after.index_files for pair in read_index(file, SLOTS)]
    assert sorted(found) == sorted((key.key_hash, key.position) for key in expected)
    assert len(restart.recovered.indexed_keys) == 13


@pytest.mark.clause("store.index.key-hash")
def test_apache_finds_by_key_what_its_index_holds(restart: Restart) -> None:
    held: dict[int, set[int]] = {}
    for file in read_stopped_store(restart.left).index_files:
        for key_hash, position in read_index(file, SLOTS):
            held.setdefault(key_hash, set()).add(position)
    assert restart.keys == {
        (topic, key): tuple(sorted(held.get(hash_key(topic, key), ()))) for topic, key in restart.keys
    }
    assert [key for key, found in restart.keys.items() if not found] != []


@pytest.mark.clause("recovery.log.ends-at-first-non-record", "recovery.log.cut-files")
def test_log_that_apache_leaves_begins_with_the_bytes_that_it_found(restart: Restart) -> None:
    after = read_stopped_store(restart.left)
    end = restart.recovered.log_end.position
    before, now = (
        b"".join(file.read(0, file.size) for file in log)[:end] for log in (restart.before.log, after.log)
    )
    assert before == now
    assert after.is_clean_stop
    again = recover_store(after, SHAPE, rule=APACHE_RULE)
    assert {name: queue.content for name, queue in again.queues.items()} == read_units(restart.left, SHAPE)
