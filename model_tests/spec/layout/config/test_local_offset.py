import pytest

from spec.layout.config.local_offset import (
    LocalOffsetTable,
    MergeRule,
    derive_local_path,
    merge_local_offsets,
)
from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId, QueueOffset

ONE, TWO = (MessageQueue("T", "b", QueueId(number)) for number in (1, 2))


@pytest.mark.clause("store.config.local-offsets-stay")
def test_queue_that_is_away_keeps_its_offset_except_in_4_9_3() -> None:
    stored = LocalOffsetTable({ONE: QueueOffset(5), TWO: QueueOffset(6)})
    current = LocalOffsetTable({TWO: QueueOffset(9)})
    assert merge_local_offsets(stored, current).offset_table == {ONE: 5, TWO: 9}
    assert merge_local_offsets(stored, current, rule=MergeRule.REPLACE) == current


@pytest.mark.clause("store.config.local-offset-path")
def test_file_lies_below_client_and_group() -> None:
    assert derive_local_path("10.0.0.1@DEFAULT", "G") == ("10.0.0.1@DEFAULT", "G", "offsets.json")


@pytest.mark.clause("store.config.local-offset-path")
@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../x", "a\0b"])
def test_name_that_would_leave_the_folder_is_refused(name: str) -> None:
    with pytest.raises(Rejection):
        derive_local_path("c", name)
    with pytest.raises(Rejection):
        derive_local_path(name, "G")
