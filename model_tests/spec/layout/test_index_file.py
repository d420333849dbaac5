import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.index_file import (
    EMPTY_HEADER,
    IndexEntry,
    IndexHeader,
    decode_entry,
    decode_header,
    decode_slot,
    derive_entry_position,
    derive_file_size,
    derive_slot_position,
    encode_entry,
    encode_header,
)
from spec.rejection import Rejection
from spec.values.units import CommitLogPosition, Count, Index, Milliseconds

_int32 = st.integers(-(2**31), 2**31 - 1)
_int64 = st.integers(-(2**63), 2**63 - 1)
headers = st.builds(
    IndexHeader,
    st.builds(Milliseconds, _int64),
    st.builds(Milliseconds, _int64),
    st.builds(CommitLogPosition, _int64),
    st.builds(CommitLogPosition, _int64),
    st.builds(Count, _int32),
    st.builds(Index, st.integers(1, 2**31 - 1)),
)


@pytest.mark.clause("store.index.layout")
@given(headers)
def test_header_reads_back(header: IndexHeader) -> None:
    assert decode_header(encode_header(header) + b"?") == header


@pytest.mark.clause("store.index.layout")
@given(st.builds(IndexEntry, _int32, st.builds(CommitLogPosition, _int64), _int32, st.builds(Index, _int32)))
def test_entry_reads_back(entry: IndexEntry) -> None:
    assert decode_entry(b"?" + encode_entry(entry), 1) == entry


@pytest.mark.clause("store.index.layout")
def test_fresh_file_counts_from_one() -> None:
    assert decode_header(bytes(40)) == EMPTY_HEADER
    assert EMPTY_HEADER.next_entry == 1


@pytest.mark.clause("store.index.layout")
def test_apaches_default_file_has_420000040_bytes() -> None:
    assert derive_file_size() == 420_000_040
    assert (derive_slot_position(0), derive_slot_position(7)) == (40, 68)
    assert (derive_entry_position(0), derive_entry_position(1)) == (20_000_040, 20_000_060)


@pytest.mark.clause("store.index.layout")
def test_parts_that_are_not_wholly_there_are_refused() -> None:
    for read in (
        lambda: decode_header(bytes(39)),
        lambda: decode_entry(bytes(20), 1),
        lambda: decode_slot(bytes(4), 1),
    ):
        with pytest.raises(Rejection, match="too few") as refusal:
            read()
        assert refusal.value.clause == "store.index.layout"


@pytest.mark.clause("store.index.layout")
def test_numbers_that_do_not_fit_their_fields_are_not_written() -> None:
    with pytest.raises(Rejection, match="does not fit") as refusal:
        encode_header(EMPTY_HEADER._replace(end_position=CommitLogPosition(2**63)))
    assert refusal.value.clause == "store.index.layout"
    with pytest.raises(Rejection, match="does not fit") as refusal:
        encode_entry(IndexEntry(2**31, CommitLogPosition(0), 0, Index(0)))
    assert refusal.value.clause == "store.index.layout"
