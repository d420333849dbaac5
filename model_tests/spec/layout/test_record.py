import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.layout.sample import stored, stored_messages
from spec.layout.record import decode_record, encode_record
from spec.layout.stored_message import Magic, StoredMessage, derive_record_size
from spec.rejection import Rejection
from spec.values.checksum import derive_checksum
from spec.values.host import host_of
from spec.values.message import Message
from spec.values.units import ByteCount, QueueId

BODY_AT = 88


def _refusal(data: bytes, at: int = 0) -> Rejection:
    with pytest.raises(Rejection) as refusal:
        decode_record(data, at)
    return refusal.value


@pytest.mark.clause("store.record.layout", "store.record.second-version", "store.flag.host-bits")
@given(stored_messages, st.binary(max_size=3), st.binary(max_size=3))
def test_record_reads_back_wherever_it_stands(record: StoredMessage, before: bytes, after: bytes) -> None:
    data = before + encode_record(record) + after
    assert decode_record(data, len(before), accept_v2=True) == record
    assert decode_record(memoryview(bytearray(data)), len(before), accept_v2=True) == record


@pytest.mark.clause("store.record.whole")
@given(stored_messages)
def test_every_prefix_of_a_record_is_refused(record: StoredMessage) -> None:
    data = encode_record(record)
    for length in range(len(data)):
        with pytest.raises(Rejection) as refusal:
            decode_record(data[:length], accept_v2=True)
        assert refusal.value.clause == "store.record.whole"


@pytest.mark.clause("store.record.layout")
@given(stored_messages, st.integers(1, 255))
def test_every_changed_byte_gives_a_value_or_a_rejection(record: StoredMessage, change: int) -> None:
    data = bytearray(encode_record(record))
    for at in range(len(data)):
        data[at] ^= change
        try:
            changed = decode_record(data, accept_v2=True)
        except Rejection as refusal:
            assert 0 <= refusal.position <= len(data)  # noqa: PT017 - both outcomes are legal
        else:
            assert changed != record
        data[at] ^= change


@pytest.mark.clause("store.record.body-crc")
@given(stored_messages.filter(lambda record: record.body != b""), st.data())
def test_changed_body_is_caught_by_the_crc(record: StoredMessage, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(record.body) - 1))
    change = data.draw(st.integers(1, 255))
    start = BODY_AT + 12 * (record.born_host.is_ipv6 + record.store_host.is_ipv6)
    changed = bytearray(encode_record(record))
    changed[start + at] ^= change
    with pytest.raises(Rejection, match="CRC") as refusal:
        decode_record(changed, accept_v2=True)
    assert refusal.value.clause == "store.record.body-crc"
    assert decode_record(changed, check_crc=False, accept_v2=True).body != record.body


@pytest.mark.clause("store.record.layout")
@given(st.binary(max_size=200), st.integers(-3, 210))
def test_any_bytes_give_a_value_or_a_rejection(data: bytes, at: int) -> None:
    try:
        record = decode_record(data, at)
    except Rejection:
        return
    assert encode_record(record) == data[at : at + record.size]


@pytest.mark.clause("store.record.size-formula")
@pytest.mark.parametrize("size", [90, 0, -1, 96, 98])
def test_stated_size_that_is_not_the_sum_of_the_parts_is_refused(size: int) -> None:
    data = encode_record(stored("T", b"body!")) + b"\0" * 8
    assert len(data) - 8 == 97
    changed = size.to_bytes(4, "big", signed=True) + data[4:]
    assert _refusal(changed).clause == "store.record.size-formula"


@pytest.mark.clause("store.record.size-formula")
@pytest.mark.parametrize("length", [-1, 6, 2**31 - 1])
def test_body_length_that_does_not_fit_is_refused_without_reading_it(length: int) -> None:
    data = encode_record(stored("T", b"body!"))
    changed = data[:84] + length.to_bytes(4, "big", signed=True) + data[88:]
    refusal = _refusal(changed)
    assert refusal.clause in {"store.record.size-formula", "store.record.topic-length"}
    assert "fit" in refusal.reason or "topic length" in refusal.reason


