"""A sync that is under way has not reached the names that it is about."""

import pytest

from model_tests.simulation.scene import NOW, find_pending, flush_all, message, new_disk, open_small


@pytest.mark.clause("recovery.load.no-hole")
@pytest.mark.parametrize("lost", ["create", "size"])
def test_a_file_that_is_begun_during_a_sync_is_not_kept_alone(lost: str) -> None:
    disk = new_disk()
    store = open_small(disk)
    store.append(message(b"a" * 700), NOW)
    assert flush_all(store) is None
    store.append(message(b"b" * 700), NOW)
    assert store.begin_log_flush(NOW, is_forced=True) is not None
    store.append(message(b"c" * 700), NOW)
    kept = find_pending(disk, lambda change: f"{lost} commitlog/00000000000000001024" not in change)
    assert open_small(disk.image(kept)).recovered.log_end.position >= 791


@pytest.mark.clause("store.flush.acknowledged-is-stored")
def test_what_was_to_be_synced_when_a_file_begins_is_written_again_if_that_failed() -> None:
    disk = new_disk()
    store = open_small(disk)
    store.append(message(b"a" * 700), NOW)
    disk.fail_syncs(1)
    store.append(message(b"b" * 700), NOW)
    disk.fail_syncs(0)
    for _ in range(2):
        sync = store.begin_log_flush(NOW, is_forced=True)
        assert sync is not None
        sync.files.finish()
        store.end_log_flush(sync, None)
    flushed = store.log.flushed
    assert open_small(disk.image()).recovered.log_end.position == flushed
    assert flushed >= 791
