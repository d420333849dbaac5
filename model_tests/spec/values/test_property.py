import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.rejection import Rejection
from spec.values.property import (
    RESERVED_NAMES,
    LastSeparator,
    decode_properties,
    encode_properties,
    split_keys,
)

words = st.text(
    st.characters(exclude_characters="\x01\x02", exclude_categories=["Cs"]), min_size=1, max_size=8
)
properties = st.dictionaries(words, words, max_size=5)


@pytest.mark.clause("store.property.parse-rule", "store.property.last-separator")
@given(properties, st.sampled_from(LastSeparator))
def test_properties_read_back_with_and_without_the_last_separator(
    values: dict[str, str], last: LastSeparator
) -> None:
    text = encode_properties(values, last_separator=last)
    assert decode_properties(text) == values
    assert text.endswith("\x02") == (bool(values) and last is LastSeparator.PRESENT)


@pytest.mark.clause("store.property.parse-rule")
@given(st.text("ab\x01\x02", max_size=16))
def test_any_text_is_a_property_string(text: str) -> None:
    values = decode_properties(text)
    assert all(name and value for name, value in values.items())
    assert decode_properties(encode_properties(values)) == values


@pytest.mark.clause("store.property.parse-rule")
@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("", {}),
        ("\x02\x02", {}),
        ("a\x01", {}),
        ("\x01b", {}),
        ("abc", {}),
        ("name\x01", {}),
        ("\x01value", {}),
        ("a\x01b", {"a": "b"}),
        ("a\x01b\x01c", {"a": "b\x01c"}),
        ("x\x02a\x01b\x02", {"a": "b"}),
    ],
)
def test_pieces_without_name_or_value_are_left_out(text: str, values: dict[str, str]) -> None:
    assert decode_properties(text) == values


@pytest.mark.clause("store.property.later-wins")
def test_later_of_two_entries_with_one_name_counts() -> None:
    assert decode_properties("WAIT\x01true\x02TAGS\x01A\x02WAIT\x01false") == {"WAIT": "false", "TAGS": "A"}


@pytest.mark.clause("store.property.no-separator-inside")
@pytest.mark.parametrize("entry", [("a\x01b", "c"), ("a\x02b", "c"), ("a", "b\x02c")])
def test_separator_inside_an_entry_is_refused(entry: tuple[str, str]) -> None:
    with pytest.raises(Rejection, match="contains a separator"):
        encode_properties(dict([entry]))


@pytest.mark.clause("store.index.keys-of-a-message")
def test_keys_are_split_at_spaces_without_empty_ones() -> None:
    assert split_keys(" a  b c ") == ("a", "b", "c")
    assert split_keys("") == ()


def test_reserved_names_are_those_of_apache() -> None:
    assert len(RESERVED_NAMES) == 35
    assert {"KEYS", "REAL_QID", "TRAN_MSG", "PGROUP", "UNIQ_KEY"} <= RESERVED_NAMES
