"""A file that could not be removed is still there, and the store has to know it."""

import pytest

from model_tests.simulation.scene import DAY_MS, NOW, flush_all, message, new_disk, open_small
from refimpl.ports import DiskError
from spec.broker.pull_outcome import PullStatus
from spec.broker.send import PutStatus
from spec.recovery.state import QueueName
from spec.values.units import QueueId


@pytest.mark.clause("store.retention.oldest-first")
@pytest.mark.parametrize("failing", [0, 1, 2])
def test_messages_are_read_after_a_removal_failed(failing: int) -> None:
    disk = new_disk()
    store = open_small(disk)
    for number in range(4):
        store.append(message(bytes([number]) * 700), NOW)
    assert flush_all(store) is None
    remove, calls = disk.remove, iter(range(99))

    def remove_unless_failing(path: str) -> None:
        if next(calls) == failing:
            disk.fail_writes(1)
        remove(path)

    disk.remove = remove_unless_failing  # type: ignore[method-assign]  # one call in the middle fails
    with pytest.raises(DiskError):
        store.retention.clean(NOW + 30 * DAY_MS)
    found = store.read(QueueName("T", QueueId(0)), failing, 10)
    assert (found.status, found.next_offset) == (PullStatus.FOUND, 4)
    store.retention.clean(NOW + 30 * DAY_MS)
    assert (store.log.min_position, store.queue("T", 0).min_offset) == (3072, 3)


@pytest.mark.clause("recovery.log.cut-files")
def test_appends_go_on_after_the_file_of_a_failed_append_could_not_be_removed() -> None:
    disk = new_disk()
    store = open_small(disk)
    store.append(message(b"a" * 700), NOW)
    create = disk.create

    def create_then_fail(path: str, size: int) -> object:
        file = create(path, size)
        disk.fail_writes(2)
        return file

    disk.create = create_then_fail  # type: ignore[assignment,method-assign]  # the write behind it fails
    assert store.append(message(b"b" * 700), NOW).status is PutStatus.UNKNOWN_ERROR
    disk.create = create  # type: ignore[method-assign]
    assert store.append(message(b"b" * 700), NOW).status is PutStatus.UNKNOWN_ERROR
    assert store.append(message(b"b" * 700), NOW).status is PutStatus.PUT_OK
