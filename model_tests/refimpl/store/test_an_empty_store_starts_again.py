"""A store that never got a message has neither a log nor a folder for it."""

import pytest

from model_tests.simulation.scene import NOW, kill_process, message, new_disk, open_small
from spec.broker.send import PutStatus


@pytest.mark.clause("recovery.state.no-log-no-queues")
def test_an_empty_store_starts_after_a_power_cut_and_after_a_kill() -> None:
    disk = new_disk()
    open_small(disk)
    disk.crash()
    open_small(disk)
    kill_process(disk)
    assert open_small(disk).append(message(), NOW).status is PutStatus.PUT_OK
