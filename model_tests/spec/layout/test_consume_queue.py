import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.consume_queue import (
    BLANK,
    FILLER,
    UNIT_SIZE,
    Unit,
    decode_unit,
    decode_unit_lanes,
    derive_queue_offset,
    derive_readable_units,
    derive_unit_place,
    encode_unit,
    encode_unit_lanes,
    is_extension_address,
    is_written,
    iter_units,
    join_lanes,
    split_lanes,
)
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition, TagCode

_int64 = st.integers(-(2**63), 2**63 - 1)
units = st.builds(
    Unit,
    st.builds(CommitLogPosition, _int64),
    st.builds(ByteCount, st.integers(-(2**31), 2**31 - 1)),
    st.builds(TagCode, _int64),
)
written = units.filter(lambda unit: is_written(unit.position, unit.size))


@pytest.mark.clause("store.queue.unit-layout")
@given(units)
def test_unit_reads_back_and_both_codecs_agree(unit: Unit) -> None:
    data = encode_unit(unit)
    assert len(data) == UNIT_SIZE
    assert decode_unit(b"?" + data, 1) == unit
    high, low, size, tag_high, tag_low = decode_unit_lanes(data)
    assert (
        Unit(
            CommitLogPosition(join_lanes(high, low)), ByteCount(size), TagCode(join_lanes(tag_high, tag_low))
        )
        == unit
    )
    assert encode_unit_lanes(*split_lanes(unit.position), unit.size, *split_lanes(unit.tag_code)) == data


@pytest.mark.clause("store.queue.unit-layout")
def test_unit_of_a_real_queue() -> None:
    data = bytes.fromhex("0000000000000176 0000007b 0000000000000042")
    assert decode_unit(data) == Unit(CommitLogPosition(374), ByteCount(123), TagCode(66))


@pytest.mark.clause("store.queue.unit-layout")
@pytest.mark.parametrize(("length", "at"), [(19, 0), (39, 20), (20, -1), (0, 0)])
def test_unit_that_is_not_wholly_there_is_refused(length: int, at: int) -> None:
    with pytest.raises(Rejection, match="too few"):
        decode_unit(bytes(length), at)


@pytest.mark.clause("store.queue.unit-layout")
def test_lanes_need_exactly_20_bytes_and_units_must_fit() -> None:
    with pytest.raises(Rejection, match="found 21"):
        decode_unit_lanes(bytes(21))
    with pytest.raises(Rejection, match="does not fit"):
        encode_unit(BLANK._replace(size=ByteCount(2**31)))


@pytest.mark.clause("store.queue.written-unit")
@given(st.lists(written, max_size=5), st.integers(0, 50))
def test_queue_ends_at_the_first_unit_that_was_not_written(content: list[Unit], zeros: int) -> None:
    assert list(iter_units(b"".join(map(encode_unit, content)) + bytes(zeros))) == content


@pytest.mark.clause("store.queue.written-unit", "store.queue.filler")
def test_filler_counts_as_written_and_blank_does_not() -> None:
    assert is_written(FILLER.position, FILLER.size)
    assert not is_written(BLANK.position, BLANK.size)
    assert not is_written(-1, 100)
    assert encode_unit(FILLER) == bytes.fromhex("0000000000000000 7fffffff 0000000000000000")


@pytest.mark.clause("store.queue.unit-place")
@given(st.integers(0, 2**40), st.integers(1, 300_000))
def test_place_of_an_offset_leads_back_to_it(offset: int, units_per_file: int) -> None:
    start, at = derive_unit_place(offset, units_per_file)
    assert (start % (units_per_file * 20), at % 20) == (0, 0)
    assert 0 <= at < units_per_file * 20
    assert derive_queue_offset(start, at) == offset


@pytest.mark.clause("store.queue.read-ends-with-file")
@pytest.mark.parametrize(
    ("offset", "end", "count"), [(0, 25, 10), (7, 25, 3), (10, 25, 10), (20, 25, 5), (25, 25, 0), (30, 25, 0)]
)
def test_one_read_never_crosses_its_file(offset: int, end: int, count: int) -> None:
    assert derive_readable_units(offset, end, 10) == count


@pytest.mark.clause("store.queue.tag-code")
def test_hashes_are_never_extension_addresses() -> None:
    assert not is_extension_address(-(2**31))
    assert is_extension_address(-(2**31) - 1)
