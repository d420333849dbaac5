import pytest
from hypothesis import given

from model_tests.spec.layout.sample import stored_messages
from spec.layout.record import decode_record, encode_record
from spec.layout.record_patch import derive_stored_at_position, patch_record
from spec.layout.stored_message import StoredMessage
from spec.values.units import CommitLogPosition, Milliseconds, QueueOffset


@pytest.mark.clause("store.record.patch-positions")
@given(stored_messages)
def test_patch_changes_exactly_the_three_fields(record: StoredMessage) -> None:
    buffer = bytearray(b"??" + encode_record(record))
    patch_record(
        buffer,
        2,
        queue_offset=QueueOffset(7),
        position=CommitLogPosition(2**40),
        stored_at_ms=Milliseconds(1_700_000_000_000),
    )
    assert decode_record(buffer, 2, accept_v2=True) == record._replace(
        queue_offset=QueueOffset(7),
        position=CommitLogPosition(2**40),
        stored_at_ms=Milliseconds(1_700_000_000_000),
    )


@pytest.mark.clause("store.record.patch-positions")
def test_store_time_stands_at_56_or_68() -> None:
    assert (
        derive_stored_at_position(0),
        derive_stored_at_position(0x20),
        derive_stored_at_position(0x10),
    ) == (
        56,
        56,
        68,
    )
