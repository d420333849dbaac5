import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.checkpoint import Checkpoint, decode_checkpoint, derive_safe_time, encode_checkpoint
from spec.rejection import Rejection
from spec.values.units import Milliseconds

times = st.builds(Milliseconds, st.integers(-(2**63), 2**63 - 1))


@pytest.mark.clause("store.checkpoint.layout")
@given(st.builds(Checkpoint, times, times, times))
def test_checkpoint_reads_back_from_its_page(checkpoint: Checkpoint) -> None:
    page = encode_checkpoint(checkpoint)
    assert (len(page), page[24:]) == (4_096, bytes(4_072))
    assert decode_checkpoint(page) == checkpoint
    assert decode_checkpoint(page[:24] + b"\1" * 16) == checkpoint


@pytest.mark.clause("store.checkpoint.layout")
def test_short_page_is_refused() -> None:
    with pytest.raises(Rejection, match="too few for three times"):
        decode_checkpoint(bytes(23))


@pytest.mark.clause("store.checkpoint.safe-time")
@pytest.mark.parametrize(
    ("log", "queues", "index", "counts_index", "safe"),
    [
        (10_000, 20_000, 0, False, 7_000),
        (20_000, 10_000, 0, False, 7_000),
        (10_000, 10_000, 500, True, 500),
        (10_000, 10_000, 9_000, True, 7_000),
        (2_000, 10_000, 0, False, 0),
    ],
)
def test_safe_time_is_three_seconds_before_the_earlier(
    log: int,
    queues: int,
    index: int,
    counts_index: bool,  # noqa: FBT001 - a column
    safe: int,
) -> None:
    checkpoint = Checkpoint(Milliseconds(log), Milliseconds(queues), Milliseconds(index))
    assert derive_safe_time(checkpoint, counts_index=counts_index) == safe


@pytest.mark.clause("store.checkpoint.layout")
def test_time_beyond_64_bits_is_not_written() -> None:
    with pytest.raises(Rejection, match="does not fit") as refusal:
        encode_checkpoint(Checkpoint(Milliseconds(2**63)))
    assert refusal.value.clause == "store.checkpoint.layout"
