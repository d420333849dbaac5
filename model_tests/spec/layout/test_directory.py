from datetime import datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.vectors.apache_store import queue_names, read_archive
from spec.layout.commit_log_file import decode_file_name
from spec.layout.config.config_file import TOPICS
from spec.layout.directory import (
    ABORT_FILE,
    CHECKPOINT_FILE,
    COMMIT_LOG_FOLDER,
    CONFIG_FOLDER,
    INDEX_FOLDER,
    LOCK_CONTENT,
    LOCK_FILE,
    derive_queue_path,
    encode_index_name,
    parse_queue_folder,
)
from spec.rejection import Rejection
from spec.values.units import QueueId


@pytest.mark.clause("store.directory.names")
def test_killed_apache_store_has_these_names() -> None:
    paths = set(read_archive())
    for name in (
        f"{COMMIT_LOG_FOLDER}/{0:020d}",
        f"{CONFIG_FOLDER}/{TOPICS.name}",
        CHECKPOINT_FILE,
        ABORT_FILE,
        LOCK_FILE,
    ):
        assert f"store/{name}" in paths
    assert read_archive()[f"store/{LOCK_FILE}"] in {b"", LOCK_CONTENT}
    assert any(path.startswith(f"store/{INDEX_FOLDER}/") for path in paths)


@pytest.mark.clause("store.directory.queue-folders")
def test_every_queue_of_the_apache_store_has_its_first_file_in_its_folder() -> None:
    for name in queue_names():
        assert "store/" + "/".join(derive_queue_path(*name, 0)) in read_archive()


@pytest.mark.clause("store.directory.queue-folders")
def test_folder_names_are_queue_ids_or_passed_over() -> None:
    assert [parse_queue_folder(name) for name in ("0", "17", "x", "", "1.bak", "2147483648")] == [
        *(0, 17),
        *(None,) * 4,
    ]


@pytest.mark.clause("store.directory.queue-folders")
@pytest.mark.parametrize("topic", ["", ".", "..", "a/b", "/etc", "a\0"])
def test_topic_that_would_leave_its_folder_is_refused(topic: str) -> None:
    with pytest.raises(Rejection, match="no name of a folder") as refusal:
        derive_queue_path(topic, QueueId(0), 0)
    assert refusal.value.clause == "store.directory.queue-folders"


@given(st.integers(0, 2**31 - 1), st.integers(0, 1_000))
def test_queue_path_leads_back_to_queue_and_start(queue_id: int, number: int) -> None:
    _, topic, folder, file = derive_queue_path("T", QueueId(queue_id), number * 200)
    assert (topic, parse_queue_folder(folder), decode_file_name(file, 200)) == ("T", queue_id, number * 200)


@pytest.mark.clause("store.index.file-name")
def test_index_file_is_named_after_the_local_time_to_the_millisecond() -> None:
    name = encode_index_name(datetime(2026, 11, 18, 5, 58, 41, 126_999))  # noqa: DTZ001 - local by meaning
    assert name == "20261118055841126"
    assert f"store/{INDEX_FOLDER}/{name}" in read_archive()
