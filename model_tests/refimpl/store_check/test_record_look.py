"""The quick paths agree with the specification."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.refimpl.store_check.damaged_store import crashed_files, log_path
from refimpl.store_check.index import derive_hashes
from refimpl.store_check.key_hash import hash_key_quickly
from refimpl.store_check.queues import HALF_BIT, derive_code
from refimpl.store_check.record_look import RecordReader, find_property, make_marker
from spec.broker.schedule import DELAY_LEVELS
from spec.layout.index_chain import derive_keys, hash_key
from spec.layout.record import decode_record, encode_record
from spec.layout.record_head import derive_record_head
from spec.layout.record_walk import iter_records
from spec.layout.stored_message import StoredMessage, make_record
from spec.recovery.store import derive_unit
from spec.rejection import Rejection
from spec.values.host import host_of
from spec.values.java_text import java_hash
from spec.values.message import Message
from spec.values.property import decode_properties
from spec.values.system_flag import TransactionType, has_queue_entry
from spec.values.units import QueueId

RECORDS = [
    record
    for number in range(5)
    for record in iter_records(crashed_files()[log_path(number)])
    if isinstance(record, StoredMessage)
]


def test_quick_look_sees_every_record_of_a_real_log() -> None:
    reader = RecordReader()
    for record in RECORDS:
        assert reader.look_quickly(encode_record(record), 0, record.position) == derive_record_head(record)


@given(st.sampled_from(RECORDS), st.data())
def test_quick_look_never_accepts_what_the_specification_refuses(
    record: StoredMessage, data: st.DataObject
) -> None:
    content = bytearray(encode_record(record))
    # Most bytes are body; those before and behind it are the interesting ones.
    body_end = 88 + len(record.body)
    places = st.one_of(
        st.integers(0, 90), st.integers(body_end, len(content) - 1), st.integers(0, len(content) - 1)
    )
    content[data.draw(places)] ^= data.draw(st.integers(1, 255))
    quick = RecordReader().look_quickly(bytes(content), 0, record.position)
    try:
        decoded = decode_record(bytes(content), accept_v2=True)
    except Rejection:
        assert quick is None
        return
    if decoded.position != record.position or min(decoded.queue_id, decoded.queue_offset) < 0:
        assert quick is None
        with pytest.raises(Rejection):
            RecordReader().look(bytes(content), 0, record.position)
        return
    assert quick in (None, derive_record_head(decoded))
    assert RecordReader().look(bytes(content), 0, record.position) == derive_record_head(decoded)


@pytest.mark.parametrize(
    ("at", "form", "value"),
    [
        (0, ">i", -1),
        (0, ">i", 124),
        (4, ">I", 0xDAA320AB),
        (8, ">i", 1),
        (12, ">i", -1),
        (20, ">q", -1),
        (28, ">q", 1),
        (36, ">i", 0x10),
        (36, ">i", 0x20),
        (52, ">i", -1),
        (52, ">i", 65_536),
        (68, ">i", -1),
        (68, ">i", 65_536),
        (84, ">i", -1),
        (84, ">i", 1_000),
        (90, ">B", 0),
        (90, ">B", 128),
        (90, ">B", 31),
        (91, ">B", 0xFF),
        (92, ">H", 0x8000),
        (92, ">H", 0),
        (94, ">B", 0xFF),
    ],
)
def test_quick_look_leaves_what_is_not_surely_good_to_the_specification(
    at: int, form: str, value: int
) -> None:
    content = bytearray(encode_record(RECORDS[0]))
    struct.pack_into(form, content, at, value)
    reader = RecordReader()
    assert reader.look_quickly(bytes(content), 0, 0) is None
    with pytest.raises(Rejection):
        reader.look(bytes(content), 0, 0)


def test_record_with_ipv6_hosts_is_seen_by_the_specification() -> None:
    host = host_of("::1", 10_911)
    record = make_record(Message("T", b"x"), queue_id=QueueId(0), born_host=host, store_host=host)
    data = encode_record(record)
    assert RecordReader().look_quickly(data, 0, 0) is None
    assert RecordReader().look(data, 0, 0) == derive_record_head(record)


def test_tag_codes_and_key_hashes_of_a_real_log_are_those_of_the_specification() -> None:
    for record in RECORDS:
        unit = derive_unit(derive_record_head(record), DELAY_LEVELS)
        assert unit is not None
        assert derive_code(derive_record_head(record)) == unit.tag_code
        keys = derive_keys(record.properties(), record.system_flag)
        assert derive_hashes(derive_record_head(record)) == [hash_key(record.topic, key) for key in keys]


def test_rolled_back_messages_have_no_keys() -> None:
    look = derive_record_head(RECORDS[-1])
    assert derive_hashes(look)
    assert derive_hashes(look._replace(system_flag=int(TransactionType.ROLLBACK))) == []


@pytest.mark.parametrize("kind", list(TransactionType))
def test_half_bit_stands_for_messages_without_a_unit(kind: TransactionType) -> None:
    assert bool(kind & HALF_BIT) is not has_queue_entry(kind)


@given(st.text("ABÄ\x01\x02", max_size=12), st.sampled_from(["A", "AB", "B"]))
def test_a_property_is_found_as_the_parser_finds_it(text: str, name: str) -> None:
    assert find_property(text, make_marker(name)) == decode_properties(text).get(name)


@given(st.text(max_size=20), st.one_of(st.text(max_size=20), st.text("azAZ09\x7f", max_size=200)))
def test_quick_hash_is_the_hash(topic: str, key: str) -> None:
    assert hash_key_quickly(topic, key) == hash_key(topic, key)


def test_quick_hash_of_the_number_without_an_absolute_value_is_zero() -> None:
    assert java_hash("T#01DK24EL") == -(2**31)
    assert hash_key_quickly("T", "01DK24EL") == hash_key("T", "01DK24EL") == 0
