"""The CRC covers the body alone: texts that come from elsewhere must be noticed, or cannot be there."""

import pytest

from model_tests.simulation.scene import NOW, SYNC, find_pending, flush_all, message, new_disk, open_small
from refimpl.simulated.disk import SimulatedDisk

OLD_TEXT = "K\1" + "v" * 1_500 + "\2"
NEW_TEXT = "K\1" + "w" * 1_500 + "\2"


def find_first_sectors(disk: SimulatedDisk) -> list[int]:
    return find_pending(disk, lambda change: change.endswith(("0 sector 0>", "0 sector 1>")))


@pytest.mark.clause("recovery.log.torn-text", "store.checkpoint.safe-time")
def test_torn_texts_are_noticed_within_the_millisecond_of_the_checkpoint() -> None:
    disk = new_disk()
    store = open_small(disk, SYNC)
    store.append(message(), NOW)
    assert flush_all(store) is None
    appended = store.append(message(properties=NEW_TEXT), NOW)
    recovered = open_small(disk.image(find_first_sectors(disk)), SYNC)
    assert recovered.query.by_position(appended.records[0].position) is None
    assert recovered.queue("T", 0).max_offset == 1


@pytest.mark.clause("recovery.log.torn-text", "recovery.log.tail-is-zeroed")
def test_texts_of_a_failed_append_do_not_come_back_in_a_later_record() -> None:
    for seed in range(3_000):
        disk = new_disk(seed)
        store = open_small(disk, SYNC)
        store.append(message(), NOW)
        assert flush_all(store) is None
        disk.fail_writes(1)
        failed = store.append(message(properties=OLD_TEXT), NOW)
        if "after 1596 of 1596" in failed.detail:
            break
    else:
        raise AssertionError("no seed writes all of the failing record")
    assert store.flush(NOW + 1, is_forced=True) is None
    appended = store.append(message(properties=NEW_TEXT), NOW + 1)
    kept = [
        n for n in find_first_sectors(disk) if n >= len(disk.pending()) - appended.records[0].size // 512 - 1
    ]
    found = open_small(disk.image(kept), SYNC).query.by_position(appended.records[0].position)
    assert found is None or found.property_text == NEW_TEXT
