"""Written units are counted as they are when looked at one by one."""

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refimpl.store.unit_scan import count_written
from spec.layout.consume_queue import FILLER, UNIT_SIZE, encode_unit, iter_units

_written = st.tuples(
    st.integers(0, 2**63 - 1), st.integers(1, 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
).map(lambda unit: struct.pack(">qiq", *unit))
_any_unit = st.tuples(
    st.sampled_from([0, 1, -1, -(2**63), 2**63 - 1, 255, 256]),
    st.sampled_from([0, 1, -1, 256, 65_536, 2**24, -(2**31), 2**31 - 1]),
    st.sampled_from([0, -1, 2**63 - 1]),
).map(lambda unit: struct.pack(">qiq", *unit))


@pytest.mark.clause("store.queue.written-unit")
@given(st.lists(_written, max_size=30), st.lists(_any_unit, max_size=5), st.binary(max_size=45))
def test_units_are_counted_up_to_the_first_that_was_not_written(
    written: list[bytes], then: list[bytes], rest: bytes
) -> None:
    data = b"".join((*written, *then, rest))
    assert count_written(data) == sum(1 for _ in iter_units(data))
    assert count_written(data) >= len(written)


@pytest.mark.clause("store.queue.written-unit")
@given(st.binary(max_size=400))
def test_any_bytes_are_counted_alike(data: bytes) -> None:
    assert count_written(data) == sum(1 for _ in iter_units(data))


def test_a_whole_file_and_an_empty_one_are_counted() -> None:
    filler = encode_unit(FILLER)
    assert [
        count_written(data) for data in (b"", bytes(UNIT_SIZE), filler * 1000, filler * 3 + b"\0" * 40)
    ] == [
        0,
        0,
        1000,
        3,
    ]
