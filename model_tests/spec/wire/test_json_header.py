"""JSON headers: all that peers send is read, the rest is refused at its byte."""

import json
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.spec.wire.frame_strategy import JSON_HEADERS, TEXT
from model_tests.spec.wire.refusal import refusal_of
from spec.rejection import Rejection
from spec.wire.code import RequestCode
from spec.wire.json_header import decode_json_header, encode_json_header
from spec.wire.json_text import DEPTH_LIMIT
from spec.wire.language import Language
from spec.wire.remoting_header import Header

KEYS = ("code", "extFields", "flag", "language", "opaque", "remark", "version", "x")
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=5),
    max_leaves=12,
)


def _refusal(data: bytes) -> tuple[str, int] | None:
    return refusal_of(decode_json_header, data)


@pytest.mark.clause("wire.json-header.java-order", "wire.header.text")
@given(JSON_HEADERS)
def test_a_header_decodes_to_what_was_encoded(header: Header) -> None:
    assert decode_json_header(encode_json_header(header)) == header


@pytest.mark.clause("wire.json-header.java-order")
@given(JSON_HEADERS)
def test_a_header_is_standard_json_in_alphabetical_order_without_spaces(header: Header) -> None:
    data = encode_json_header(header)
    members: dict[str, object] = json.loads(data)
    assert list(members) == sorted(members)
    assert data == json.dumps(members, separators=(",", ":"), ensure_ascii=False).encode()
    assert ("remark" in members) == (header.remark is not None)
    assert ("extFields" in members) == (header.extension_fields is not None)


@given(JSON_VALUES)
def test_any_json_gives_a_header_or_a_rejection(value: object) -> None:
    data = json.dumps(value).encode()
    if refused := _refusal(data):
        assert 0 <= refused[1] <= len(data)
    else:
        header = decode_json_header(data)
        assert decode_json_header(encode_json_header(header)) == header


@given(st.text(st.sampled_from('{}[]":,\\ud8dc0eE-.NaInfity \n'), max_size=30))
def test_text_that_looks_like_json_gives_a_header_or_a_rejection(text: str) -> None:
    for form in ("{}", '{{"extFields":{}}}', '{{"extFields":{{"a":{}}}}}', '{{"{}":1}}'):
        data = form.format(text).encode()
        refused = _refusal(data)
        assert refused is None or 0 <= refused[1] <= len(data)


@pytest.mark.clause("wire.json-header.defaults", "wire.json-header.opaque-sent")
def test_absent_and_null_keys_have_their_defaults() -> None:
    assert decode_json_header(b"{}") == Header(0, Language.JAVA, 0, 0, 0, None, None)
    nulls = b'{"code":null,"extFields":null,"flag":null,"opaque":null,"remark":null,"version":null}'
    assert decode_json_header(nulls) == decode_json_header(b"{}")
    assert decode_json_header(b"{}", absent_opaque=41).opaque == 41
    assert decode_json_header(nulls, absent_opaque=41).opaque == 41
    assert decode_json_header(b'{"opaque":0}', absent_opaque=41).opaque == 0


@pytest.mark.clause("wire.json-header.unknown-key")
def test_unknown_keys_are_ignored_and_the_last_of_equal_keys_counts() -> None:
    data = b'{"code":1,"later":[{"code":5}],"serializeTypeCurrentRPC":"ROCKETMQ","code":2}'
    assert decode_json_header(data) == Header(2)


@pytest.mark.clause("wire.json-header.object")
@pytest.mark.parametrize("data", [b'{"code":5}\n', b' \r\n\t{"code":5} \n', b'{"code":5}'])
def test_white_space_around_the_object_is_allowed(data: bytes) -> None:
    assert decode_json_header(data) == Header(5)


@pytest.mark.clause("wire.json-header.object")
@pytest.mark.parametrize(
    ("data", "position"),
    [(b"", 0), (b"  ", 2), (b"[]", 0), (b" 5", 1), (b'"a"', 0), (b"null", 0), (b"\xef\xbb\xbf{}", 0)],
)
def test_a_header_that_is_not_an_object_is_refused(data: bytes, position: int) -> None:
    assert _refusal(data) == ("wire.json-header.object", position)


