"""Several files removed since the last sync: a crash may bring one back and not its neighbour."""

import pytest

from model_tests.simulation.scene import (
    DAY_MS,
    NOW,
    find_pending,
    flush_all,
    kill_process,
    message,
    new_disk,
    open_small,
)
from refimpl.ports import DiskError
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.message_store import MessageStore


def store_of_four_files(disk: SimulatedDisk) -> MessageStore:
    store = open_small(disk)
    for number in range(4):
        store.append(message(bytes([number]) * 700), NOW)
    assert flush_all(store) is None
    return store


@pytest.mark.clause("recovery.load.no-hole", "store.retention.oldest-first")
def test_a_store_starts_after_retention_was_half_forgotten() -> None:
    disk = new_disk()
    store_of_four_files(disk).retention.clean(NOW + 30 * DAY_MS)
    kept = find_pending(disk, lambda change: "remove commitlog/00000000000000001024" in change)
    assert open_small(disk.image(kept)).queue("T", 0).max_offset == 4


@pytest.mark.clause("recovery.load.no-hole", "store.retention.derived-files-follow")
def test_a_store_starts_after_the_removal_of_queue_files_was_half_forgotten() -> None:
    disk = new_disk()
    store = open_small(disk)
    for _ in range(20):
        store.append(message(bytes(200)), NOW)
    assert flush_all(store) is None
    store.retention.clean(NOW + 30 * DAY_MS)
    kept = find_pending(
        disk, lambda change: "commitlog" in change or "remove consumequeue/T/0/00000000000000000080" in change
    )
    assert open_small(disk.image(kept)).queue("T", 0).max_offset == 20


@pytest.mark.clause("recovery.load.no-hole", "recovery.log.cut-files")
def test_a_store_starts_after_a_recovery_that_cut_the_log_was_half_forgotten() -> None:
    disk = new_disk()
    store_of_four_files(disk)
    kill_process(disk)
    disk.flip_bit("commitlog/00000000000000000000", 600, 1)
    disk.fail_syncs(2)
    with pytest.raises(DiskError):
        open_small(disk)
    disk.fail_syncs(0)
    kept = find_pending(disk, lambda change: "remove commitlog/00000000000000001024" in change)
    assert open_small(disk.image(kept)).recovered.log_end.position == 0
