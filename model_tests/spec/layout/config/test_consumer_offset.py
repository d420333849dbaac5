import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.config.consumer_offset import OffsetKey, decode_offset_key, encode_offset_key
from spec.rejection import Rejection

names = st.text("abc%|-_XYZ019", min_size=1, max_size=12)


@pytest.mark.clause("store.config.offset-key")
@given(names, names)
def test_key_reads_back(topic: str, group: str) -> None:
    key = OffsetKey(topic, group)
    assert decode_offset_key(encode_offset_key(key)) == key


@pytest.mark.clause("store.config.offset-key")
@pytest.mark.parametrize("text", ["", "T", "@G", "T@", "T@G@x"])
def test_text_that_is_not_topic_and_group_is_refused(text: str) -> None:
    with pytest.raises(Rejection, match="is not topic@group"):
        decode_offset_key(text)


@pytest.mark.clause("store.config.offset-key")
def test_names_with_the_separator_are_not_written() -> None:
    with pytest.raises(Rejection):
        encode_offset_key(OffsetKey("T@x", "G"))
