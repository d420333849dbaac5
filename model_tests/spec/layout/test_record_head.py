"""A record read without its body says the same, and is refused for the same reasons."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.layout.sample import stored, stored_messages
from spec.layout.record import decode_record, encode_record
from spec.layout.record_head import RecordHead, decode_record_head, derive_record_head
from spec.layout.stored_message import StoredMessage
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds, QueueId, QueueOffset


def verdict_on(
    data: bytes, at: int, *, check_crc: bool, accept_v2: bool
) -> tuple[RecordHead | tuple[str, int, str], RecordHead | tuple[str, int, str]]:
    """What both decoders say: the head, or the clause, place and reason of the refusal."""

    def by_record() -> RecordHead:
        return derive_record_head(decode_record(data, at, check_crc=check_crc, accept_v2=accept_v2))

    def by_head() -> RecordHead:
        return decode_record_head(memoryview(data), at, check_crc=check_crc, accept_v2=accept_v2)

    verdicts: list[RecordHead | tuple[str, int, str]] = []
    for decode in (by_record, by_head):
        try:
            verdicts.append(decode())
        except Rejection as refusal:
            verdicts.append((refusal.clause, refusal.position, refusal.reason))
    return verdicts[0], verdicts[1]


@pytest.mark.clause("store.record.layout")
def test_head_has_the_fields_of_the_record() -> None:
    record = stored("T", b"body", queue_id=3, queue_offset=4, position=5, properties={"TAGS": "a"})
    head = decode_record_head(memoryview(b"...." + encode_record(record)), 4)
    assert head == RecordHead(
        ByteCount(102),
        QueueId(3),
        QueueOffset(4),
        CommitLogPosition(5),
        0,
        Milliseconds(1_000),
        "T",
        "TAGS\x01a",
    )
    assert (head.end, head.properties()) == (record.end, {"TAGS": "a"})


@pytest.mark.clause("store.record.layout", "store.record.second-version")
@given(
    record=stored_messages, before=st.binary(max_size=20), check_crc=st.booleans(), accept_v2=st.booleans()
)
def test_head_agrees_with_the_whole_record(
    record: StoredMessage, before: bytes, *, check_crc: bool, accept_v2: bool
) -> None:
    data = before + encode_record(record)
    whole, head = verdict_on(data, len(before), check_crc=check_crc, accept_v2=accept_v2)
    assert head == whole


@pytest.mark.clause(
    "store.record.whole",
    "store.record.magic",
    "store.record.size-formula",
    "store.record.body-crc",
    "store.record.texts-are-utf8",
    "store.host.address-and-port",
)
@given(
    record=stored_messages,
    changes=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 255)), min_size=1, max_size=3),
    cut=st.integers(0, 200),
    check_crc=st.booleans(),
)
def test_head_is_refused_for_the_reason_for_which_the_record_is(
    record: StoredMessage, changes: list[tuple[int, int]], cut: int, *, check_crc: bool
) -> None:
    damaged = bytearray(encode_record(record))
    for place, value in changes:
        damaged[place % len(damaged)] = value
    data = bytes(damaged[: len(damaged) - cut % 3])
    whole, head = verdict_on(data, 0, check_crc=check_crc, accept_v2=True)
    assert head == whole


@given(st.binary(max_size=120), st.integers(-2, 10))
def test_any_bytes_are_refused_alike(data: bytes, at: int) -> None:
    whole, head = verdict_on(data, at, check_crc=True, accept_v2=True)
    assert head == whole
