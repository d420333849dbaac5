import struct
import tracemalloc
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.wire.record_strategy import INT32, TEXTS, records_of
from spec.broker.topic import DataVersion, TopicConfig, TopicFilter
from spec.rejection import Rejection
from spec.values.checksum import derive_checksum
from spec.wire.body.registration import (
    RegisterBrokerBody,
    decode_compressed,
    decode_registration,
    decode_topic_words,
    encode_compressed,
    encode_topic_words,
    inflate,
    is_body_intact,
)
from spec.wire.body.topic import TopicConfigTable
from spec.wire.frame import FRAME_LIMIT

BODY = RegisterBrokerBody(
    TopicConfigTable({"T1": TopicConfig("T1", 4, 8)}, DataVersion(timestamp_ms=7, counter=3)), ("f:1",)
)
PARTS = (b'{"counter":3,"timestamp":7}', b"T1 4 8 6 SINGLE_TAG", b'["f:1"]')
NAMES = st.text(st.characters(codec="utf-8", exclude_characters=" "), min_size=1, max_size=6)
TRAVELLING = st.builds(TopicConfig, NAMES, INT32, INT32, INT32, st.sampled_from(TopicFilter))
BODIES = st.builds(
    lambda topics, version, servers: RegisterBrokerBody(
        TopicConfigTable({topic.name: topic for topic in topics}, version), tuple(servers)
    ),
    st.lists(TRAVELLING, max_size=4),
    records_of(DataVersion),
    st.lists(TEXTS, max_size=2),
)


def pack(*parts: bytes | int) -> bytes:
    pieces = [
        struct.pack(">i", part) if isinstance(part, int) else struct.pack(">i", len(part)) + part
        for part in parts
    ]
    return b"".join(pieces)


@pytest.mark.clause("wire.body.registration-forms")
def test_compressed_form_is_length_prefixed_parts_in_a_zlib_stream() -> None:
    version, topic, servers = PARTS
    assert zlib.decompress(encode_compressed(BODY)) == pack(version, 1, topic, servers)
    assert decode_compressed(encode_compressed(BODY)) == BODY


@pytest.mark.clause("wire.body.registration-forms")
@given(BODIES)
def test_compressed_form_is_read_back(body: RegisterBrokerBody) -> None:
    assert decode_compressed(encode_compressed(body)) == body


@pytest.mark.clause("wire.body.registration-forms")
def test_compressed_form_loses_flags_and_order() -> None:
    ordered = TopicConfig("T", system_flag=1, is_ordered=True)
    assert decode_topic_words(encode_topic_words(ordered)) == TopicConfig("T")


@pytest.mark.clause("wire.body.registration-forms")
def test_header_and_version_say_which_form_a_body_has() -> None:
    plain, table = BODY.encode(), BODY.topic_config_serialize_wrapper
    assert decode_registration(plain, is_compressed=False, sender_version=399) == BODY
    assert decode_registration(encode_compressed(BODY), is_compressed=True, sender_version=399) == BODY
    old = decode_registration(table.encode(), is_compressed=False, sender_version=36)
    assert old == RegisterBrokerBody(table)
    assert decode_registration(b"", is_compressed=True, sender_version=399) == RegisterBrokerBody()


@pytest.mark.clause("wire.body.registration-forms")
@pytest.mark.parametrize(
    ("inflated", "reason"),
    [
        (b"", "four bytes of a length are missing"),
        (pack(-1), "the length -1 is negative"),
        (struct.pack(">i", 2**31 - 1), "does not fit the rest"),
        (pack(PARTS[0], 2**31 - 1), "four bytes of a length are missing"),
        (pack(PARTS[0], 1, b"T 4 4 6"), "expected five words"),
        (pack(PARTS[0], 1, b"T 4 4 6 NO_TAG"), "no topic filter type"),
        (pack(PARTS[0], 1, b"T 4 4 6 SINGLE_TAG x"), "expected five words"),
        (pack(PARTS[0], 1, b"T 4 4 \xff SINGLE_TAG"), "not UTF-8"),
        (pack(*PARTS[:1], 0, PARTS[2]) + b"x", "bytes follow the last part"),
    ],
)
def test_malformed_parts_are_refused(inflated: bytes, reason: str) -> None:
    with pytest.raises(Rejection, match=reason) as refusal:
        decode_compressed(zlib.compress(inflated))
    assert refusal.value.clause == "wire.body.registration-forms"


