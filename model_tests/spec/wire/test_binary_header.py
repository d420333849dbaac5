"""Binary headers: lengths are checked before they are believed, nulls are as each release has them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.wire.frame_strategy import BINARY_HEADERS
from model_tests.spec.wire.refusal import refusal_of
from spec.rejection import Rejection
from spec.wire.binary_header import FIXED_LENGTH, decode_binary_header, encode_binary_header
from spec.wire.language import Language
from spec.wire.remoting_header import Header

START = "0069 00 018f 00000007 00000000 "


def _refusal(digits: str) -> tuple[str, int] | None:
    return refusal_of(decode_binary_header, bytes.fromhex(digits))


@pytest.mark.clause("wire.binary-header.layout", "wire.binary-header.fields")
@given(BINARY_HEADERS)
def test_a_header_decodes_to_what_was_encoded(header: Header) -> None:
    assert decode_binary_header(encode_binary_header(header)) == header


@given(BINARY_HEADERS, st.data())
def test_a_changed_header_gives_a_header_or_a_rejection(header: Header, data: st.DataObject) -> None:
    content = bytearray(encode_binary_header(header))
    content[data.draw(st.integers(13, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)))
    for changed in (bytes(content), bytes(content[:end])):
        if refused := refusal_of(decode_binary_header, changed):
            assert 0 <= refused[1] <= len(changed)


@pytest.mark.clause("wire.binary-header.exact-length", "wire.binary-header.lengths")
@given(BINARY_HEADERS, st.data())
def test_no_shorter_or_longer_bytes_are_the_same_header(header: Header, data: st.DataObject) -> None:
    content = encode_binary_header(header)
    end = data.draw(st.integers(0, len(content) - 1))
    assert refusal_of(decode_binary_header, content[:end]) is not None
    assert refusal_of(decode_binary_header, content + b"\0") == (
        "wire.binary-header.exact-length",
        len(content),
    )


@pytest.mark.clause("wire.binary-header.layout")
def test_the_fixed_part_takes_21_bytes() -> None:
    header = Header(-2, Language.GO, -3, 2**31 - 1, 3)
    data = encode_binary_header(header)
    assert data == bytes.fromhex("fffe 09 fffd 7fffffff 00000003 00000000 00000000")
    assert len(data) == FIXED_LENGTH
    assert decode_binary_header(data) == header
    assert refusal_of(decode_binary_header, data[:20]) == ("wire.binary-header.layout", 20)
    assert refusal_of(decode_binary_header, b"") == ("wire.binary-header.layout", 0)


@pytest.mark.clause("wire.binary-header.lengths")
@pytest.mark.parametrize(
    ("rest", "position"),
    [
        ("7fffffff 00000000", 17),
        ("ffffffff 00000000", 17),
        ("00000001 00000000", 17),
        ("00000000 00000001", 21),
        ("00000000 ffffffff", 21),
        ("00000000 7fffffff 00", 21),
        ("00000000 00000001 00", 21),
        ("00000000 00000002 0000", 23),
        ("00000000 00000003 000161", 23),
        ("00000000 00000006 ffff 00000000", 23),
        ("00000000 00000007 0001 61 00000001", 28),
        ("00000000 00000007 0001 61 ffffffff", 28),
        ("00000000 00000007 7fff 61 00000000", 23),
    ],
)
def test_a_length_that_does_not_fit_is_refused_where_its_part_would_start(rest: str, position: int) -> None:
    assert _refusal(START + rest) == ("wire.binary-header.lengths", position)


@pytest.mark.clause("wire.binary-header.zero-is-null")
def test_empty_remark_and_empty_table_arrive_as_none() -> None:
    assert decode_binary_header(encode_binary_header(Header(1, remark="", extension_fields={}))) == Header(1)


@pytest.mark.clause("wire.binary-header.empty-text")
def test_empty_texts_in_the_table_are_kept_or_left_out_by_release() -> None:
    header = Header(1, extension_fields={"": "a", "b": "", "c": "d"})
    data = encode_binary_header(header)
    assert decode_binary_header(data) == header
    assert decode_binary_header(data, empty_is_null=True) == Header(1, extension_fields={"c": "d"})


@pytest.mark.clause("wire.binary-header.fields")
def test_the_last_of_equal_keys_counts() -> None:
    data = bytes.fromhex(START + "00000000 00000010 0001 61 00000001 31 0001 61 00000001 32")
    assert decode_binary_header(data).extension_fields == {"a": "2"}


@pytest.mark.clause("wire.binary-header.fields", "wire.binary-header.code-16-bits", "wire.header.text")
@pytest.mark.parametrize(
    ("header", "clause"),
    [
        (Header(32768), "wire.binary-header.code-16-bits"),
        (Header(-32769), "wire.binary-header.code-16-bits"),
        (Header(1, version=200_050), "wire.binary-header.code-16-bits"),
        (Header(1, opaque=2**31), "wire.binary-header.layout"),
        (Header(1, flag=-(2**31) - 1), "wire.binary-header.layout"),
        (Header(1, extension_fields={"k" * 32_768: ""}), "wire.binary-header.fields"),
        (Header(1, extension_fields={"\ud800": ""}), "wire.header.text"),
        (Header(1, extension_fields={"k": "\ud800"}), "wire.header.text"),
        (Header(1, remark="\ud800"), "wire.header.text"),
    ],
)
def test_what_the_format_cannot_say_is_refused(header: Header, clause: str) -> None:
    with pytest.raises(Rejection) as refused:
        encode_binary_header(header)
    assert refused.value.clause == clause


def test_the_longest_key_is_written_and_read() -> None:
    header = Header(32767, extension_fields={"k" * 32_767: "v"})
    assert decode_binary_header(encode_binary_header(header)) == header


@pytest.mark.clause("wire.header.unknown-language")
def test_an_unknown_language_byte_decodes_to_none_and_is_written_as_such() -> None:
    data = bytes.fromhex("0069 0e 018f 00000007 00000000 00000000 00000000")
    header = decode_binary_header(data)
    assert header == Header(105, None, 399, 7)
    assert decode_binary_header(encode_binary_header(header)) == header


@pytest.mark.clause("wire.header.text")
def test_text_that_is_not_utf8_is_refused_at_its_byte_or_replaced_like_java() -> None:
    remark = START + "00000002 61ff 00000000"
    key = START + "00000000 00000008 0001 ff 00000001 31"
    value = START + "00000000 00000009 0001 61 00000002 31ff"
    found = [_refusal(digits) for digits in (remark, key, value)]
    assert found == [("wire.header.text", position) for position in (18, 23, 29)]
    assert decode_binary_header(bytes.fromhex(remark), replace_malformed=True).remark == "a\ufffd"
    assert decode_binary_header(bytes.fromhex(value), replace_malformed=True).extension_fields == {
        "a": "1\ufffd"
    }
