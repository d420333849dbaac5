"""Where a queue ends is known from its units alone once the log has lost its messages."""

import pytest

from model_tests.simulation.scene import (
    DAY_MS,
    NOW,
    find_pending,
    flush_all,
    flush_log,
    message,
    new_disk,
    open_small,
)


@pytest.mark.clause("store.retention.derived-files-follow", "guarantee.sto.offset-assigned-once")
def test_offsets_of_removed_messages_are_not_given_out_again_after_a_crash() -> None:
    disk = new_disk()
    store = open_small(disk)
    for number in range(3):
        store.append(message(bytes([number]) * 700), NOW)
    store.append(message(bytes(700), queue_id=1), NOW)
    flush_log(store)
    store.reput_all()
    store.retention.clean(NOW + 30 * DAY_MS)
    flush_log(store)
    recovered = open_small(disk.image())
    assert (recovered.queue("T", 0).max_offset, recovered.queue("T", 1).max_offset) == (3, 1)


@pytest.mark.clause("store.retention.derived-files-follow", "guarantee.sto.offset-assigned-once")
def test_the_last_queue_file_that_survives_a_crash_stays() -> None:
    disk = new_disk()
    store = open_small(disk)
    for number in range(4):
        store.append(message(bytes([number])), NOW)
    store.append(message(bytes(700), queue_id=1), NOW)
    assert flush_all(store) is None
    store.append(message(b"lost"), NOW)
    store.reput_all()
    store.retention.clean(NOW + 30 * DAY_MS)
    names = [entry.name for entry in disk.list_folder("consumequeue/T/0")]
    assert (store.queue("T", 0).min_offset, names) == (4, [f"{0:020d}", f"{80:020d}"])
    removed = find_pending(disk, lambda change: "remove" in change)
    assert open_small(disk.image(removed)).queue("T", 0).max_offset == 4
    assert flush_all(store) is None
    store.retention.clean(NOW + 30 * DAY_MS)
    assert [entry.name for entry in disk.list_folder("consumequeue/T/0")] == [f"{80:020d}"]
