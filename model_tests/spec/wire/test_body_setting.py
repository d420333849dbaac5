import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.rejection import Rejection
from spec.wire.body.setting import decode_settings, encode_settings

KEYS = st.text("abcXYZ.09", min_size=1, max_size=6)
VALUES = st.text(st.characters(codec="utf-8", exclude_characters="\\\r\n"), max_size=8)


@pytest.mark.clause("wire.body.properties-text")
@given(st.dictionaries(KEYS, VALUES.map(lambda value: value.lstrip(" \t\f")), max_size=4))
def test_settings_are_read_back(settings: dict[str, str]) -> None:
    assert decode_settings(encode_settings(settings)) == settings


@pytest.mark.clause("wire.body.properties-text")
def test_lines_comments_blanks_and_repetitions_are_read_as_java_does() -> None:
    text = b"brokerName=a\r\n# note\n! note\n\n  key = v=1 \nflag\nbrokerName=b"
    assert decode_settings(text) == {"brokerName": "b", "key": "v=1 ", "flag": ""}
    assert encode_settings({"b": "2", "a": "1"}) == b"b=2\na=1\n"


@pytest.mark.clause("wire.body.properties-text")
@pytest.mark.parametrize(
    ("data", "position"),
    [(b"a=1\npath=C:\\x\n", 4), (b"=1", 0), (b"a:b=1", 0), (b"ok=1\na b=1", 5), (b"a=\xff", 2)],
)
def test_lines_that_java_would_read_otherwise_are_refused(data: bytes, position: int) -> None:
    with pytest.raises(Rejection) as refusal:
        decode_settings(data)
    assert (refusal.value.clause, refusal.value.position) == ("wire.body.properties-text", position)


@pytest.mark.clause("wire.body.properties-text")
@pytest.mark.parametrize(
    "settings",
    [{"a": "1\n2"}, {"#a": "1"}, {"a": " 1"}, {"a=b": "1"}, {"": "1"}, {"a": "\\"}, {"a": "\ud800"}],
)
def test_settings_that_would_not_be_read_back_are_not_written(settings: dict[str, str]) -> None:
    with pytest.raises(Rejection) as refusal:
        encode_settings(settings)
    assert refusal.value.clause == "wire.body.properties-text"


def outcome_of(data: bytes) -> object:
    try:
        return decode_settings(data)
    except Rejection as refusal:
        return refusal


@given(st.binary() | st.text("ab=#!: \t\r\n\\").map(str.encode))
def test_any_bytes_are_settings_or_refused(data: bytes) -> None:
    assert isinstance(outcome_of(data), dict | Rejection)
