"""After a clean stop every record counts, zeros in its texts and all: none may be half written."""

import pytest

from model_tests.simulation.scene import NOW, flush_all, kill_process, message, new_disk, open_small
from spec.broker.send import PutStatus

TEXT = "K\1" + "v" * 600 + "\2"


@pytest.mark.clause("recovery.log.torn-text", "recovery.start.abort-file")
def test_what_a_failed_append_wrote_is_gone_after_a_clean_stop() -> None:
    torn = 0
    for seed in range(60):
        disk = new_disk(seed)
        store = open_small(disk)
        store.append(message(), NOW)
        assert flush_all(store) is None
        disk.fail_writes(1)
        assert store.append(message(properties=TEXT), NOW).status is PutStatus.UNKNOWN_ERROR
        torn += any(disk.open("commitlog/00000000000000000000").read(store.log.end, 100))
        assert store.close(NOW) is None
        kill_process(disk)
        recovered = open_small(disk)
        assert (recovered.recovered.is_clean_stop, recovered.queue("T", 0).max_offset) == (True, 1)
    assert torn > 0
