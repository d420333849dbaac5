"""Some files are gone and the next one could not be removed: nobody may be sent to those that are gone."""

import pytest

from model_tests.simulation.scene import DAY_MS, NOW, flush_all, message, new_disk, open_small
from refimpl.ports import DiskError
from spec.broker.pull_outcome import PullStatus
from spec.recovery.state import QueueName
from spec.values.units import QueueId


@pytest.mark.clause("recovery.queue.min-offset", "guarantee.sto.index-equals-log")
def test_the_minimum_offset_follows_the_files_that_were_removed_before_the_failure() -> None:
    disk = new_disk()
    store = open_small(disk)
    for number in range(4):
        store.append(message(bytes([number]) * 700), NOW)
    assert flush_all(store) is None
    disk.fail_syncs(1)
    with pytest.raises(DiskError):
        store.retention.clean(NOW + 30 * DAY_MS)
    assert (store.log.min_position, store.queue("T", 0).min_offset) == (1024, 1)
    found = store.read(QueueName("T", QueueId(0)), 0, 9)
    assert (found.status, found.next_offset) == (PullStatus.OFFSET_TOO_SMALL, 1)
