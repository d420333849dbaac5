"""As much of YAML as account files use: maps, lists and texts, one thing a line.

Apache's account file is YAML that people write by hand and tools write in block style. The reader
takes maps and lists nested by indentation, a list that stands at the indentation of its key, plain and
quoted texts, short lists in brackets, comments, and nothing else: whatever it does not take it
refuses with the line, so that nothing is read otherwise than it was meant. A refusal never shows
the line itself, which may hold a secret. Every scalar is a text; who reads it knows what it stands for.
"""

import re
from typing import Final, NamedTuple, NoReturn, TypeAlias

from spec.rejection import Rejection

YamlNode: TypeAlias = "str | int | list[YamlNode] | dict[str, YamlNode] | None"
"""A tree; the reader makes no integers, it keeps the text that was written."""

DEPTH_LIMIT: Final = 16

_KEY = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s'"\[\]{},#&*!|>%@`-][^:#]*?)\s*:(?:\s+(.*))?""")
_DOUBLE = re.compile(r'"((?:[^"\\]|\\["\\])*)"')
_SINGLE = re.compile(r"'((?:[^']|'')*)'")
_COMMENT = re.compile(r"""((?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^#]|(?<=\S)#)*?)\s*(?:(?:^|(?<=\s))#.*)?""")
_PLAIN_START: Final = "&*!|>%@`[]{},\"'#?"
_NULLS: Final = ("", "~", "null", "Null", "NULL")
_SAFE = re.compile(r"[A-Za-z][A-Za-z0-9_.|=/%-]*")


class _Line(NamedTuple):
    number: int
    indent: int
    text: str


def _refuse(number: int, expected: str) -> NoReturn:
    raise Rejection("broker.access.account-file", number, f"line {number}: expected {expected}")


def _split(text: str) -> list[_Line]:
    lines: list[_Line] = []
    for number, raw in enumerate(text.splitlines(), 1):
        if "\t" in raw[: len(raw) - len(raw.lstrip())]:
            _refuse(number, "spaces, not tabs, before the text")
        found = _COMMENT.fullmatch(raw)
        content = (found[1] if found is not None else raw).rstrip()
        if content.strip() and not (content == "---" and not lines):
            lines.append(_Line(number, len(content) - len(content.lstrip()), content.strip()))
    return lines


def parse_yaml(text: str) -> YamlNode:
    """The tree that the text spells; a Rejection names the line and what is expected there.

    Clause: broker.access.account-file
    """
    lines = _split(text)
    if not lines:
        return None
    reader = _Reader(lines)
    tree = reader.read_block(lines[0].indent, 0)
    left = reader.peek()
    if left is not None:
        _refuse(left.number, "the indentation of the lines before, or the end of the file")
    return tree


