"""Several files begun since the last sync: a crash may keep a later one and lose an earlier one."""

import pytest

from model_tests.simulation.scene import NOW, find_pending, flush_log, message, new_disk, open_small


@pytest.mark.clause("recovery.load.no-hole")
@pytest.mark.parametrize(
    "lost", ["create commitlog/00000000000000001024", "size commitlog/00000000000000001024"]
)
def test_a_store_starts_after_a_log_file_was_lost_before_a_later_one(lost: str) -> None:
    disk = new_disk()
    store = open_small(disk)
    for number in range(3):
        store.append(message(bytes([number]) * 700), NOW)
    kept = find_pending(disk, lambda change: lost not in change)
    assert open_small(disk.image(kept)).recovered.log_end.position >= 791


@pytest.mark.clause("recovery.load.no-hole")
@pytest.mark.parametrize(
    "lost", ["create consumequeue/T/0/00000000000000000080", "size consumequeue/T/0/00000000000000000080"]
)
def test_a_store_starts_after_a_queue_file_was_lost_before_a_later_one(lost: str) -> None:
    disk = new_disk()
    store = open_small(disk)
    for _ in range(9):
        store.append(message(), NOW)
    flush_log(store)
    store.reput_all()
    kept = find_pending(disk, lambda change: lost not in change)
    assert open_small(disk.image(kept)).queue("T", 0).max_offset == 9
