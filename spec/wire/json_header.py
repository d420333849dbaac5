"""The JSON header: what Java writes, and everything that real peers write in its place.

Java writes eight keys in alphabetical order, without spaces, and leaves out a remark or
extension fields that are null. Receivers cannot count on any of this. Clients of other languages
leave keys out, send extension values as numbers and booleans, name the language by number and end
the text with a newline that counts. All of that is read here, because a server that refuses it is
a server they cannot use. What is refused is what has no one meaning: a header that is not an
object, an `opaque` beyond 32 bits, text that is not Unicode.

Reading has two speeds. Nearly every header takes one pass of the C scanner. One whose extension
fields hold fractions, or that holds an enormous integer, is read again with numbers kept as
texts, so that a value is coerced to exactly the digits that were sent.
"""

import json
from collections.abc import Callable
from typing import Final

from spec.rejection import Rejection
from spec.values.java_literal import INT32_HIGHEST, INT32_LOWEST, is_int32
from spec.wire.json_text import (
    NumberText,
    byte_position,
    find_member,
    parse_json_exactly,
    parse_json_object,
)
from spec.wire.language import Language, derive_language_by_name, derive_language_by_number
from spec.wire.remoting_header import Header, Serialization, encode_text

_INT32_TEXT_LIMIT: Final = 11
"""No 32-bit integer is longer in digits, sign included."""

_quote: Final[Callable[[str], str]] = json.encoder.encode_basestring
"""A text as JSON: what the encoder itself calls, and only what a header needs of it."""

_TEXTS_ONLY: Final = frozenset({str})
_LANGUAGE_TEXT: Final = tuple(f'"{language.name}"' for language in Language)


def decode_json_header(data: bytes, *, absent_opaque: int = 0, replace_malformed: bool = False) -> Header:
    """The header that the JSON text says, whoever wrote it.

    `absent_opaque` is what a header without one gets: Apache takes the next number of its own
    counter. With `replace_malformed` bytes that are not UTF-8 become U+FFFD, as in Java, and
    positions count the text so made; otherwise they are refused.

    Clauses: wire.json-header.defaults, wire.json-header.unknown-key, wire.json-header.opaque-sent,
    wire.json-header.remark
    """
    text, members = parse_json_object(data, replace_malformed=replace_malformed)
    find = members.get
    code, version, opaque, flag = find("code"), find("version"), find("opaque"), find("flag")
    # Ordinary headers have all four, as small integers; the rest is for `_read_int` to judge one by one.
    if not (
        type(code) is int
        and type(version) is int
        and type(opaque) is int
        and type(flag) is int
        and INT32_LOWEST <= code <= INT32_HIGHEST
        and INT32_LOWEST <= version <= INT32_HIGHEST
        and INT32_LOWEST <= opaque <= INT32_HIGHEST
        and INT32_LOWEST <= flag <= INT32_HIGHEST
    ):
        code = _read_int(text, members, "code", 0)
        version = _read_int(text, members, "version", 0)
        opaque = _read_int(text, members, "opaque", absent_opaque)
        flag = _read_int(text, members, "flag", 0)
    remark = find("remark")
    if remark is not None and type(remark) is not str:
        raise _refusal(text, ("remark",), "wire.json-header.remark", "a text or null")
    fields = find("extFields")
    if fields is not None:
        fields = _read_fields(text, fields)
    return Header(code, _read_language(text, members), version, opaque, flag, remark, fields)


def _refusal(text: str, path: tuple[str, ...], clause: str, expected: str) -> Rejection:
    position = byte_position(text, find_member(text, path))
    return Rejection(clause, position, f"header JSON: {'.'.join(path)} must be {expected}")


def _read_int(text: str, members: dict[str, object], key: str, default: int) -> int:
    """The integer under the key, the default if the key is absent or null.

    Clause: wire.json-header.integers
    """
    number = members.get(key)
    if number is None:
        return default
    if type(number) is NumberText:
        number = _read_short(number)
    if type(number) is not int or not is_int32(number):
        raise _refusal(text, (key,), "wire.json-header.integers", "an integer of 32 bits")
    return number


def _read_short(number: NumberText) -> int | None:
    """The value of an integer's digits, None if they are more than 32 bits have, or not all digits."""
    is_short = len(number) <= _INT32_TEXT_LIMIT and number.lstrip("-").isdigit()
    return int(number) if is_short else None


def _read_language(text: str, members: dict[str, object]) -> Language | None:
    """The language by name or number; JAVA if the key is absent, None if it is null or not known.

    Clauses: wire.json-header.language, wire.header.unknown-language
    """
    language = members.get("language", "JAVA")
    if type(language) is str:
        return derive_language_by_name(language)
    if type(language) is int:
        return derive_language_by_number(language)
    if language is None:
        return None
    if type(language) is NumberText and language.lstrip("-").isdigit():
        number = _read_short(language)
        return None if number is None else derive_language_by_number(number)
    raise _refusal(text, ("language",), "wire.json-header.language", "a name or a number")


def _read_fields(text: str, fields: object) -> dict[str, str]:
    """The extension fields, every value as text.

    Clauses: wire.json-header.extension-object, wire.json-header.extension-coerced
    """
    if not isinstance(fields, dict):
        raise _refusal(text, ("extFields",), "wire.json-header.extension-object", "an object or null")
    kinds = set(map(type, fields.values()))
    if kinds <= _TEXTS_ONLY:
        return fields
    # An integer's digits can be had back from its value; a fraction's, and the sign of -0, cannot.
    if float in kinds or (int in kinds and "-0" in text):
        exact = parse_json_exactly(text)["extFields"]
        fields = exact if isinstance(exact, dict) else fields
    return {key: _coerce(text, key, value) for key, value in fields.items() if value is not None}


def _coerce(text: str, key: str, value: object) -> str:
    """A value as the text Java makes of it: digits as sent, booleans as words.

    Clause: wire.json-header.extension-coerced
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    clause = "wire.json-header.extension-coerced"
    raise _refusal(text, ("extFields", key), clause, "a text, a number, a boolean or null")


def _encode_members(fields: dict[str, str]) -> str:
    return ",".join([f"{_quote(key)}:{_quote(value)}" for key, value in fields.items()])


def encode_json_header(header: Header) -> bytes:
    """The header as Java writes it: keys in alphabetical order, no spaces, nulls left out.

    Clauses: wire.json-header.java-order, wire.json-header.integers
    """
    code, language, version, opaque, flag, remark, fields = header
    if not (is_int32(code) and is_int32(version) and is_int32(opaque) and is_int32(flag)):
        raise Rejection(
            "wire.json-header.integers", 0, "code, version, opaque and flag are integers of 32 bits"
        )
    extension = "" if fields is None else f'"extFields":{{{_encode_members(fields)}}},'
    name = "null" if language is None else _LANGUAGE_TEXT[language]
    words = "" if remark is None else f'"remark":{_quote(remark)},'
    text = (
        f'{{"code":{code:d},{extension}"flag":{flag:d},"language":{name},"opaque":{opaque:d},'
        f'{words}"serializeTypeCurrentRPC":"{Serialization.JSON.name}","version":{version:d}}}'
    )
    return encode_text(text, "wire.header.text", "header")
