import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.config.yaml_text import DEPTH_LIMIT, YamlNode, encode_yaml, parse_yaml
from spec.rejection import Rejection


@pytest.mark.clause("broker.access.account-file")
@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("", None),
        ("# nothing\n\n---\n", None),
        ("---\na: 1\n", {"a": "1"}),
        ("a: 1 # one\nb: x#y\nc: 'x # y'", {"a": "1", "b": "x#y", "c": "x # y"}),
        ("a: 'it''s'\nb: \"say \\\"x\\\" \\\\\"", {"a": "it's", "b": 'say "x" \\'}),
        ("'a b': 1\n\"c\": 2", {"a b": "1", "c": "2"}),
        ("a:\nb: ~\nc: null\nd: ''", {"a": None, "b": None, "c": None, "d": ""}),
        ("a:\n- 1\n- 2\nb: 3", {"a": ["1", "2"], "b": "3"}),
        ("a:\n  - 1\n  -   2\nb: 3", {"a": ["1", "2"], "b": "3"}),
        ("a: [1, 'x', y z]\nb: []\nc: {}", {"a": ["1", "x", "y z"], "b": [], "c": {}}),
        ("a:\n  b:\n    c: 1\n  d: 2", {"a": {"b": {"c": "1"}, "d": "2"}}),
        ("- a: 1\n  b: 2\n- a: 3\n", [{"a": "1", "b": "2"}, {"a": "3"}]),
        ("-\n  a: 1\n-\n- x", [{"a": "1"}, None, "x"]),
        ("- - 1\n  - 2\n- 3", [["1", "2"], "3"]),
        ("a:\n- b: 1\n  c:\n  - x=PUB|SUB\n  d: 2\n", {"a": [{"b": "1", "c": ["x=PUB|SUB"], "d": "2"}]}),
        ("a: 10.0.0.*\nb: 10.0.0.{1,2}\nc: a:b", {"a": "10.0.0.*", "b": "10.0.0.{1,2}", "c": "a:b"}),
        ("a: 1\r\nb: 2\r\n", {"a": "1", "b": "2"}),
    ],
)
def test_what_account_files_use_is_read(text: str, tree: YamlNode) -> None:
    assert parse_yaml(text) == tree


@pytest.mark.clause("broker.access.account-file")
@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("a: 1\n\tb: 2", 2, "spaces, not tabs, before the text"),
        ("a: 1\njust a text", 2, "`key: value`"),
        ("a: 1\na: 2", 2, "a key that does not stand twice"),
        ("a: 1\n  b: 2", 2, "the indentation of the lines before"),
        ("a:\n    b: 1\n  c: 2", 3, "the indentation of the lines before"),
        ("- a\n b", 2, "the indentation of the lines before"),
        ("  a: 1\nb: 2", 2, "the indentation of the lines before, or the end of the file"),
        ("- a\nb: 1", 2, "the indentation of the lines before, or the end of the file"),
        ("a: |\n  x", 1, "a plain text, or one in quotes"),
        ("a: &x 1", 1, "a plain text, or one in quotes"),
        ("a: *x", 1, "a plain text, or one in quotes"),
        ("a: 'x", 1, "a plain text, or one in quotes"),
        ('a: "x\\n"', 1, "a plain text, or one in quotes"),
        ("a: b: c", 1, "a plain text, or one in quotes"),
        ("a: [1, 2", 1, "a list in brackets that is closed on the same line"),
        ("a: [[1]]", 1, "a plain text, or one in quotes"),
        ("a: {b: 1}", 1, "a plain text, or one in quotes"),
        ("- " * 20 + "x", 1, f"no more than {DEPTH_LIMIT} levels of nesting"),
    ],
)
def test_everything_else_is_refused_with_the_line_and_without_its_text(
    text: str, line: int, expected: str
) -> None:
    with pytest.raises(Rejection) as refused:
        parse_yaml(text)
    reason = f"line {line}: expected {expected}"
    assert refused.value == Rejection("broker.access.account-file", line, reason)


TEXTS = st.text(alphabet="ab:#-'\"\\ []{}*&|,=~1.null\u00e9\u4e2d", max_size=8)
TREES: st.SearchStrategy[YamlNode] = st.recursive(
    st.one_of(st.none(), TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=8,
)


@pytest.mark.clause("broker.access.account-file")
@given(TREES)
def test_every_tree_is_read_back_from_its_text(tree: YamlNode) -> None:
    assert parse_yaml(encode_yaml({"root": tree})) == {"root": tree}


def test_integers_are_written_plain_and_texts_that_look_like_them_in_quotes() -> None:
    assert encode_yaml({"a": 1, "b": "1", "c": "null"}) == "a: 1\nb: '1'\nc: 'null'\n"


def test_a_text_that_does_not_fit_on_a_line_is_refused_without_being_shown() -> None:
    with pytest.raises(Rejection) as refused:
        encode_yaml({"a": "hush\nhush"})
    assert refused.value == Rejection("broker.access.account-file", 0, "a text that cannot stand on one line")


@given(st.text(alphabet="ab:#-'\"\\ \n\t[]{}*,", max_size=40))
def test_any_text_is_a_tree_or_refused(text: str) -> None:
    try:
        tree: object = parse_yaml(text)
    except Rejection as refusal:
        tree = refusal
    if isinstance(tree, Rejection):
        assert tree.clause == "broker.access.account-file"
    else:
        assert tree is None or isinstance(tree, list | dict)
