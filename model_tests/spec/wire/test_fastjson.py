import json
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.rejection import Rejection
from spec.wire.fastjson import (
    DEPTH_LIMIT,
    JsonKey,
    JsonTree,
    JsonValue,
    ObjectKey,
    encode_fastjson,
    parse_fastjson,
)
from spec.wire.fastjson_reader import Reader

_TEXT = st.text(st.characters(codec="utf-8"), max_size=6)
_SCALAR = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _TEXT
_VALUE: st.SearchStrategy[JsonValue] = st.recursive(
    _SCALAR,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_TEXT, inner, max_size=3),
    max_leaves=12,
)
_MEMBERS = st.lists(st.tuples(_TEXT, _TEXT | st.integers()), max_size=3, unique_by=lambda member: member[0])
_KEY: st.SearchStrategy[JsonKey] = _TEXT | st.integers() | _MEMBERS.map(ObjectKey)
_TREE: st.SearchStrategy[JsonTree] = st.recursive(
    st.booleans() | st.integers() | _TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEY, inner, max_size=3),
    max_leaves=12,
)


def refusal_of(data: bytes) -> Rejection:
    with pytest.raises(Rejection) as refusal:
        parse_fastjson(data)
    return refusal.value


@pytest.mark.clause("wire.fastjson.dialect-keys")
@pytest.mark.parametrize(
    ("dialect", "standard"),
    [
        (b'{0:"a",-1:2}', b'{"0":"a","-1":2}'),
        (
            b'{"t":{{"brokerName":"b","queueId":0}:5}}',
            b'{"t":{"{\\"brokerName\\":\\"b\\",\\"queueId\\":0}":5}}',
        ),
        (b"[{1:{2:{3:[]}}},{ 4 : null }]", b'[{"1":{"2":{"3":[]}}},{"4":null}]'),
        (b"{{}:{}}", b'{"{}":{}}'),
        (b'{{{1:2}:"x"}:0}', b'{"{{1:2}:\\"x\\"}":0}'),
    ],
)
def test_bare_and_quoted_keys_give_the_same_value(dialect: bytes, standard: bytes) -> None:
    assert parse_fastjson(dialect) == parse_fastjson(standard) == json.loads(standard)


@pytest.mark.clause("wire.fastjson.dialect-keys")
@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b"{a:1}", 1),
        (b"{'a':1}", 1),
        (b"{01:1}", 2),
        (b"{1.5:1}", 2),
        (b"{[1]:1}", 1),
        (b"{1:1,}", 5),
        (b"{1 1}", 3),
        (b"[1 2]", 3),
        (b"{1:1", 4),
        (b"{", 1),
        (b'{"\xc3\xa4":1,b:2}', 8),
        (b"[1]]", 3),
        (b"{} //", 3),
    ],
)
def test_other_liberties_of_fastjson_are_refused_where_they_stand(data: bytes, position: int) -> None:
    refusal = refusal_of(data)
    assert (refusal.clause, refusal.position) == ("wire.fastjson.dialect-keys", position)


@pytest.mark.clause("wire.fastjson.standard-values")
@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b"", 0),
        (b"  ", 2),
        (b"NaN", 0),
        (b"[1,-Infinity]", 3),
        (b"{1:nope}", 3),
        (b'["\\x"]', 2),
        (b'["a', 1),
        (b'["a\nb"]', 3),
        (b"[1,]", 3),
        (b"[1e999]", 1),
        (b"[" + b"1" * 5000 + b"]", 1),
    ],
)
def test_values_that_are_not_json_are_refused_where_they_stand(data: bytes, position: int) -> None:
    refusal = refusal_of(data)
    assert (refusal.clause, refusal.position) == ("wire.fastjson.standard-values", position)


@pytest.mark.clause("wire.fastjson.utf8")
@pytest.mark.parametrize(
    ("data", "position"),
    [
        (b'["\xff"]', 2),
        (b'"\\ud800"', 1),
        (b'["\xc3\xa4","\\udc00\\ud800"]', 7),
        (b'"\\ud83d\\ud83d\\ude00"', 1),
        (b'{{"a":"\\uD800"}:1}', 7),
    ],
)
def test_bytes_that_are_not_text_are_refused_where_they_stand(data: bytes, position: int) -> None:
    refusal = refusal_of(data)
    assert (refusal.clause, refusal.position) == ("wire.fastjson.utf8", position)


@pytest.mark.clause("wire.fastjson.utf8")
def test_escaped_pairs_and_escaped_backslashes_are_text() -> None:
    assert parse_fastjson(b'["\\ud83d\\ude00","\\\\ud800","\\u0001"]') == ["\U0001f600", "\\ud800", "\x01"]


@pytest.mark.clause("wire.fastjson.depth")
@pytest.mark.parametrize(
    ("opening", "middle", "closing"),
    [(b"[", b"[]", b"]"), (b'{"a":', b"{}", b"}"), (b"{1:", b"{}", b"}"), (b"{", b"{}", b":1}")],
)
def test_nesting_is_read_up_to_the_limit_and_refused_beyond(
    opening: bytes, middle: bytes, closing: bytes
) -> None:
    fits = DEPTH_LIMIT - 1
    assert parse_fastjson(opening * fits + middle + closing * fits)
    for depth in (fits + 1, 100_000):
        refusal = refusal_of(opening * depth + middle + closing * depth)
        assert (refusal.clause, refusal.position) == ("wire.fastjson.depth", len(opening) * DEPTH_LIMIT)