class _Reader:
    """The lines, and how far they have been read."""

    def __init__(self, lines: list[_Line]) -> None:
        self._lines = lines
        self._next = 0

    def peek(self) -> _Line | None:
        """The line that comes next."""
        return self._lines[self._next] if self._next < len(self._lines) else None

    def read_block(self, indent: int, depth: int) -> YamlNode:
        """The map or list whose lines have this indentation."""
        line = self._lines[self._next]
        if depth > DEPTH_LIMIT:
            _refuse(line.number, f"no more than {DEPTH_LIMIT} levels of nesting")
        if _is_item(line.text):
            return self._read_list(indent, depth)
        return self._read_map(indent, depth)

    def _read_map(self, indent: int, depth: int) -> YamlNode:
        table: dict[str, YamlNode] = {}
        while (line := self.peek()) is not None and line.indent == indent and not _is_item(line.text):
            found = _KEY.fullmatch(line.text)
            if found is None:
                _refuse(line.number, "`key: value`")
            self._next += 1
            key = _read_scalar(found[1], line.number) or ""
            if key in table:
                _refuse(line.number, "a key that does not stand twice")
            table[key] = self._read_value(found[2] or "", line, depth)
        self._check_indent(indent)
        return table

    def _read_value(self, rest: str, line: _Line, depth: int) -> YamlNode:
        if rest:
            return _read_inline(rest, line.number)
        below = self.peek()
        if below is None or below.indent < line.indent:
            return None
        if below.indent > line.indent or _is_item(below.text):
            return self.read_block(below.indent, depth + 1)
        return None

    def _read_list(self, indent: int, depth: int) -> YamlNode:
        items: list[YamlNode] = []
        while (line := self.peek()) is not None and line.indent == indent and _is_item(line.text):
            rest = line.text[1:].lstrip()
            if rest and _KEY.fullmatch(rest) is None and not _is_item(rest):
                self._next += 1
                items.append(_read_inline(rest, line.number))
            elif rest:
                # What stands behind the dash is the first line of a block of its own.
                inner = indent + len(line.text) - len(rest)
                self._lines[self._next] = _Line(line.number, inner, rest)
                items.append(self.read_block(inner, depth + 1))
            else:
                self._next += 1
                below = self.peek()
                is_below = below is not None and below.indent > indent
                items.append(self.read_block(below.indent, depth + 1) if below and is_below else None)
        self._check_indent(indent)
        return items

    def _check_indent(self, indent: int) -> None:
        line = self.peek()
        if line is not None and line.indent > indent:
            _refuse(line.number, "the indentation of the lines before")


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _read_inline(text: str, number: int) -> YamlNode:
    if text == "{}":
        return {}
    if not text.startswith("["):
        return _read_scalar(text, number)
    inside = text[1:-1].strip()
    if not text.endswith("]"):
        _refuse(number, "a list in brackets that is closed on the same line")
    return [_read_scalar(item.strip(), number) for item in inside.split(",")] if inside else []


def _read_scalar(text: str, number: int) -> str | None:
    if text in _NULLS:
        return None
    double, single = _DOUBLE.fullmatch(text), _SINGLE.fullmatch(text)
    if double is not None:
        return re.sub(r"\\(.)", r"\1", double[1])
    if single is not None:
        return single[1].replace("''", "'")
    if text[0] in _PLAIN_START or text.startswith("- ") or ": " in text or text.endswith(":"):
        _refuse(number, "a plain text, or one in quotes")
    return text


def encode_yaml(tree: YamlNode) -> str:
    """The text that reads back as the same tree; refuses texts that do not fit on a line.

    Clause: broker.access.account-file
    """
    return "".join(f"{line}\n" for line in _encode(tree))


def _encode(tree: YamlNode) -> list[str]:
    match tree:
        case dict() if tree:
            return [line for key, value in tree.items() for line in _encode_entry(_encode_scalar(key), value)]
        case list() if tree:
            return [line for item in tree for line in _encode_item(item)]
        case _:
            return [_encode_leaf(tree)]


def _encode_entry(key: str, value: YamlNode) -> list[str]:
    if isinstance(value, dict | list) and value:
        return [f"{key}:", *(f"  {line}" for line in _encode(value))]
    return [f"{key}: {_encode_leaf(value)}".rstrip()]


def _encode_item(item: YamlNode) -> list[str]:
    first, *rest = _encode(item)
    return [f"- {first}".rstrip(), *(f"  {line}" for line in rest)]


def _encode_leaf(value: YamlNode) -> str:
    match value:
        case dict():
            return "{}"
        case list():
            return "[]"
        case None:
            return ""
        case int():
            return str(value)
        case str():
            return _encode_scalar(value)


def _encode_scalar(text: str) -> str:
    if not text.isprintable():
        raise Rejection("broker.access.account-file", 0, "a text that cannot stand on one line")
    is_plain = _SAFE.fullmatch(text) is not None and text not in _NULLS
    return text if is_plain else "'" + text.replace("'", "''") + "'"