@pytest.mark.clause("wire.json-header.syntax")
@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b"{", 1),
        (b'{"code":}', 8),
        (b'{"code":1} x', 11),
        (b"{}{}", 2),
        ('{"remark":"ü"x}'.encode(), 14),
        (b'{"code":01}', 9),
        (b'{"remark":"NaN","code":NaN}', 23),
        (b'{"remark":"\\"NaN","x":[-Infinity]}', 23),
        (b'{"code":Infinity}', 8),
        (b'{"remark":"open', 10),
    ],
)
def test_what_is_not_json_is_refused_at_its_byte(data: bytes, position: int) -> None:
    assert _refusal(data) == ("wire.json-header.syntax", position)


@pytest.mark.clause("wire.json-header.depth")
@pytest.mark.parametrize("bracket", [b"[", b'{"a":'])
def test_depth_is_limited_whatever_the_stack(bracket: bytes) -> None:
    start = b'{"x":'
    for count in (DEPTH_LIMIT, 5_000, 200_000):
        data = start + bracket * count
        assert _refusal(data) == ("wire.json-header.depth", len(start) + (DEPTH_LIMIT - 1) * len(bracket))


@pytest.mark.clause("wire.json-header.depth")
def test_brackets_in_texts_and_side_by_side_do_not_count_as_depth() -> None:
    fields = {"a": "[{" * 500, "b": '\\"[' * 500}
    assert decode_json_header(encode_json_header(Header(1, extension_fields=fields))) == Header(
        1, extension_fields=fields
    )
    assert decode_json_header(b'{"x":[' + b"{}," * 500 + b"{}]}") == Header(0)
    deepest = b'{"x":' + b"[" * (DEPTH_LIMIT - 1) + b"]" * (DEPTH_LIMIT - 1) + b"}"
    assert decode_json_header(deepest) == Header(0)


@pytest.mark.clause("wire.json-header.integers")
@pytest.mark.parametrize("key", ["code", "flag", "opaque", "version"])
@pytest.mark.parametrize(
    "value",
    ["2147483648", "-2147483649", "1.0", "1e3", "true", '"7"', "[]", "{}", "9" * 5_000, "-" + "9" * 5_000],
)
def test_an_integer_that_is_none_or_too_wide_is_refused_where_it_stands(key: str, value: str) -> None:
    start = f'{{"remark":"\\"{key}\\":1","x":{{"{key}":1}},"{key}" : '
    assert _refusal(f"{start}{value}}}".encode()) == ("wire.json-header.integers", len(start))


@pytest.mark.clause("wire.json-header.integers")
def test_integers_of_32_bits_are_read_and_written_whole() -> None:
    header = Header(-(2**31), Language.GO, 2**31 - 1, -(2**31), 2**31 - 1)
    assert decode_json_header(encode_json_header(header)) == header
    for wide in (header._replace(code=2**31), header._replace(opaque=-(2**31) - 1)):
        with pytest.raises(Rejection, match="integers of 32 bits") as refused:
            encode_json_header(wide)
        assert refused.value.clause == "wire.json-header.integers"


def test_a_code_of_the_table_is_written_as_its_number() -> None:
    assert encode_json_header(Header(RequestCode.HEART_BEAT)) == encode_json_header(Header(34))


@pytest.mark.clause("wire.json-header.remark")
def test_a_remark_is_a_text() -> None:
    assert decode_json_header(b'{"remark":""}') == Header(0, remark="")
    assert _refusal(b'{"remark":5}') == ("wire.json-header.remark", 10)
    assert _refusal(b'{"remark":["a"]}') == ("wire.json-header.remark", 10)