@pytest.mark.clause("store.record.topic-length")
@pytest.mark.parametrize("length", [0, 128, 255])
def test_topic_length_outside_a_signed_byte_is_refused(length: int) -> None:
    data = bytearray(encode_record(stored("T", b"body")))
    data[BODY_AT + 4] = length
    assert _refusal(bytes(data)).clause == "store.record.topic-length"


@pytest.mark.clause("store.record.texts-are-utf8")
def test_texts_that_are_not_utf8_are_refused_at_the_bad_byte() -> None:
    data = encode_record(stored("Topic", b"", properties={"a": "b"}))
    topic = data.replace(b"Topic", b"Top\xffc")
    refusal = _refusal(topic)
    assert (refusal.clause, refusal.position) == ("store.record.texts-are-utf8", BODY_AT + 1 + 3)
    properties = data.replace(b"a\x01b", b"a\x01\x80")
    assert _refusal(properties).clause == "store.record.texts-are-utf8"


@pytest.mark.clause("store.record.magic", "store.record.second-version")
def test_second_version_is_read_only_when_asked_for() -> None:
    record = stored("T" * 127)
    long = record._replace(topic="T" * 128, magic=Magic.MESSAGE_V2, size=ByteCount(record.size + 2))
    data = encode_record(long)
    assert decode_record(data, accept_v2=True) == long
    assert _refusal(data).clause == "store.record.magic"


@pytest.mark.clause("store.host.address-and-port")
def test_port_that_is_none_is_refused_at_its_place_in_the_record() -> None:
    data = bytearray(encode_record(stored()))
    data[52] = 0x7F
    refusal = _refusal(bytes(data))
    assert (refusal.clause, refusal.position) == ("store.host.address-and-port", 52)
    data[52] = 0
    data[68] = 0x7F
    assert _refusal(bytes(data)).position == 68


@pytest.mark.clause("store.record.topic-length", "store.record.property-length", "store.record.size-formula")
@pytest.mark.parametrize(
    ("change", "clause"),
    [
        ({"topic": ""}, "store.record.topic-length"),
        ({"topic": "T" * 128}, "store.record.topic-length"),
        ({"topic": "\ud800"}, "store.record.texts-are-utf8"),
        ({"property_text": "p" * 32_768}, "store.record.property-length"),
        ({"size": ByteCount(1)}, "store.record.size-formula"),
        ({"queue_id": QueueId(2**31)}, "store.record.layout"),
        ({"born_host": host_of("::1", 1)}, "store.flag.host-bits"),
    ],
)
def test_message_that_has_no_record_is_not_encoded(change: dict[str, object], clause: str) -> None:
    with pytest.raises(Rejection) as refusal:
        encode_record(StoredMessage(**{**stored()._asdict(), **change}))
    assert refusal.value.clause == clause


@pytest.mark.clause("store.record.size-formula")
def test_sizes_of_the_four_kinds_of_records() -> None:
    assert derive_record_size(0, 0, 0) == 91
    assert derive_record_size(0, 0, 0, born_ipv6=True) == 103
    assert derive_record_size(0, 0, 0, born_ipv6=True, store_ipv6=True, is_v2=True) == 116
    assert derive_record_size(6, 2, 119) == 218


@pytest.mark.clause("store.record.body-crc")
def test_crc_loses_its_highest_bit() -> None:
    assert derive_checksum(b"") == 0
    assert derive_checksum(b"a") == 0xE8B7BE43 & 0x7FFFFFFF


def test_record_gives_the_message_back() -> None:
    record = stored("T", b"x", properties={"TAGS": "A"})
    assert record.message() == Message("T", b"x", 0, {"TAGS": "A"})
    assert record.end == 99
