"""A new index file is there, and the sync of its name fails: the next try must not stumble over it."""

import pytest

from model_tests.simulation.scene import ALL_TIME, NOW, flush_all, message, new_disk, open_small


@pytest.mark.clause("store.index.file-name")
def test_keys_are_indexed_after_the_sync_of_a_new_files_name_failed() -> None:
    disk = new_disk()
    store = open_small(disk)
    store.append(message(properties="KEYS\1k\2"), NOW)
    sync_folder = disk.sync_folder

    def fail_for_index(folder: str) -> None:
        if folder == "index":
            disk.fail_syncs(1)
        sync_folder(folder)

    disk.sync_folder = fail_for_index  # type: ignore[method-assign]  # one call fails
    store.reput_all()
    disk.sync_folder = sync_folder  # type: ignore[method-assign]
    assert flush_all(store) is None
    assert store.why_not_writable() is None
    found = store.query.by_key("T", "k", begin_ms=0, end_ms=ALL_TIME)
    assert len(found.messages) == 1
