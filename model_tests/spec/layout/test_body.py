import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.body import compress_body, expand_body, should_compress
from spec.rejection import Rejection


@pytest.mark.clause("store.body.zlib-stream")
@given(st.binary(max_size=300), st.sampled_from([0x001, 0x301]))
def test_compressed_body_expands_to_itself(body: bytes, flag: int) -> None:
    compressed = compress_body(body)
    assert compressed[0] == 0x78
    assert expand_body(compressed, flag) == body


def test_plain_body_is_left_as_it_is() -> None:
    assert expand_body(b"\x78plain", 0) == b"\x78plain"


@pytest.mark.clause("store.body.bounded-expansion")
def test_body_that_expands_beyond_the_limit_is_refused() -> None:
    bomb = zlib.compress(b"\0" * 10_000_000, 9)
    assert len(expand_body(bomb, 1, limit=10_000_000)) == 10_000_000
    with pytest.raises(Rejection, match="more than 9999999 bytes") as refusal:
        expand_body(bomb, 1, limit=9_999_999)
    assert refusal.value.clause == "store.body.bounded-expansion"


@pytest.mark.clause("store.body.zlib-stream")
@given(st.binary(max_size=64))
def test_any_bytes_expand_or_are_refused(data: bytes) -> None:
    try:
        expand_body(data, 1, limit=1_000)
    except Rejection as refusal:
        clause = refusal.clause
    else:
        clause = "store.body.zlib-stream"
    assert clause in {"store.body.zlib-stream", "store.body.bounded-expansion"}


@pytest.mark.clause("store.body.zlib-stream")
def test_cut_stream_is_refused() -> None:
    with pytest.raises(Rejection, match="no end"):
        expand_body(compress_body(b"some text")[:-1], 1)


@pytest.mark.clause("store.flag.compression-bits")
@pytest.mark.parametrize(("flag", "name"), [(0x101, "LZ4"), (0x201, "ZSTD"), (0x401, "unknown")])
def test_other_compressions_are_refused_by_name(flag: int, name: str) -> None:
    with pytest.raises(Rejection, match=name) as refusal:
        expand_body(b"", flag)
    assert refusal.value.clause == "store.flag.compression-bits"


@pytest.mark.clause("store.body.compression-threshold")
def test_bodies_of_4096_bytes_are_compressed_unless_in_a_batch() -> None:
    assert [should_compress(length, is_batch=False) for length in (4_095, 4_096)] == [False, True]
    assert not should_compress(10_000, is_batch=True)
