"""The text of a start time: fourteen digits, local time, to the second.

It is local time of the client, so two members in two time zones that are given the same text start
at different instants; the offset from UTC therefore has to be passed in.
"""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from spec.rejection import Rejection
from spec.values.units import Milliseconds

DEFAULT_AGE_MS: Final = Milliseconds(30 * 60_000)
"""The default start time lies half an hour before the consumer is created."""

_CLAUSE: Final = "client.consumer.timestamp-text"
_FORMAT: Final = "%Y%m%d%H%M%S"
_DIGITS: Final = re.compile(r"[0-9]{14}", re.ASCII)
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def encode_consume_timestamp(instant_ms: int, utc_offset_ms: int) -> str:
    """The text of an instant of the years 1 to 9999; milliseconds are cut off.

    Clause: client.consumer.timestamp-text
    """
    local = _EPOCH + timedelta(milliseconds=instant_ms + utc_offset_ms)
    return f"{local.year:04}{local:%m%d%H%M%S}"


def decode_consume_timestamp(text: str, utc_offset_ms: int) -> Milliseconds:
    """The instant that a text names; anything but a real date and time is refused.

    Clause: client.consumer.timestamp-text
    """
    if not _DIGITS.fullmatch(text):
        raise Rejection(_CLAUSE, 0, f"{text[:40]!r} is not a time: expected 14 digits, yyyyMMddHHmmss")
    try:
        local = datetime.strptime(text, _FORMAT).replace(tzinfo=UTC)
    except ValueError as error:
        raise Rejection(_CLAUSE, 0, f"{text!r} is not a real date and time") from error
    return Milliseconds((local - _EPOCH) // timedelta(milliseconds=1) - utc_offset_ms)
