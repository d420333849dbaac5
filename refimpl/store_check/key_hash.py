"""The hash of an index key, quickly.

The specification walks over the characters; a check hashes two keys a record. For short ASCII keys
the sum of characters times powers of 31 is the same number and is added up outside the interpreter.
"""

from functools import lru_cache
from operator import mul
from typing import Final

from spec.layout.index_chain import hash_key
from spec.values.java_text import java_hash

_TAIL: Final = 12
"""Characters behind which unique ids of one client differ: time and counter are 12 hex digits."""
_LONGEST: Final = 128
_SIGN: Final = 2**31
_POWERS: Final = tuple(
    tuple(pow(31, length - 1 - at, 2**32) for at in range(length)) for length in range(_TAIL + 1)
)
"""For each length the weights of the characters."""


@lru_cache(maxsize=4096)
def _hash_head(topic: str, head: str) -> int:
    """What the text before the last characters adds to the hash; one client gives few of them."""
    return java_hash(f"{topic}#{head}") * pow(31, _TAIL, 2**32)


@lru_cache(maxsize=4096)
def _hash_topic(topic: str, length: int) -> int:
    """What the topic adds to the hash of a key of this length."""
    return java_hash(f"{topic}#") * pow(31, length, 2**32)


def hash_key_quickly(topic: str, key: str) -> int:
    """The hash of a key of a topic, equal to the specification's.

    Clause: store.index.key-hash
    """
    length = len(key)
    if length > _LONGEST or not key.isascii():
        return hash_key(topic, key)
    if length > _TAIL:
        code: int = _hash_head(topic, key[:-_TAIL]) + sum(map(mul, key[-_TAIL:].encode(), _POWERS[_TAIL]))
    else:
        code = _hash_topic(topic, length) + sum(map(mul, key.encode(), _POWERS[length]))
    code &= 0xFFFF_FFFF
    # The absolute value of the signed reading; the one number that has none counts as 0.
    return code if code < _SIGN else (_SIGN * 2 - code) % _SIGN
