"""A roll syncs the file that a flush is syncing: if that fails, the flush knows nothing, however it ends."""

import pytest

from model_tests.simulation.scene import DAY_MS, NOW, flush_all, flush_log, message, new_disk, open_small
from refimpl.ports import DiskError
from spec.broker.send import PutStatus


@pytest.mark.clause("store.flush.acknowledged-is-stored", "guarantee.sto.nothing-taken-back")
def test_a_flush_of_the_log_counts_only_if_no_roll_failed_meanwhile() -> None:
    disk = new_disk()
    store = open_small(disk)
    store.append(message(bytes(700)), NOW)
    sync = store.begin_log_flush(NOW, is_forced=True)
    assert sync is not None
    disk.fail_syncs(1)
    assert store.append(message(bytes(700)), NOW).status is PutStatus.UNKNOWN_ERROR
    sync.files.finish()
    store.end_log_flush(sync, None)
    assert (store.log.is_unsure, store.log.flushed) == (True, 0)
    flush_log(store)
    assert store.log.flushed == store.log.end
    assert open_small(disk.image()).queue("T", 0).max_offset == 1


@pytest.mark.clause("store.checkpoint.safe-time", "guarantee.sto.offset-assigned-once")
def test_the_checkpoint_vouches_for_no_queue_whose_sync_failed_meanwhile() -> None:
    disk = new_disk()
    store = open_small(disk)
    for _ in range(3):
        store.append(message(), NOW)
    assert flush_all(store) is None
    store.append(message(), NOW)
    for number in range(1, 4):
        store.append(message(bytes(700), queue_id=1), NOW + 5_000 * number)
    flush_log(store, NOW + 15_000)
    store.reput_all()
    flush = store.begin_queue_flush(NOW + 15_000, is_forced=True)
    assert flush is not None
    disk.fail_syncs(1)
    with pytest.raises(DiskError):
        store.retention.clean(NOW + 30 * DAY_MS)
    flush.finish()
    store.end_queue_flush(flush, None)
    assert store.begin_queue_flush(NOW + 15_000) is None
    assert open_small(disk.image()).queue("T", 0).max_offset == 4


@pytest.mark.clause("store.retention.derived-files-follow", "guarantee.sto.offset-assigned-once")
def test_retention_does_not_rely_on_a_flush_of_the_queues_that_has_not_ended() -> None:
    disk = new_disk()
    store = open_small(disk)
    for number in range(3):
        store.append(message(bytes([number]) * 700), NOW)
    store.append(message(bytes(700), queue_id=1), NOW)
    flush_log(store)
    store.reput_all()
    assert store.begin_queue_flush(NOW, is_forced=True) is not None
    store.retention.clean(NOW + 30 * DAY_MS)
    flush_log(store)
    recovered = open_small(disk.image())
    assert (recovered.queue("T", 0).max_offset, recovered.queue("T", 1).max_offset) == (3, 1)