@pytest.mark.clause("wire.json-header.language", "wire.header.unknown-language")
def test_a_language_is_a_name_or_a_number_and_need_not_be_known() -> None:
    def read(value: str) -> Language | None:
        return decode_json_header(b'{"language":' + value.encode() + b"}").language

    assert [read(f'"{language.name}"') for language in Language] == list(Language)
    assert [read(str(number)) for number in range(14)] == list(Language)
    assert [read(value) for value in ('"COBOL"', '""', "14", "-1", "2147483648", "null")] == [None] * 6
    for value in ("true", "[]", "{}", "1.5"):
        assert _refusal(b'{"language":' + value.encode() + b"}") == ("wire.json-header.language", 12)


def test_numbers_are_judged_alike_when_the_header_holds_an_enormous_one() -> None:
    enormous = "9" * (sys.get_int_max_str_digits() + 1)
    data = f'{{"code":7,"language":3,"opaque":-5,"extFields":{{"n":{enormous},"m":1}}}}'
    assert decode_json_header(data.encode()) == Header(
        7, Language.PYTHON, 0, -5, 0, None, {"n": enormous, "m": "1"}
    )
    wrong = f'{{"x":{enormous},"language":1.5}}'
    assert _refusal(wrong.encode()) == ("wire.json-header.language", len(wrong) - 4)


@pytest.mark.clause("wire.json-header.extension-coerced")
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("4", "4"),
        ("-12", "-12"),
        ("-0", "-0"),
        ("0", "0"),
        ("1794981540413", "1794981540413"),
        ("99999999999999999999", "99999999999999999999"),
        ("1.50", "1.50"),
        ("1E5", "1E5"),
        ("1e999", "1e999"),
        ("true", "true"),
        ("false", "false"),
        ('"x"', "x"),
    ],
)
def test_an_extension_value_is_coerced_to_the_text_that_was_sent(value: str, text: str) -> None:
    header = decode_json_header(f'{{"extFields":{{"a":{value},"b":"-0"}}}}'.encode())
    assert header.extension_fields == {"a": text, "b": "-0"}
    assert {type(found) for found in header.extension_fields.values()} == {str}


@pytest.mark.clause("wire.json-header.extension-coerced", "wire.json-header.extension-object")
def test_extension_fields_that_are_no_texts_are_refused_or_left_out() -> None:
    assert decode_json_header(b'{"extFields":{"a":null,"b":"1"}}').extension_fields == {"b": "1"}
    assert decode_json_header(b'{"extFields":{}}').extension_fields == {}
    assert _refusal(b'{"x":{"a":1},"extFields":{"b":1,"a":[]}}') == ("wire.json-header.extension-coerced", 36)
    assert _refusal(b'{"extFields":{"a":{"a":1.5}}}') == ("wire.json-header.extension-coerced", 18)
    for value in (b"[]", b'"a"', b"1", b"true"):
        assert _refusal(b'{"extFields":' + value + b"}") == ("wire.json-header.extension-object", 13)


@pytest.mark.clause("wire.header.text")
@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b'{"remark":"\xff"}', 11),
        (b'{"remark":"\xc3\xbc\\uD83D"}', 13),
        (b'{"remark":"\\\\ud83d\\ud83d\\ud83d\\ude00"}', 18),
        (b'{"remark":"\\ude00"}', 11),
        (b'{"extFields":{"\\ud800":"a"}}', 15),
        (b'{"remark":"\xed\xa0\x80"}', 11),
    ],
)
def test_text_that_is_not_unicode_is_refused_at_its_byte(data: bytes, position: int) -> None:
    assert _refusal(data) == ("wire.header.text", position)


@pytest.mark.clause("wire.header.text")
def test_pairs_of_surrogates_and_escaped_backslashes_are_text() -> None:
    data = b'{"remark":"\\ud83d\\ude00 \\\\ud800 \x01\\u0002"}'
    assert decode_json_header(data) == Header(0, remark="\U0001f600 \\ud800 \x01\x02")


@pytest.mark.clause("wire.header.text")
def test_malformed_bytes_are_replaced_where_java_does_and_surrogates_are_never_written() -> None:
    assert decode_json_header(b'{"remark":"\xff"}', replace_malformed=True).remark == "\ufffd"
    with pytest.raises(Rejection, match="surrogate") as refused:
        encode_json_header(Header(1, remark="\ud800"))
    assert refused.value.clause == "wire.header.text"
