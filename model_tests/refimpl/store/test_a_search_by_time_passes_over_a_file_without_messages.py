"""A dispatch that failed may have begun a file for units that never came."""

import pytest

from model_tests.simulation.scene import NOW, Clock, flush_all, message, new_disk, open_small


@pytest.mark.clause("broker.search.file-by-modification")
def test_the_offset_found_is_that_of_a_message() -> None:
    clock = Clock()
    disk = new_disk(clock=clock)
    store = open_small(disk)
    for _ in range(4):
        store.append(message(), NOW)
    assert flush_all(store) is None
    clock.now_ms += 1_000
    store.append(message(), NOW + 1_000)
    create = disk.create

    def create_then_fail(path: str, size: int) -> object:
        file = create(path, size)
        disk.fail_writes(1)
        return file

    disk.create = create_then_fail  # type: ignore[assignment,method-assign]  # the write behind it fails
    store.reput_all()
    queue = store.queue("T", 0)
    assert (len(queue.sequence.starts), queue.max_offset) == (2, 4)
    assert store.query.offset_by_time(queue, NOW + 1_000) == 3
