"""A sync that had nothing but names to do fails as well as any other."""

import pytest

from model_tests.simulation.scene import DAY_MS, NOW, flush_all, message, new_disk, open_small


@pytest.mark.clause("store.flush.timing")
def test_a_store_takes_messages_again_after_a_failed_sync_of_removed_names() -> None:
    disk = new_disk()
    store = open_small(disk)
    for number in range(3):
        store.append(message(bytes([number]) * 700), NOW)
    assert flush_all(store) is None
    store.append(message(bytes(700)), NOW)
    disk.fail_syncs(1)
    assert store.flush(NOW, is_forced=True) is not None
    assert store.flush(NOW, is_forced=True) is None
    store.retention.clean(NOW + 30 * DAY_MS)
    disk.fail_syncs(1)
    store.flush(NOW, is_forced=True)
    for seconds in range(1, 100):
        store.flush(NOW + 1_000 * seconds)
    assert store.why_not_writable() is None
