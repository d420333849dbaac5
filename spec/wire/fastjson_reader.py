"""The slow reader of fastjson's dialect: character by character, with a place for every error.

It accepts what `spec.wire.fastjson` promises and nothing more. Texts, numbers and words are left
to the scanner of the standard library; objects and arrays, whose keys are the dialect, are read
here by a recursive descent that a depth limit keeps short.
"""

import json
import math
import re
from typing import Final, NoReturn, TypeAlias

from spec.rejection import Rejection
from spec.wire.json_text import DEPTH_LIMIT, byte_position

JsonValue: TypeAlias = "bool | int | float | str | list[JsonValue] | dict[str, JsonValue] | None"
"""What a body may hold once it is read."""

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_INTEGER_KEY: Final = re.compile(r"-?(?:0|[1-9][0-9]*)")


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _parse_finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large for a double")
    return number


DECODER: Final = json.JSONDecoder(parse_constant=_refuse_constant, parse_float=_parse_finite)


class Reader:
    """A recursive descent over one text; the depth limit keeps the descent short."""

    __slots__ = ("_position", "_text")

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0

    def read_document(self) -> JsonValue:
        """The only value of the text."""
        value = self._read_value(0)
        if self._peek():
            self._refuse("wire.fastjson.dialect-keys", "expected the end of the text")
        return value

    def _refuse(self, clause: str, reason: str, position: int | None = None) -> NoReturn:
        at = self._position if position is None else position
        raise Rejection(clause, byte_position(self._text, at), reason) from None

    def _peek(self) -> str:
        """The next character that is not white space, or an empty text at the end."""
        match = _SPACE.match(self._text, self._position)
        if match is not None:
            self._position = match.end()
        return self._text[self._position : self._position + 1]

    def _take(self, expected: str) -> str:
        """The next character, which must be one of the expected."""
        found = self._peek()
        if not found or found not in expected:
            wanted = " or ".join(f"'{character}'" for character in expected)
            self._refuse("wire.fastjson.dialect-keys", f"expected {wanted}, found {found!r}")
        self._position += 1
        return found

    def _read_value(self, depth: int) -> JsonValue:
        match self._peek():
            case "{":
                return self._read_object(self._deeper(depth))
            case "[":
                return self._read_array(self._deeper(depth))
            case _:
                return self._read_scalar()

    def _deeper(self, depth: int) -> int:
        if depth >= DEPTH_LIMIT:
            self._refuse("wire.fastjson.depth", f"nested deeper than {DEPTH_LIMIT} levels")
        return depth + 1

    def _read_object(self, depth: int) -> dict[str, JsonValue]:
        members: dict[str, JsonValue] = {}
        self._take("{")
        if self._peek() == "}":
            self._position += 1
            return members
        while True:
            key = self._read_key(depth)
            self._take(":")
            members[key] = self._read_value(depth)
            if self._take(",}") == "}":
                return members

    def _read_array(self, depth: int) -> list[JsonValue]:
        items: list[JsonValue] = []
        self._take("[")
        if self._peek() == "]":
            self._position += 1
            return items
        while True:
            items.append(self._read_value(depth))
            if self._take(",]") == "]":
                return items

    def _read_key(self, depth: int) -> str:
        """The key as a text, whether it was quoted, an integer or an object.

        Clause: wire.fastjson.dialect-keys
        """
        first = self._peek()
        start = self._position
        if first == "{":
            self._read_object(self._deeper(depth))
            return self._text[start : self._position]
        if first == '"':
            return str(self._read_scalar())
        integer = _INTEGER_KEY.match(self._text, start)
        if integer is None:
            self._refuse(
                "wire.fastjson.dialect-keys", f"a key is a text, an integer or an object, not {first!r}"
            )
        self._position = integer.end()
        return integer[0]

    def _read_scalar(self) -> JsonValue:
        try:
            value: JsonValue
            value, self._position = DECODER.raw_decode(self._text, self._position)
        except json.JSONDecodeError as error:
            self._refuse("wire.fastjson.standard-values", error.msg, error.pos)
        except ValueError as error:
            self._refuse("wire.fastjson.standard-values", str(error).partition(";")[0])
        return value
