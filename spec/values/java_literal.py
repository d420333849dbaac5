"""Numbers and booleans as Java reads them from a text.

Header fields and properties travel as texts, and some clients put texts where a body wants a
number. What such a text means is settled by Java: an integer is decimal digits behind an optional
sign, and must fit 32 or 64 bits; a boolean is true when it is the word `true` in any case, and
false whatever else it is, the digit 1 included. Python is more generous with integers (spaces,
underscores), so the form is checked here before it is converted. Digits of other scripts, which
Java takes, are refused: no client was seen to send them.
"""

import re
from typing import Annotated, Final, TypeAlias

from spec.rejection import Rejection

INT16_LOWEST: Final = -(1 << 15)
INT16_HIGHEST: Final = (1 << 15) - 1
INT32_LOWEST: Final = -(1 << 31)
INT32_HIGHEST: Final = (1 << 31) - 1
INT64_LOWEST: Final = -(1 << 63)
INT64_HIGHEST: Final = (1 << 63) - 1

_SHORT: Final = 9
"""So many digits fit 32 bits whatever they are."""

_LONGEST: Final = 19
"""No 64-bit integer has more digits that count."""

# Possessive: a text of zeros that ends badly is refused in one pass.
_INTEGER: Final = re.compile(r"([+-]?)(?=[0-9])0*+([0-9]*+)")

Long: TypeAlias = Annotated[int, "64 bits"]
"""An integer that is a `long` in Java; a plain `int` is 32 bits wide there."""


def is_int16(number: int) -> bool:
    """Whether Java's `short` holds the number.

    Clause: wire.binary-header.code-16-bits
    """
    return INT16_LOWEST <= number <= INT16_HIGHEST


def is_int32(number: int) -> bool:
    """Whether Java's `int` holds the number.

    Clause: wire.header-fields.integer-range
    """
    return INT32_LOWEST <= number <= INT32_HIGHEST


def is_int64(number: int) -> bool:
    """Whether Java's `long` holds the number.

    Clause: wire.header-fields.integer-range
    """
    return INT64_LOWEST <= number <= INT64_HIGHEST


def decode_int32(text: str) -> int:
    """The number that `Integer.parseInt` gives.

    Clauses: wire.header-fields.integer-text, wire.header-fields.integer-range
    """
    if len(text) <= _SHORT and text.isdecimal() and text.isascii():
        return int(text)
    number = _decode_integer(text)
    if not is_int32(number):
        raise Rejection("wire.header-fields.integer-range", 0, f"{text[:24]} does not fit 32 bits")
    return number


def decode_int64(text: str) -> int:
    """The number that `Long.parseLong` gives.

    Clauses: wire.header-fields.integer-text, wire.header-fields.integer-range
    """
    if len(text) <= 2 * _SHORT and text.isdecimal() and text.isascii():
        return int(text)
    number = _decode_integer(text)
    if not is_int64(number):
        raise Rejection("wire.header-fields.integer-range", 0, f"{text[:24]} does not fit 64 bits")
    return number


def _decode_integer(text: str) -> int:
    parts = _INTEGER.fullmatch(text)
    if parts is None:
        raise Rejection("wire.header-fields.integer-text", 0, f"{text[:24]!r} is not an integer")
    if len(parts[2]) > _LONGEST:
        raise Rejection("wire.header-fields.integer-range", 0, f"{text[:24]}... does not fit 64 bits")
    return int(parts[1] + (parts[2] or "0"))


def decode_boolean(text: str) -> bool:
    """Whether the text is the word `true`, in any case.

    Clause: wire.header-fields.boolean-word
    """
    return text == "true" or text.lower() == "true"


def encode_boolean(value: bool) -> str:  # noqa: FBT001 - the value itself, not a switch
    """`true` or `false`, as Java's `toString` writes them."""
    return "true" if value else "false"
