"""After a failed sync the system counts what was written as clean: a later sync does nothing about it."""

from dataclasses import replace

import pytest

from model_tests.simulation.scene import (
    ALL_TIME,
    ASYNC,
    NOW,
    SYNC,
    flush_all,
    flush_log,
    kill_process,
    message,
    new_disk,
    open_small,
)
from spec.recovery.state import QueueName
from spec.values.units import QueueId


@pytest.mark.clause("recovery.state.follows-from-log", "guarantee.sto.offset-assigned-once")
def test_units_of_a_queue_are_written_again_after_their_sync_failed() -> None:
    disk = new_disk()
    store = open_small(disk)
    for _ in range(3):
        store.append(message(), NOW)
    flush_log(store)
    store.reput_all()
    disk.fail_syncs(1)
    assert store.flush(NOW, is_forced=True) is not None
    assert store.flush(NOW, is_forced=True) is None
    for number in range(1, 8):
        store.append(message(bytes(700), queue_id=1), NOW + 5_000 * number)
    assert flush_all(store, NOW + 40_000) is None
    recovered = open_small(disk.image())
    assert recovered.queue("T", 0).max_offset == 3


@pytest.mark.clause("recovery.index.drops-unsafe-file", "recovery.state.follows-from-log")
def test_entries_of_the_index_are_written_again_after_its_seal_failed() -> None:
    settings = replace(ASYNC, log_file_size=16_384, units_per_file=100, index_entries=60)
    disk = new_disk()
    store = open_small(disk, settings)
    for number in range(59):
        store.append(message(properties=f"KEYS\1k{number}\2"), NOW + 1_000 * number)
    assert flush_all(store, NOW + 60_000) is None
    store.append(message(properties="KEYS\1k59\2"), NOW + 100_000)
    disk.fail_syncs(1)
    store.reput_all()
    assert store.why_not_writable() is not None
    assert flush_all(store, NOW + 100_000) is None
    for number in (60, 61):
        store.append(message(properties=f"KEYS\1k{number}\2"), NOW + 200_000)
    assert flush_all(store, NOW + 200_000) is None
    query = open_small(disk.image(), settings).query
    found = [query.by_key("T", f"k{number}", begin_ms=0, end_ms=ALL_TIME).messages for number in range(62)]
    assert [len(messages) for messages in found] == [1] * 62


@pytest.mark.clause("store.flush.readable-is-durable", "guarantee.sto.nothing-taken-back")
def test_what_can_be_read_after_a_failed_sync_and_a_kill_is_durable() -> None:
    disk = new_disk()
    store = open_small(disk, SYNC)
    store.append(message(bytes(1_400)), NOW)
    disk.fail_syncs(1)
    assert store.flush(NOW) is not None
    kill_process(disk)
    readable = open_small(disk, SYNC).read(QueueName("T", QueueId(0)), 0, 9).message_count
    assert int(open_small(disk.image(), SYNC).queue("T", 0).max_offset) == readable
