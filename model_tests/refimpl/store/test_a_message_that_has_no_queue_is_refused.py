"""What cannot be dispatched, or is no record for recovery, must not get into the log."""

import pytest

from model_tests.simulation.scene import NOW, flush_all, kill_process, message, new_disk, open_small
from spec.broker.send import PutStatus


@pytest.mark.clause("store.directory.queue-folders")
@pytest.mark.parametrize("topic", ["a/b", "..", ".", ""])
def test_a_topic_that_is_no_name_of_a_folder_is_refused(topic: str) -> None:
    store = open_small(new_disk())
    assert store.append(message(topic=topic), NOW).status is PutStatus.MESSAGE_ILLEGAL
    assert store.append(message(), NOW).status is PutStatus.PUT_OK
    assert len(store.reput_all()) == 1


@pytest.mark.clause("recovery.log.record-states-its-place")
def test_a_negative_queue_is_refused() -> None:
    disk = new_disk()
    store = open_small(disk)
    assert store.append(message(queue_id=-1), NOW).status is PutStatus.MESSAGE_ILLEGAL
    assert store.append(message(), NOW).status is PutStatus.PUT_OK
    assert flush_all(store) is None
    kill_process(disk)
    assert open_small(disk).queue("T", 0).max_offset == 1
