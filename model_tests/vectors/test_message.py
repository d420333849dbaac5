"""Bytes that a running Apache 4.9.3 wrote, and what they mean."""

from typing import Final

import pytest

from model_tests.vectors.apache_store import files_under
from spec.layout.batch import BatchEntry, decode_batch, encode_batch
from spec.layout.index_chain import hash_key
from spec.layout.record import decode_record
from spec.layout.stored_message import Magic, StoredMessage
from spec.rejection import Rejection
from spec.values.checksum import derive_checksum
from spec.values.host import host_of
from spec.values.java_text import java_hash
from spec.values.message_id import MessageId, decode_message_id, encode_message_id
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds, QueueId, QueueOffset

STORED_PREFIX: Final = bytes.fromhex(
    "000000da daa320a7 7036e992 00000000 00000000 0000000000000000 0000000000000000 00000000"
    "000001a1ed318b94 7f000001000093a4 000001a1ed318bf2 7f00000100002a9f 00000000 0000000000000000"
    "00000006 68656c6c6f30 02 5431 0077"
)
"""Everything of a record of 218 bytes but its 119 bytes of properties."""

BATCH_PREFIX: Final = bytes.fromhex("0000007e 00000000 00000000 00000000 00000006 626174636830 0062")
"""Everything of a batch record of 126 bytes but its 98 bytes of properties."""


@pytest.mark.clause("store.record.layout", "store.record.size-formula")
def test_stored_message_of_218_bytes_decodes_with_any_119_bytes_of_properties() -> None:
    properties = "A\x01" + "b" * 117
    assert decode_record(STORED_PREFIX + properties.encode()) == StoredMessage(
        size=ByteCount(218),
        magic=Magic.MESSAGE,
        body_crc=1_882_646_930,
        queue_id=QueueId(0),
        flag=0,
        queue_offset=QueueOffset(0),
        position=CommitLogPosition(0),
        system_flag=0,
        born_at_ms=Milliseconds(0x1A1ED318B94),
        born_host=host_of("127.0.0.1", 0x93A4),
        stored_at_ms=Milliseconds(0x1A1ED318BF2),
        store_host=host_of("127.0.0.1", 10_911),
        reconsume_times=0,
        prepared_position=CommitLogPosition(0),
        body=b"hello0",
        topic="T1",
        property_text=properties,
    )


@pytest.mark.clause("store.record.whole")
def test_stored_message_without_its_properties_is_refused_as_cut() -> None:
    with pytest.raises(Rejection, match="218 is stated, 99 bytes are there") as refusal:
        decode_record(STORED_PREFIX)
    assert refusal.value.clause == "store.record.whole"


@pytest.mark.clause("store.record.layout")
def test_first_record_of_the_real_store_is_written_out_byte_for_byte() -> None:
    data = files_under("store/commitlog")[0].read(0, 123)
    assert data[:4] == bytes.fromhex("0000007b")
    record = decode_record(data)
    assert (record.size, record.topic, record.body, record.properties()) == (
        123,
        "T",
        b"x0",
        {"CLUSTER": "DefaultCluster", "TAGS": "A"},
    )


@pytest.mark.clause("store.batch.layout")
def test_batch_record_of_126_bytes_decodes_and_encodes() -> None:
    properties = "A\x01" + "b" * 96
    data = BATCH_PREFIX + properties.encode()
    assert decode_batch(data, check_size=True) == (BatchEntry(0, b"batch0", properties),)
    assert encode_batch(decode_batch(data + data)) == data + data


@pytest.mark.clause("store.record.body-crc")
def test_body_crc_of_hello0() -> None:
    assert derive_checksum(b"hello0") == 1_882_646_930


@pytest.mark.clause("store.index.key-hash")
def test_index_key_hash_of_t1_key0() -> None:
    assert hash_key("T1", "key0") == 1_320_661_993


@pytest.mark.clause("store.queue.tag-code")
def test_tag_code_of_tag_a() -> None:
    assert java_hash("TagA") == 2_598_919


@pytest.mark.clause("store.id.offset-id-layout")
def test_offset_message_id_of_the_first_message() -> None:
    text = "7F00000100002A9F0000000000000000"
    identifier = MessageId(host_of("127.0.0.1", 10_911), CommitLogPosition(0))
    assert decode_message_id(text) == identifier
    assert encode_message_id(identifier) == text
