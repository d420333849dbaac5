"""A stop while a sync of the log is under way, or after it failed."""

import pytest

from model_tests.simulation.scene import NOW, flush_all, message, new_disk, open_small


@pytest.mark.clause("recovery.start.abort-file")
def test_a_stop_during_a_sync_of_the_log_is_not_clean_before_the_log_is_on_disk() -> None:
    disk = new_disk()
    store = open_small(disk)
    store.append(message(), NOW)
    assert flush_all(store) is None
    store.append(message(), NOW)
    store.reput_all()
    assert store.begin_log_flush(NOW, is_forced=True) is not None
    store.close(NOW)
    recovered = open_small(disk.image())
    assert (recovered.recovered.is_clean_stop, recovered.queue("T", 0).max_offset) in {(True, 2), (False, 1)}


@pytest.mark.clause("recovery.start.abort-file")
def test_a_stop_is_not_clean_if_the_log_could_not_be_written_again() -> None:
    disk = new_disk()
    store = open_small(disk)
    store.append(message(bytes(700)), NOW)
    store.reput_all()
    disk.fail_syncs(1)
    assert store.flush(NOW, is_forced=True) is not None
    disk.fail_writes(2)
    store.close(NOW)
    recovered = open_small(disk.image())
    assert (recovered.recovered.is_clean_stop, recovered.queue("T", 0).max_offset) in {(True, 1), (False, 0)}
