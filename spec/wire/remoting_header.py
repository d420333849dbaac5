"""What every frame says about itself, whichever of the two header formats carries it.

A header names an operation (`code`), the sender (`language`, `version`), the exchange it belongs
to (`opaque`) and its direction (`flag`), and may add a remark and named text fields. A response
is told from a request by bit 0 of the flag and by nothing else: both sides count their opaques
on their own, so a server's push may carry the very number of a call that is still open.
"""

from enum import IntEnum
from typing import Final, NamedTuple

from spec.rejection import Rejection
from spec.wire.language import Language

RESPONSE_BIT: Final = 1
"""Bit 0 of the flag, Apache's `RPC_TYPE`."""

ONEWAY_BIT: Final = 2
"""Bit 1 of the flag, Apache's `RPC_ONEWAY`."""


class Serialization(IntEnum):
    """The type byte of a frame: in which format its header is written."""

    JSON = 0
    ROCKETMQ = 1


class Header(NamedTuple):
    """The fields of a header; no remark and no extension fields are None."""

    code: int
    language: Language | None = Language.JAVA
    version: int = 0
    opaque: int = 0
    flag: int = 0
    remark: str | None = None
    extension_fields: dict[str, str] | None = None


def is_response(flag: int) -> bool:
    """Whether the frame answers a request.

    Clause: wire.header.response-bit
    """
    return flag & RESPONSE_BIT != 0


def is_oneway(flag: int) -> bool:
    """Whether the frame is a request that wants no answer.

    Clause: wire.header.oneway-bit
    """
    return flag & (RESPONSE_BIT | ONEWAY_BIT) == ONEWAY_BIT


def is_reply_to(flag: int, opaque: int, pending_opaque: int) -> bool:
    """Whether a frame answers the open call with this opaque.

    Clause: wire.header.reply-match
    """
    return is_response(flag) and opaque == pending_opaque


def encode_text(text: str, clause: str, what: str) -> bytes:
    """UTF-8 of the text, or a Rejection if half of a surrogate pair stands alone in it."""
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Rejection(
            clause, error.start, f"{what}: a surrogate stands alone, UTF-8 has no bytes for it"
        ) from None
