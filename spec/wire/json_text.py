"""JSON text from strangers, read without surprises.

The standard scanner is fast and nearly right. What it lets through or leaves open is settled
here: depth (a header of opening brackets must not exhaust the stack), the words NaN and Infinity
(no JSON), integers of thousands of digits, and escapes that name half of a surrogate pair (no
text). Every refusal says at which byte. Finding that byte is slow and happens only on the way out.

What is read here whole is a header. Bodies have more liberties and a reader of their own
(`spec.wire.fastjson`), which shares the limit and the rule for escapes.
"""

import json
import re
from typing import Final, NoReturn

from spec.rejection import Rejection

DEPTH_LIMIT: Final = 64
"""How deep brackets may nest. A decision: a header needs 2, the deepest body of Apache 8, and no reader
may run out of stack."""

_SYNTAX: Final = "wire.json-header.syntax"
_SPACE: Final = " \t\n\r"
_MARK: Final = re.compile(r'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]|NaN|-?Infinity', re.DOTALL)
_COLON: Final = re.compile(r"[ \t\n\r]*:[ \t\n\r]*")
_ESCAPE: Final = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(\\u[dD][89a-fA-F][0-9a-fA-F]{2})|\\.",
    re.DOTALL,
)


class NumberText(str):
    """A JSON number as it was written, told from a JSON string by its type."""

    __slots__ = ()


class _ConstantFoundError(Exception):
    """NaN or Infinity stands where a value was expected."""


def _refuse_constant(_word: str) -> NoReturn:
    raise _ConstantFoundError


# Not strict: control characters may stand unescaped in strings, as fastjson allows.
_scan: Final = json.JSONDecoder(strict=False, parse_constant=_refuse_constant).raw_decode
_scan_exactly: Final = json.JSONDecoder(
    strict=False, parse_constant=_refuse_constant, parse_int=NumberText, parse_float=NumberText
).raw_decode


def byte_position(text: str, position: int) -> int:
    """How many UTF-8 bytes stand before the character at `position`."""
    return len(text[:position].encode())


def parse_json_object(data: bytes, *, replace_malformed: bool = False) -> tuple[str, dict[str, object]]:
    """The text of the bytes, and the members of the one object in it; the last of equal keys counts.

    Clauses: wire.json-header.object, wire.json-header.syntax, wire.json-header.depth
    """
    text = _decode_text(data, replace_malformed=replace_malformed)
    if "[" in text or text.count("{") > DEPTH_LIMIT:
        _check_depth(text)
    if "\\" in text and (half := find_half_pair(text)) is not None:
        raise _refusal(text, half, "wire.header.text", f"{text[half : half + 6]} is half of a pair")
    start = 0
    if not text.startswith("{"):
        start = len(text) - len(text.lstrip(_SPACE))
        if not text.startswith("{", start):
            raise _refusal(text, start, "wire.json-header.object", "expected a JSON object")
    try:
        value, end = _parse(text, start)
    except json.JSONDecodeError as error:
        raise _refusal(text, error.pos, _SYNTAX, error.msg) from None
    except _ConstantFoundError:
        raise _refusal(text, _find_constant(text), _SYNTAX, "NaN and Infinity are no JSON") from None
    rest = text[end:]
    if rest and (rest := rest.lstrip(_SPACE)):
        raise _refusal(text, len(text) - len(rest), _SYNTAX, "expected nothing after the object")
    return text, value


def _parse(text: str, start: int) -> tuple[dict[str, object], int]:
    value: dict[str, object]
    try:
        value, end = _scan(text, start)
    except json.JSONDecodeError:
        raise
    except ValueError:
        # The interpreter does not convert integers of thousands of digits; kept as text they are harmless.
        value, end = _scan_exactly(text, start)
    return value, end


def parse_json_exactly(text: str) -> dict[str, object]:
    """The members of an object already known to be well formed, numbers as the texts they were."""
    value: dict[str, object]
    value, _ = _scan_exactly(text, text.index("{"))
    return value


def _refusal(text: str, position: int, clause: str, reason: str) -> Rejection:
    return Rejection(clause, byte_position(text, position), f"header JSON: {reason}")


def _decode_text(data: bytes, *, replace_malformed: bool) -> str:
    """The text of the bytes.

    Clause: wire.header.text
    """
    try:
        return data.decode("utf-8", "replace" if replace_malformed else "strict")
    except UnicodeDecodeError as error:
        raise Rejection("wire.header.text", error.start, f"header is not UTF-8: {error.reason}") from None


def _check_depth(text: str) -> None:
    """Brackets nest no deeper than the limit.

    Clause: wire.json-header.depth
    """
    depth = 0
    for mark in _MARK.finditer(text):
        if mark[0] in "[{":
            depth += 1
            if depth > DEPTH_LIMIT:
                reason = f"brackets nest deeper than {DEPTH_LIMIT}"
                raise _refusal(text, mark.start(), "wire.json-header.depth", reason)
        elif mark[0] in "]}":
            depth -= 1


def find_half_pair(text: str) -> int | None:
    """Where an escape names half of a surrogate pair; None if every escape names a whole character.

    Clauses: wire.header.text, wire.fastjson.utf8
    """
    if "\\ud" not in text and "\\uD" not in text:
        return None
    return next((escape.start() for escape in _ESCAPE.finditer(text) if escape[1]), None)


def _find_constant(text: str) -> int:
    return next((mark.start() for mark in _MARK.finditer(text) if mark[0][0] in "NI-"), 0)


def find_member(text: str, path: tuple[str, ...]) -> int:
    """Where the value of the last member with this path starts, in a text known to be well formed."""
    depth, keys, found = 0, list[object](), 0
    for mark in _MARK.finditer(text):
        if mark[0] in "[{":
            depth += 1
        elif mark[0] in "]}":
            depth -= 1
        elif colon := _COLON.match(text, mark.end()):
            keys[depth - 1 :] = [_scan(mark[0])[0]]
            if depth == len(path) and tuple(keys) == path:
                found = colon.end()
    return found
