"""Text as Java sees it: a sequence of 16-bit units.

Two clients agree on an allocation only if they sort queues and ids in the same order, and
broker and client agree on a tag only if they hash it alike. Java compares and hashes UTF-16
units; Python compares code points. The two differ as soon as a character lies beyond U+FFFF:
its surrogates (D800 to DFFF) sort before U+E000 to U+FFFF.
"""

from functools import lru_cache
from typing import Final

REMEMBERED_LENGTH: Final = 255
"""Longest text whose hash is remembered. A decision: topics, tags and keys are shorter, and what
is remembered must stay small, whatever was sent."""


def utf16_key(text: str) -> bytes:
    """A sort key that orders texts as Java's `String.compareTo` does.

    Clause: group.order.utf16-units
    """
    return text.encode("utf-16-be", "surrogatepass")


def java_hash(text: str) -> int:
    """Java's `String.hashCode`: 31 * h + unit over UTF-16 units, as a signed 32-bit integer.

    Clause: broker.filter.tag-code-is-java-hash
    """
    return _remembered_hash(text) if len(text) <= REMEMBERED_LENGTH else _hash(text)


def _hash(text: str) -> int:
    code = 0
    units = text.encode("utf-16-be", "surrogatepass")
    for high, low in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + (high << 8 | low)) & 0xFFFFFFFF
    return code - 0x1_0000_0000 if code & 0x8000_0000 else code


_remembered_hash: Final = lru_cache(maxsize=4096)(_hash)
