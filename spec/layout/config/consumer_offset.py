"""The keys of `consumerOffset.json`: topic and group in one text, joined by `@`.

Neither a topic nor a group may contain the separator, so a key has exactly one reading. Apache
passes over keys that do not split into two when it looks for the topics of a group; a table
that keeps them grows for ever, so the reference refuses them.
"""

from typing import Final, NamedTuple

from spec.rejection import Rejection

SEPARATOR: Final = "@"


class OffsetKey(NamedTuple):
    """Whose offsets an entry of the table holds."""

    topic: str
    group: str


def encode_offset_key(key: OffsetKey) -> str:
    """The key as text; refuses names that could not be read back.

    Clause: store.config.offset-key
    """
    text = f"{key.topic}{SEPARATOR}{key.group}"
    decode_offset_key(text)
    return text


def decode_offset_key(text: str) -> OffsetKey:
    """Topic and group of a key.

    Clause: store.config.offset-key
    """
    parts = text.split(SEPARATOR)
    if len(parts) != len(OffsetKey._fields) or not all(parts):
        raise Rejection("store.config.offset-key", 0, f"{text[:80]!r} is not topic@group")
    return OffsetKey(*parts)
