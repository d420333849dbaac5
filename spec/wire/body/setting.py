"""Configuration as text: `key=value`, one a line.

Brokers and name servers read and write their settings so. Java writes values as they are, but
reads a backslash as the start of an escape: such a text changes its meaning on the way, so the
reference neither writes nor reads it, nor keys that Java would end at a blank or colon. Blank
lines and lines that begin with `#` or `!` say nothing; a line without `=` sets its key to the
empty text.
"""

from collections.abc import Mapping
from typing import Final

from spec.rejection import Rejection
from spec.wire.remoting_header import encode_text

_CLAUSE: Final = "wire.body.properties-text"
_BLANKS: Final = " \t\f"
_KEY_ENDS: Final = ": \t\f"
"""Where Java ends a key that does not end with `=`."""


def decode_settings(data: bytes) -> dict[str, str]:
    """The settings that the lines state; the last line of a key wins.

    Clause: wire.body.properties-text
    """
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        raise Rejection(_CLAUSE, error.start, f"not UTF-8: {error.reason}") from None
    settings: dict[str, str] = {}
    position = 0
    for line in text.replace("\r", "\n").split("\n"):
        stated = line.lstrip(_BLANKS)
        if stated and stated[0] not in "#!":
            key, _, value = stated.partition("=")
            settings[_check(key.rstrip(_BLANKS), line, position)] = value.lstrip(_BLANKS)
        position += len(line.encode()) + 1
    return settings


def _check(key: str, line: str, position: int) -> str:
    """The key, if Java would read the line as we do."""
    if "\\" in line:
        raise Rejection(_CLAUSE, position, "a backslash has no agreed meaning")
    if not key or any(sign in key for sign in _KEY_ENDS):
        raise Rejection(_CLAUSE, position, f"{key[:40]!r} is no key: empty, or with a blank or colon")
    return key


def encode_settings(settings: Mapping[str, str]) -> bytes:
    """The lines that state the settings, in the order given; refused if they would not read back.

    Clause: wire.body.properties-text
    """
    data = encode_text("".join(f"{key}={value}\n" for key, value in settings.items()), _CLAUSE, "settings")
    if decode_settings(data) != settings:
        raise Rejection(
            _CLAUSE, 0, "a key or value holds blanks, line ends or signs that would be read otherwise"
        )
    return data
