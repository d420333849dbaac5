"""JSON as Apache's brokers speak it.

Bodies and config files are the output of fastjson 1.2 with default features. It is JSON with
one liberty: a map key that is not a text is written as what it is, so `{0:"addr"}` and
`{{"brokerName":"b","queueId":1,"topic":"T"}:5}` travel between Java processes every day. A
standard parser fails on both. Java in turn reads the standard spelling as well: the integer in
quotes, the key object as a text that holds its JSON.

So the reader takes both spellings and gives one result: in a JsonValue every key is a text. An
integer key is its decimal text, an object key is its JSON text, exactly what the quoted
spelling holds. Whoever knows that a table is keyed by queue reads that text once more. Nothing
else that fastjson would forgive (bare words, single quotes, comments, NaN) is accepted: no
peer was ever seen to send it.

The standard form is read by the C-accelerated parser of the standard library. Only when that
fails does the slow reader walk the text: to accept the dialect, or to say where it is wrong.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Final, TypeAlias, cast

from spec.rejection import Rejection
from spec.wire.fastjson_reader import DECODER, JsonValue, Reader
from spec.wire.json_text import DEPTH_LIMIT, byte_position, find_half_pair

__all__ = (
    "DEPTH_LIMIT",
    "JsonKey",
    "JsonTree",
    "JsonValue",
    "ObjectKey",
    "derive_key_text",
    "encode_fastjson",
    "parse_fastjson",
)

JsonKey: TypeAlias = "str | int | ObjectKey"
"""A map key before it is spelled."""

JsonTree: TypeAlias = "bool | int | float | str | Sequence[JsonTree] | Mapping[JsonKey, JsonTree] | None"
"""What a body is made of before it is spelled."""

# Possessive, and content with a missing end: one pass, whatever the input.
_TEXT: Final = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_NOT_BRACKETS: Final = bytes(set(range(256)) - set(b"{}[]"))


class ObjectKey(tuple[tuple[str, str | int], ...]):
    """A map key that is an object: its members, in the order in which they are written."""

    __slots__ = ()


def parse_fastjson(data: bytes) -> JsonValue:
    """The value that the bytes spell in standard JSON or in the dialect.

    Clauses: wire.fastjson.dialect-keys, wire.fastjson.utf8, wire.fastjson.depth
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Rejection("wire.fastjson.utf8", error.start, f"not UTF-8: {error.reason}") from None
    if "\\u" in text and (half := find_half_pair(text)) is not None:
        reason = f"{text[half : half + 6]} is half of a pair"
        raise Rejection("wire.fastjson.utf8", byte_position(text, half), reason)
    if _is_shallow(data):
        try:
            value: JsonValue = DECODER.decode(text)
        except ValueError:
            pass  # the dialect, or an error whose place the slow reader will find
        else:
            return value
    return Reader(text).read_document()


def _is_shallow(data: bytes) -> bool:
    """Whether the nesting is within the limit, so that a recursive parser is safe.

    Most bodies have too few brackets to be deep. Otherwise texts are cut out and the innermost
    pairs are peeled off, a level a round: all of it in C, and linear for a limited depth.
    """
    if data.count(b"{") + data.count(b"[") <= DEPTH_LIMIT:
        return True
    brackets = _TEXT.sub(b"", data).translate(None, _NOT_BRACKETS)
    for _ in range(DEPTH_LIMIT):
        peeled = brackets.replace(b"{}", b"").replace(b"[]", b"")
        if len(peeled) in {0, len(brackets)}:
            return not peeled
        brackets = peeled
    return False


def encode_fastjson(
    tree: "JsonTree | JsonValue", *, is_dialect: bool = False, is_pretty: bool = False
) -> bytes:
    """The tree as JSON without spaces; with tabs and line ends, as in config files, when pretty.

    Keys that are not texts are quoted, or written bare in the dialect. Members that are null
    are left out. Members stand in the order of the tree: alphabetical in Apache's beans, any in
    its maps.

    Clauses: wire.fastjson.writes-both-forms, wire.fastjson.nulls-omitted, wire.fastjson.standard-values
    """
    # What was read is a tree whose keys are all texts; only the type of a Mapping does not say so.
    shaped = cast("JsonTree", tree)
    parts: list[str] = []
    try:
        if is_dialect or is_pretty:
            _write(shaped, 0, parts, is_dialect=is_dialect, is_pretty=is_pretty)
        else:
            parts.append(_dump(_quote_keys(shaped)))
        return "".join(parts).encode()
    except UnicodeEncodeError as error:
        raise Rejection("wire.fastjson.utf8", error.start, "half of a character has no UTF-8") from None
    except ValueError:
        raise Rejection("wire.fastjson.standard-values", 0, "NaN and Infinity are no JSON") from None


def _dump(value: JsonValue) -> str:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def derive_key_text(key: JsonKey) -> str:
    """The key as a text: what stands between the quotes of the standard form."""
    match key:
        case str():
            return key
        case int():
            return str(key)
        case ObjectKey():
            return _dump(dict(key))


def _quote_keys(tree: JsonTree) -> JsonValue:
    match tree:
        case None | bool() | int() | float() | str():
            return tree
        case Mapping():
            return {derive_key_text(k): _quote_keys(v) for k, v in tree.items() if v is not None}
        case Sequence():
            return [_quote_keys(item) for item in tree]


def _write(tree: JsonTree, level: int, parts: list[str], *, is_dialect: bool, is_pretty: bool) -> None:
    match tree:
        case None | bool() | int() | float() | str():
            parts.append(_dump(tree))
        case Mapping():
            _write_object(tree, level, parts, is_dialect=is_dialect, is_pretty=is_pretty)
        case Sequence():
            parts.append("[")
            is_spread = is_pretty and len(tree) > 1
            for index, item in enumerate(tree):
                parts.append("," if index else "")
                parts.append(_line(level + 1) if is_spread else "")
                _write(item, level + is_spread, parts, is_dialect=is_dialect, is_pretty=is_pretty)
            parts.append(_line(level) + "]" if is_spread else "]")


def _write_object(
    members: Mapping[JsonKey, JsonTree], level: int, parts: list[str], *, is_dialect: bool, is_pretty: bool
) -> None:
    """Write the members; fastjson starts a new line before a text key, and not before another key."""
    shown = [(key, value) for key, value in members.items() if value is not None]
    parts.append("{")
    for index, (key, value) in enumerate(shown):
        is_bare = is_dialect and not isinstance(key, str)
        parts.append("," if index else "")
        parts.append(_line(level + 1) if is_pretty and not is_bare else "")
        if is_bare and isinstance(key, ObjectKey):
            _write_object(dict(key), level + 1, parts, is_dialect=True, is_pretty=is_pretty)
        else:
            text = derive_key_text(key)
            parts.append(text if is_bare else _dump(text))
        parts.append(":")
        _write(value, level + 1, parts, is_dialect=is_dialect, is_pretty=is_pretty)
    parts.append(_line(level) + "}" if is_pretty and shown else "}")


def _line(level: int) -> str:
    return "\n" + "\t" * level
