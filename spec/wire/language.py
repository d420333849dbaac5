"""The language a peer says it is written in.

A header carries the sender's language as a name (JSON) or as one byte (binary). The number of
a language is also its place in Apache's enum, so a JSON header may give the number too. Nothing
that is promised depends on the language; a name nobody knows is therefore no reason to refuse a
frame. It decodes to None, "some other language", and is written back as such.
"""

from enum import IntEnum
from typing import Final


class Language(IntEnum):
    """Apache's `LanguageCode`: 0 to 11 since 4.x, RUST since 4.9.4, NODE_JS in 5.3.3."""

    JAVA = 0
    CPP = 1
    DOTNET = 2
    PYTHON = 3
    DELPHI = 4
    ERLANG = 5
    RUBY = 6
    OTHER = 7
    HTTP = 8
    GO = 9
    PHP = 10
    OMS = 11
    RUST = 12
    NODE_JS = 13


UNKNOWN_LANGUAGE_BYTE: Final = 0xFF
"""Stands for None in a binary header: -1 as a Java byte, which no Apache version gives to a language."""

_BY_NUMBER: Final = {int(language): language for language in Language}
_BY_NAME: Final = {language.name: language for language in Language}


def derive_language_by_number(number: int) -> Language | None:
    """The language with this number, or None if there is none.

    Clause: wire.header.unknown-language
    """
    return _BY_NUMBER.get(number)


def derive_language_by_name(name: str) -> Language | None:
    """The language with this name, or None if there is none.

    Clause: wire.header.unknown-language
    """
    return _BY_NAME.get(name)
