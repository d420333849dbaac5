"""Single values of a body: numbers, booleans, texts, enums.

What Java writes is exact. What other clients write in its place, and fastjson forgives, is read
as well: decimal texts for integers, texts and 0 or 1 for booleans, the ordinal for an enum.

Clauses: wire.body.forgiven-scalars, wire.body.enum-name-or-ordinal
"""

from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final, NamedTuple

from spec.group.consumption import ConsumeType, MessageModel
from spec.rejection import Rejection
from spec.values.java_literal import Long, decode_boolean, decode_int64, encode_boolean, is_int32, is_int64
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset, TagCode
from spec.wire.fastjson import JsonTree, JsonValue
from spec.wire.language import Language, derive_language_by_name, derive_language_by_number


class Conversion(NamedTuple):
    """From JSON to a value, and to JSON."""

    decode: Callable[[JsonValue], object]
    encode: Callable[[object], JsonTree]


def refuse(expected: str, value: JsonValue) -> Rejection:
    """The refusal of a value that is not what the field holds."""
    found = repr(value) if isinstance(value, bool | int | float | str) else type(value).__name__
    return Rejection("wire.body.field-type", 0, f"expected {expected}, found {found[:40]}")


def _decode_text(value: JsonValue) -> str:
    match value:
        case str():
            return value
        case bool():
            return encode_boolean(value)
        case int() if is_int64(value):
            return str(value)
        case _:
            raise refuse("a text", value)


def _decode_flag(value: JsonValue) -> bool:
    match value:
        case bool():
            return value
        case int():
            return value == 1
        case str():
            return decode_boolean(value)
        case _:
            raise refuse("a boolean", value)


def _decode_long(value: JsonValue) -> int:
    """The integer, also from its decimal text, if it fits 64 bits."""
    number = value
    if isinstance(value, str):
        try:
            number = decode_int64(value)
        except Rejection:
            raise refuse("an integer", value) from None
    if isinstance(number, bool) or not isinstance(number, int) or not is_int64(number):
        raise refuse("an integer of 64 bits", value)
    return number


def _decode_integer(value: JsonValue) -> int:
    number = _decode_long(value)
    if not is_int32(number):
        raise refuse("an integer of 32 bits", value)
    return number


def _decode_double(value: JsonValue) -> float:
    match value:
        case bool():
            raise refuse("a number", value)
        case float():
            return value
        case int() if is_int64(value):
            return float(value)
        case _:
            raise refuse("a number", value)


def _decode_language(value: JsonValue) -> Language | None:
    """The language, or None for one that nobody knows: no reason to refuse a list of connections."""
    return (
        derive_language_by_name(value)
        if isinstance(value, str)
        else derive_language_by_number(_decode_integer(value))
    )


def _encode_plain(value: object) -> JsonTree:
    if not isinstance(value, str | int | float):
        raise TypeError(f"{type(value).__name__} is not a JSON value")
    return value


def _encode_name(value: object) -> JsonTree:
    return value.name if isinstance(value, Enum) else None


_INTEGER: Final = Conversion(_decode_integer, _encode_plain)
_LONG: Final = Conversion(_decode_long, _encode_plain)

SCALARS: Final[Mapping[object, Conversion]] = {
    str: Conversion(_decode_text, _encode_plain),
    bool: Conversion(_decode_flag, _encode_plain),
    float: Conversion(_decode_double, _encode_plain),
    int: _INTEGER,
    QueueId: _INTEGER,
    Long: _LONG,
    QueueOffset: _LONG,
    CommitLogPosition: _LONG,
    Milliseconds: _LONG,
    TagCode: _LONG,
    Language: Conversion(_decode_language, _encode_name),
}

_JAVA_ORDER: Final[Mapping[type[Enum], tuple[Enum, ...]]] = {
    ConsumeType: (ConsumeType.PULL, ConsumeType.PUSH),
    MessageModel: (MessageModel.BROADCASTING, MessageModel.CLUSTERING),
}
"""Where Java lists the members in another order than we do."""


def derive_enum_conversion(members: type[Enum]) -> Conversion:
    """By wire name, which is the member's value; read by its place in Java's list as well.

    Clause: wire.body.enum-name-or-ordinal
    """
    by_ordinal = _JAVA_ORDER.get(members, tuple(members))
    by_name: dict[object, Enum] = {member.value: member for member in members}

    def decode(value: JsonValue) -> Enum:
        if isinstance(value, str) and value in by_name:
            return by_name[value]
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(by_ordinal):
            return by_ordinal[value]
        raise refuse(f"one of {', '.join(map(str, by_name))}, or its number", value)

    def encode(value: object) -> JsonTree:
        return str(value.value) if isinstance(value, members) else None

    return Conversion(decode, encode)