@pytest.mark.clause("wire.body.registration-forms")
def test_topic_numbers_are_java_integers() -> None:
    with pytest.raises(Rejection) as refusal:
        decode_topic_words(b"T 4 4 2147483648 SINGLE_TAG")
    assert refusal.value.clause == "wire.header-fields.integer-range"


@pytest.mark.clause("wire.body.decompression-bound")
def test_a_stream_may_hold_the_limit_and_not_a_byte_more() -> None:
    assert inflate(zlib.compress(b"x" * 1000), 1000) == b"x" * 1000
    with pytest.raises(Rejection, match="more than 999 bytes") as refusal:
        inflate(zlib.compress(b"x" * 1000), 999)
    assert refusal.value.clause == "wire.body.decompression-bound"


@pytest.mark.clause("wire.body.decompression-bound")
def test_a_bomb_is_refused_without_being_inflated() -> None:
    limit = 1_000_000
    bomb = zlib.compress(b"\0" * (40 * limit))
    assert len(bomb) < limit
    tracemalloc.start()
    try:
        with pytest.raises(Rejection, match="more than 1000000 bytes"):
            decode_compressed(bomb, size_limit=limit)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 4 * limit


@pytest.mark.clause("wire.body.decompression-bound")
def test_the_bound_is_the_frame_limit_unless_stated() -> None:
    with pytest.raises(Rejection, match="more than 16777216 bytes"):
        decode_compressed(zlib.compress(bytes(FRAME_LIMIT + 1)))


@pytest.mark.clause("wire.body.decompression-bound")
@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "has no end"),
        (b"plain", "not a zlib stream"),
        (zlib.compress(b"abc")[:-1], "has no end"),
        (zlib.compress(b"abc") + b"x", "bytes follow"),
    ],
)
def test_a_stream_that_is_not_whole_and_alone_is_refused(data: bytes, reason: str) -> None:
    with pytest.raises(Rejection, match=reason) as refusal:
        inflate(data, 100)
    assert refusal.value.clause == "wire.body.decompression-bound"


def outcome_of(data: bytes, *, is_compressed: bool, version: int) -> object:
    try:
        return decode_registration(data, is_compressed=is_compressed, sender_version=version)
    except Rejection as refusal:
        return refusal


@given(st.binary() | st.binary().map(zlib.compress), st.booleans(), st.sampled_from([1, 399]))
def test_any_bytes_are_a_registration_or_refused(data: bytes, is_compressed: bool, version: int) -> None:  # noqa: FBT001 - given
    outcome = outcome_of(data, is_compressed=is_compressed, version=version)
    assert isinstance(outcome, RegisterBrokerBody | Rejection)


@pytest.mark.clause("wire.body.registration-checksum")
def test_checksum_is_31_bits_over_the_bytes_as_sent_and_zero_declares_nothing() -> None:
    body = b"123456789"
    assert zlib.crc32(body) == 0xCBF43926
    assert derive_checksum(body) == 0x4BF43926
    assert is_body_intact(0x4BF43926, body)
    assert is_body_intact(0, body)
    assert not is_body_intact(0x4BF43927, body)


@pytest.mark.clause("wire.body.registration-forms")
@pytest.mark.parametrize("name", ["", "a b", "\ud800"])
def test_topic_whose_name_is_not_one_word_is_not_written(name: str) -> None:
    with pytest.raises(Rejection) as refusal:
        encode_topic_words(TopicConfig(name, 4, 4))
    assert refusal.value.clause == "wire.body.registration-forms"
