import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.values.test_host import hosts
from spec.rejection import Rejection
from spec.values.host import Host, host_of
from spec.values.message_id import (
    MessageId,
    UniqueId,
    decode_message_id,
    decode_unique_id,
    derive_elapsed_ms,
    encode_message_id,
    encode_message_ids,
    encode_unique_id,
    join_message_ids,
    split_message_ids,
)
from spec.values.units import CommitLogPosition, Milliseconds

identifiers = st.builds(MessageId, hosts, st.builds(CommitLogPosition, st.integers(0, 2**63 - 1)))
unique_ids = st.builds(
    UniqueId,
    st.one_of(st.binary(min_size=4, max_size=4), st.binary(min_size=16, max_size=16)),
    st.integers(0, 0xFFFF),
    st.integers(-(2**31), 2**31 - 1),
    st.builds(Milliseconds, st.integers(0, 2**32 - 1)),
    st.integers(0, 0xFFFF),
)


@pytest.mark.clause("store.id.offset-id-layout")
@given(identifiers)
def test_offset_id_reads_back_and_its_length_says_which_address_it_has(identifier: MessageId) -> None:
    text = encode_message_id(identifier)
    assert decode_message_id(text) == identifier
    assert decode_message_id(text.lower()) == identifier
    assert (len(text), text.upper()) == (56 if identifier.store_host.is_ipv6 else 32, text)


@pytest.mark.clause("store.id.offset-id-layout")
@given(st.one_of(st.text(max_size=60), st.text("0123456789abcdefABCDEF", min_size=32, max_size=32)))
def test_any_text_is_an_offset_id_or_refused(text: str) -> None:
    try:
        outcome = encode_message_id(decode_message_id(text))
    except Rejection as refusal:
        outcome = refusal.clause
    assert outcome in {text.upper(), "store.id.offset-id-layout", "store.host.address-and-port"}


@pytest.mark.clause("store.id.offset-id-layout")
@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("7F0000010000", 0, "32 or 56 characters"),
        ("7F00000100002A9F000000000000000G", 31, "not a hexadecimal digit"),
        ("7F00000100002A9FFFFFFFFFFFFFFFFF", 16, "negative"),
        ("7F000001FFFFFFFF0000000000000000", 8, "port"),
    ],
)
def test_refused_offset_id_says_where_and_why(text: str, position: int, reason: str) -> None:
    with pytest.raises(Rejection, match=reason) as refusal:
        decode_message_id(text)
    assert refusal.value.position == position


@pytest.mark.clause("store.id.batch-ids-joined")
@given(st.lists(identifiers, min_size=1, max_size=4))
def test_ids_of_a_batch_are_joined_by_commas(batch: list[MessageId]) -> None:
    assert split_message_ids(join_message_ids(batch)) == tuple(batch)


@pytest.mark.clause("store.id.batch-ids-joined")
@given(hosts, st.lists(st.builds(CommitLogPosition, st.integers(0, 2**63 - 1)), max_size=4))
def test_a_batch_of_one_broker_has_the_ids_of_its_messages(
    host: Host, positions: list[CommitLogPosition]
) -> None:
    identifiers = [MessageId(host, position) for position in positions]
    assert encode_message_ids(host, positions) == join_message_ids(identifiers)


@pytest.mark.clause("store.id.offset-id-layout")
@pytest.mark.parametrize("wrong", [-1, 2**63])
def test_a_batch_with_a_position_where_no_record_can_stand_has_no_id(wrong: int) -> None:
    positions = [CommitLogPosition(0), CommitLogPosition(wrong)]
    with pytest.raises(Rejection, match=f"no record stands at {wrong}"):
        encode_message_ids(host_of("127.0.0.1", 1), positions)


@pytest.mark.clause("store.id.batch-ids-joined")
def test_refused_id_of_a_batch_is_found_at_its_place() -> None:
    good = encode_message_id(MessageId(host_of("127.0.0.1", 1), CommitLogPosition(0)))
    with pytest.raises(Rejection, match="characters") as refusal:
        split_message_ids(f"{good},x")
    assert refusal.value.position == 33


@pytest.mark.clause("store.id.unique-id-layout")
@given(unique_ids)
def test_unique_id_reads_back(identifier: UniqueId) -> None:
    assert decode_unique_id(encode_unique_id(identifier)) == identifier


@pytest.mark.clause("store.id.unique-id-layout")
def test_unique_id_layout_is_address_process_loader_time_counter() -> None:
    identifier = UniqueId(bytes([192, 0, 2, 1]), 0x1_0203, 0x0405_0607, Milliseconds(0x0809_0A0B), 0x1_0C0D)
    assert encode_unique_id(identifier) == "C000020102030405060708090A0B0C0D"


@pytest.mark.clause("store.id.unique-id-layout")
@pytest.mark.parametrize(("now", "elapsed"), [(5_000_000, 4_000_000), (999_999, 0), (1, 0), (0, -1_000_000)])
def test_small_step_back_of_the_clock_counts_as_zero(now: int, elapsed: int) -> None:
    assert derive_elapsed_ms(now, 1_000_000) == elapsed


@pytest.mark.clause("store.id.offset-id-layout")
@pytest.mark.parametrize("position", [-1, 2**63])
def test_id_of_a_place_that_no_log_has_is_not_written(position: int) -> None:
    with pytest.raises(Rejection, match="no record stands at") as refusal:
        encode_message_id(MessageId(host_of("127.0.0.1", 10_911), CommitLogPosition(position)))
    assert refusal.value.clause == "store.id.offset-id-layout"


@pytest.mark.clause("store.id.unique-id-layout")
@pytest.mark.parametrize("size", [0, 3, 5, 15])
def test_unique_id_with_an_address_of_another_size_is_not_written(size: int) -> None:
    with pytest.raises(Rejection, match="4 or 16 bytes") as refusal:
        encode_unique_id(UniqueId(bytes(size), 1, 2, Milliseconds(3), 4))
    assert refusal.value.clause == "store.id.unique-id-layout"
