"""The texts of a record hold no zero byte.

The CRC of a record covers the body alone. A sector of topic or properties that never reached the
disk reads as zeros, and U+0000 is a good UTF-8 character: the record looks whole and has lost its
tag or its keys. Recovery can tell such a record from one that was meant so only if none is meant
so. Nobody needs the character in a topic or a property, so a store refuses to write it.
"""

from typing import Final

from spec.rejection import Rejection

ZERO: Final = "\0"


def has_zero(topic: str, property_text: str) -> bool:
    """Whether the character U+0000 stands in one of the texts.

    Clauses: store.record.no-zero-in-texts, recovery.log.torn-text
    """
    return ZERO in topic or ZERO in property_text


def check_texts(topic: str, property_text: str) -> None:
    """A record with these texts may be written; otherwise a Rejection says which of them is wrong.

    Clause: store.record.no-zero-in-texts
    """
    if has_zero(topic, property_text):
        what, text = ("topic", topic) if ZERO in topic else ("property string", property_text)
        raise Rejection("store.record.no-zero-in-texts", text.index(ZERO), f"U+0000 stands in the {what}")
