"""Java's properties, the form of Apache's `broker.conf`: a key and a value on each line.

Key and value are divided by `=`, `:` or white space; `#` and `!` begin a comment line; a backslash
continues a line or stands before a character that would mean something else.
"""

from collections.abc import Iterator
from itertools import islice
from string import hexdigits
from typing import Final, NamedTuple

_BLANK: Final = " \t\f"
_DIVIDERS: Final = "=:"
_ESCAPES: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_CODE_LENGTH: Final = 4


class Entry(NamedTuple):
    """One key with its value."""

    key: str
    value: str
    line: int
    """Where it begins; the first line is 1."""


def parse_properties(text: str) -> tuple[Entry, ...]:
    """The entries in their order; a ValueError names the line of an escape that cannot be read."""
    return tuple(_parse_entry(content, number) for number, content in _join_lines(text))


def _join_lines(text: str) -> Iterator[tuple[int, str]]:
    """The logical lines that hold something, each with the number of its first line."""
    pending, first = "", 0
    for number, natural in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        line = natural.lstrip(_BLANK)
        if not pending:
            if not line or line[0] in "#!":
                continue
            first = number
        if _is_continued(line):
            pending += line[:-1]
            continue
        if pending + line:
            yield first, pending + line
        pending = ""
    if pending:
        yield first, pending


def _is_continued(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _parse_entry(content: str, line: int) -> Entry:
    end = _find_key_end(content)
    value = content[end:].lstrip(_BLANK)
    if value[:1] and value[0] in _DIVIDERS:
        value = value[1:].lstrip(_BLANK)
    # Java keeps blanks at the end of a value; nobody means them.
    return Entry(_unescape(content[:end], line), _unescape(value, line).strip(), line)


def _find_key_end(content: str) -> int:
    at = 0
    while at < len(content) and content[at] not in _BLANK + _DIVIDERS:
        at += 2 if content[at] == "\\" else 1
    return min(at, len(content))


def _unescape(text: str, line: int) -> str:
    if "\\" not in text:
        return text
    signs = iter(text)
    return "".join(sign if sign != "\\" else _read_escape(signs, line) for sign in signs)


def _read_escape(signs: Iterator[str], line: int) -> str:
    """What stands for the characters after a backslash; they are taken."""
    sign = next(signs, "")
    if sign != "u":
        return _ESCAPES.get(sign, sign)
    digits = "".join(islice(signs, _CODE_LENGTH))
    if len(digits) < _CODE_LENGTH or not set(digits) <= set(hexdigits):
        raise ValueError(f"line {line}: \\u{digits} is no character, expected four hex digits")
    return chr(int(digits, 16))
