import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.batch import BatchEntry, decode_batch, derive_stored_property_text, encode_batch
from spec.rejection import Rejection
from spec.values.property import decode_properties

entries = st.builds(
    BatchEntry,
    st.integers(-(2**31), 2**31 - 1),
    st.binary(max_size=20),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)


@pytest.mark.clause("store.batch.layout")
@given(st.lists(entries, max_size=4))
def test_batch_reads_back_with_true_sizes(batch: list[BatchEntry]) -> None:
    assert decode_batch(encode_batch(batch), check_size=True) == tuple(batch)


@pytest.mark.clause("store.batch.layout")
@given(st.binary(max_size=80))
def test_any_bytes_are_a_batch_or_refused(data: bytes) -> None:
    try:
        batch = decode_batch(data)
    except Rejection:
        return
    assert sum(22 + len(entry.body) + len(entry.property_text.encode()) for entry in batch) == len(data)


@pytest.mark.clause("store.batch.layout")
@given(entries)
def test_every_prefix_of_an_entry_is_refused(entry: BatchEntry) -> None:
    data = encode_batch([entry])
    for length in range(1, len(data)):
        with pytest.raises(Rejection) as refusal:
            decode_batch(data[:length])
        assert refusal.value.clause == "store.batch.layout"


@pytest.mark.clause("store.batch.size-is-ignored")
@given(st.lists(entries, min_size=1, max_size=3), st.binary(min_size=12, max_size=12))
def test_size_magic_and_crc_are_not_looked_at(batch: list[BatchEntry], head: bytes) -> None:
    data = b"".join(head + encode_batch([entry])[12:] for entry in batch)
    assert decode_batch(data) == tuple(batch)


@pytest.mark.clause("store.batch.size-is-ignored")
def test_wrong_size_is_refused_when_asked_for() -> None:
    data = encode_batch([BatchEntry(0, b"a", "")])
    with pytest.raises(Rejection, match="size 24 is stated, the entry has 23"):
        decode_batch((24).to_bytes(4, "big") + data[4:], check_size=True)


@pytest.mark.clause("store.batch.layout")
@pytest.mark.parametrize(
    "entry", [BatchEntry(2**31, b"", ""), BatchEntry(0, b"", "p" * 32_768), BatchEntry(0, b"", "\ud800")]
)
def test_message_without_batch_form_is_refused(entry: BatchEntry) -> None:
    with pytest.raises(Rejection) as refusal:
        encode_batch([BatchEntry(0, b"", ""), entry])
    assert (refusal.value.clause, refusal.value.position) == ("store.batch.layout", 1)


@pytest.mark.clause("store.batch.properties-joined")
@pytest.mark.parametrize("end", ["", "\x02"])
def test_stored_properties_are_the_own_then_those_of_the_batch(end: str) -> None:
    text = derive_stored_property_text("TAGS\x01A\x02WAIT\x01true" + end, {"WAIT": "false"}, "C")
    assert text == "TAGS\x01A\x02WAIT\x01true\x02WAIT\x01false\x02CLUSTER\x01C"
    assert decode_properties(text) == {"TAGS": "A", "WAIT": "false", "CLUSTER": "C"}


@pytest.mark.clause("store.batch.properties-joined")
def test_message_without_properties_gets_those_of_the_batch() -> None:
    assert derive_stored_property_text("", {}, "C") == "CLUSTER\x01C"
