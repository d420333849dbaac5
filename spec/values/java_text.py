"""Text as Java sees it: a sequence of 16-bit units.

Two clients agree on an allocation only if they sort queues and ids in the same order, and
broker and client agree on a tag only if they hash it alike. Java compares and hashes UTF-16
units; Python compares code points. The two differ as soon as a character lies beyond U+FFFF:
its surrogates (D800 to DFFF) sort before U+E000 to U+FFFF.
"""

import struct
from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from typing import Final

REMEMBERED_LENGTH: Final = 255
"""Longest text whose hash is remembered. A decision: topics, tags and keys are shorter, and what
is remembered must stay small, whatever was sent."""


SUFFIX_LENGTH: Final = 12
"""The part of a unique id that changes from message to message: time and counter, in hexadecimal digits."""


def utf16_key(text: str) -> bytes:
    """A sort key that orders texts as Java's `String.compareTo` does.

    Clause: group.order.utf16-units
    """
    return text.encode("utf-16-be", "surrogatepass")


def java_hash(text: str) -> int:
    """Java's `String.hashCode`: 31 * h + unit over UTF-16 units, as a signed 32-bit integer.

    Clause: broker.filter.tag-code-is-java-hash
    """
    return _remembered_hash(text) if len(text) <= REMEMBERED_LENGTH else hash_text(text)


_WEIGHTS: Final = tuple(
    tuple(pow(31, exponent, 2**32) for exponent in range(length - 1, -1, -1))
    for length in range(REMEMBERED_LENGTH + 1)
)
"""The weights of the units of a text, by its length."""


def _units(text: str) -> Sequence[int]:
    if text.isascii():
        return text.encode("ascii")
    data = utf16_key(text)
    return struct.unpack(f">{len(data) // 2}H", data)


def _hash(text: str, code: int = 0) -> int:
    """The hash, without its sign, of a text behind another one that has the hash `code`."""
    units = _units(text)
    if 0 < len(units) <= REMEMBERED_LENGTH:
        return _extend(code, units)
    for at in range(0, len(units), REMEMBERED_LENGTH):
        code = _extend(code, units[at : at + REMEMBERED_LENGTH])
    return code


def _extend(code: int, units: Sequence[int]) -> int:
    weights = _WEIGHTS[len(units)]
    # Weighted sums run inside the interpreter; a loop over the units takes four times as long.
    code = code * weights[0] * 31 + sum(map(mul, units, weights)) & 0xFFFFFFFF
    return code  # noqa: RET504 - `mul` returns anything, so the sum has to be given its type


def _signed(code: int) -> int:
    return code - 0x1_0000_0000 if code & 0x8000_0000 else code


def hash_text(text: str) -> int:
    """`java_hash` of a text that hardly comes again, but often with another end.

    Unique ids differ in their last characters only, so what stands before them is remembered.
    """
    if SUFFIX_LENGTH < len(text) <= REMEMBERED_LENGTH:
        return _signed(_hash(text[-SUFFIX_LENGTH:], _remembered_prefix(text[:-SUFFIX_LENGTH])))
    return _signed(_hash(text))


_remembered_prefix: Final = lru_cache(maxsize=4096)(_hash)
_remembered_hash: Final = lru_cache(maxsize=4096)(lambda text: _signed(_hash(text)))
