"""A crash between making a queue file and giving it its size; the log has messages for that file."""

import pytest

from model_tests.simulation.scene import NOW, flush_log, kill_process, message, new_disk, open_small


@pytest.mark.clause("recovery.load.empty-last-file", "recovery.state.follows-from-log")
def test_an_empty_queue_file_does_not_stop_a_start() -> None:
    disk = new_disk()
    store = open_small(disk)
    store.append(message(), NOW)
    flush_log(store)
    kill_process(disk)
    disk.create("consumequeue/T/0/00000000000000000000", 0)
    assert open_small(disk).queue("T", 0).max_offset == 1