@pytest.mark.clause("wire.fastjson.depth")
def test_brackets_in_texts_neither_count_nor_hide_depth() -> None:
    flat = b'["' + b"[{" * 1000 + b'",' + b",".join([b'"\\"]"'] * 200) + b"]"
    assert parse_fastjson(flat) == json.loads(flat)
    hidden = b'["]",' * 2000 + b"1" + b',"["]' * 2000
    assert refusal_of(hidden).clause == "wire.fastjson.depth"


@pytest.mark.clause("wire.fastjson.depth")
def test_wide_values_with_many_brackets_are_read() -> None:
    wide = b"[" + b",".join([b'{"a":[{}]}'] * 500) + b"]"
    assert parse_fastjson(wide) == json.loads(wide)


@pytest.mark.parametrize(
    "evil",
    [
        b"[" * 65 + b'"' + b'\\"' * 300_000,
        b"[" * 65 + b'"a' * 300_000,
        b"[{}," * 200_000,
        b"{1:" * 60 + b'"' + b'\\"' * 300_000,
        b"{{" * 30 + b" " * 600_000,
    ],
)
def test_hostile_texts_are_refused_in_linear_time(evil: bytes) -> None:
    start = perf_counter()
    refusal_of(evil)
    assert perf_counter() - start < 2


@given(_VALUE)
def test_both_readers_agree_with_the_standard_on_standard_json(value: JsonValue) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert parse_fastjson(text.encode()) == value
    assert Reader(text).read_document() == value


@pytest.mark.clause("wire.fastjson.writes-both-forms")
@given(_TREE, st.booleans())
def test_both_forms_of_a_tree_are_read_as_the_same_value(tree: JsonTree, is_pretty: bool) -> None:  # noqa: FBT001 - given
    standard = encode_fastjson(tree, is_pretty=is_pretty)
    assert parse_fastjson(standard) == json.loads(standard)
    # A pretty object key spreads over lines, so only its parsed form is comparable.
    assert parse_fastjson(encode_fastjson(tree, is_dialect=True)) == parse_fastjson(encode_fastjson(tree))
    assert parse_fastjson(encode_fastjson(tree, is_dialect=True, is_pretty=True)) is not None


@pytest.mark.clause("wire.fastjson.writes-both-forms")
def test_pretty_form_breaks_lines_where_fastjson_does() -> None:
    tree: JsonTree = {
        "offsetTable": {"T@G": {0: 5, 1: 0}, "U@G": {}},
        "list": ["a", {"b": 1}],
        "one": [1],
        "none": [],
    }
    assert encode_fastjson(tree, is_dialect=True, is_pretty=True) == (
        b'{\n\t"offsetTable":{\n\t\t"T@G":{0:5,1:0\n\t\t},\n\t\t"U@G":{}\n\t},\n'
        b'\t"list":[\n\t\t"a",\n\t\t{\n\t\t\t"b":1\n\t\t}\n\t],\n\t"one":[1],\n\t"none":[]\n}'
    )


@pytest.mark.clause("wire.fastjson.writes-both-forms")
def test_object_keys_are_bare_in_the_dialect_and_texts_in_standard_json() -> None:
    queue = ObjectKey((("brokerName", "b"), ("queueId", 1), ("topic", "T")))
    tree: JsonTree = {"offsetTable": {queue: 5}}
    assert (
        encode_fastjson(tree)
        == b'{"offsetTable":{"{\\"brokerName\\":\\"b\\",\\"queueId\\":1,\\"topic\\":\\"T\\"}":5}}'
    )
    assert (
        encode_fastjson(tree, is_dialect=True)
        == b'{"offsetTable":{{"brokerName":"b","queueId":1,"topic":"T"}:5}}'
    )
    assert encode_fastjson(tree, is_dialect=True, is_pretty=True) == (
        b'{\n\t"offsetTable":{{\n\t\t\t"brokerName":"b",\n\t\t\t"queueId":1,\n\t\t\t"topic":"T"\n\t\t}:5\n\t}\n}'
    )


@pytest.mark.clause("wire.fastjson.nulls-omitted")
def test_null_members_are_left_out_in_every_form() -> None:
    tree: JsonTree = {"a": None, "b": {1: None, 2: 3}}
    assert encode_fastjson(tree) == b'{"b":{"2":3}}'
    assert encode_fastjson(tree, is_dialect=True) == b'{"b":{2:3}}'
    assert encode_fastjson(tree, is_pretty=True) == b'{\n\t"b":{\n\t\t"2":3\n\t}\n}'


@pytest.mark.clause("wire.fastjson.utf8")
def test_half_a_character_is_not_written() -> None:
    with pytest.raises(Rejection) as refusal:
        encode_fastjson(["\ud800"])
    assert refusal.value.clause == "wire.fastjson.utf8"


def outcome_of(data: bytes) -> "JsonValue | Rejection":
    try:
        return parse_fastjson(data)
    except Rejection as refusal:
        return refusal


@given(st.binary() | st.text(alphabet='{}[]":,0123456789-.eE\\un tralsf', max_size=40).map(str.encode))
def test_any_bytes_are_a_value_that_can_be_written_or_refused(data: bytes) -> None:
    outcome = outcome_of(data)
    if isinstance(outcome, Rejection):
        assert outcome.clause.startswith("wire.fastjson.")
        assert 0 <= outcome.position <= len(data)
    else:
        assert encode_fastjson(outcome)


@pytest.mark.clause("wire.fastjson.standard-values")
@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_lacks_are_not_written(number: float) -> None:
    for is_dialect in (False, True):
        with pytest.raises(Rejection) as refusal:
            encode_fastjson([number], is_dialect=is_dialect)
        assert refusal.value.clause == "wire.fastjson.standard-values"
