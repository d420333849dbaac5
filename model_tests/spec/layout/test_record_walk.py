import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.layout.sample import stored, stored_messages
from spec.layout.record import encode_record
from spec.layout.record_walk import (
    Stop,
    StopKind,
    decode_blank,
    decode_records,
    encode_blank,
    iter_records,
    read_next,
)
from spec.layout.stored_message import StoredMessage
from spec.rejection import Rejection

ONE = encode_record(stored())


@pytest.mark.clause("store.walk.pull-body-is-records")
@given(st.lists(stored_messages, max_size=4))
def test_pull_body_is_records_back_to_back(records: list[StoredMessage]) -> None:
    body = b"".join(map(encode_record, records))
    assert decode_records(body, accept_v2=True) == tuple(records)


@pytest.mark.clause("store.walk.stop-reasons")
@pytest.mark.parametrize(
    ("tail", "kind"),
    [
        (b"", StopKind.END),
        (encode_blank(100) + b"\0" * 92, StopKind.BLANK),
        (b"\0" * 3, StopKind.ZERO),
        (b"\0" * 100, StopKind.ZERO),
        (b"\0" * 7 + b"\1", StopKind.DAMAGED),
        (ONE[:-1], StopKind.DAMAGED),
        (b"\1", StopKind.DAMAGED),
    ],
)
def test_walk_says_why_it_ends(tail: bytes, kind: StopKind) -> None:
    *records, stop = iter_records(ONE + ONE + tail)
    assert records == [stored(), stored()]
    assert isinstance(stop, Stop)
    assert (stop.at, stop.kind) == (2 * len(ONE), kind)
    assert (stop.refusal is not None) == (kind is StopKind.DAMAGED)


@pytest.mark.clause("store.walk.stop-reasons")
@given(st.binary(max_size=120))
def test_any_bytes_end_in_exactly_one_stop(data: bytes) -> None:
    *records, stop = iter_records(data)
    assert isinstance(stop, Stop)
    assert all(isinstance(record, StoredMessage) for record in records)


@pytest.mark.clause("store.walk.pull-body-is-records")
@pytest.mark.parametrize("tail", [b"\0" * 8, ONE[:50], encode_blank(8)])
def test_pull_body_with_anything_else_behind_its_records_is_refused(tail: bytes) -> None:
    with pytest.raises(Rejection) as refusal:
        decode_records(ONE + tail)
    assert (refusal.value.clause, refusal.value.position) == ("store.walk.pull-body-is-records", len(ONE))


@pytest.mark.clause("store.blank.layout", "store.blank.covers-the-rest")
def test_blank_record_states_what_is_left_of_the_file() -> None:
    assert encode_blank(2_178) == bytes.fromhex("00000882 cbd43194")
    assert decode_blank(encode_blank(2_178), 0, 2_178) == 2_178
    assert decode_blank(encode_blank(2_178), 0, None) == 2_178
    with pytest.raises(Rejection, match="where 2179 are left") as refusal:
        decode_blank(encode_blank(2_178), 0, 2_179)
    assert refusal.value.clause == "store.blank.covers-the-rest"
    stop = read_next(encode_blank(2_178), 0, remaining=2_179)
    assert isinstance(stop, Stop)
    assert stop.kind is StopKind.DAMAGED


@pytest.mark.clause("store.blank.layout")
@pytest.mark.parametrize("data", [b"", encode_blank(8)[:7], ONE, bytes.fromhex("00000007 cbd43194")])
def test_bytes_that_are_no_blank_record_are_refused(data: bytes) -> None:
    with pytest.raises(Rejection) as refusal:
        decode_blank(data, 0, None)
    assert refusal.value.clause == "store.blank.layout"


@pytest.mark.clause("store.blank.layout")
@pytest.mark.parametrize("remaining", [7, 2**31])
def test_blank_record_needs_eight_bytes_and_covers_what_32_bits_can_say(remaining: int) -> None:
    with pytest.raises(Rejection, match="no blank record covers"):
        encode_blank(remaining)
