"""The binary header, Apache's `ROCKETMQ` serialization.

A fixed part, then two lengths with their contents:

    code int16 | language 1 | version int16 | opaque int32 | flag int32
    remark length int32, remark | extension length int32, (key length int16, key, value length int32, value)*

It is shorter than JSON and says less. A code needs 16 bits, so the later 200 000 range cannot be
said. Length 0 stands for null, so an empty remark and an empty set of fields arrive as none. For an
empty key or value inside the set releases disagree: 4.9.3 keeps the empty text, 4.9.4 and later
make it null, and a null value is no value. A sender is therefore wise not to send empty texts.

No length is believed before it has been compared with the bytes that are there.
"""

import struct
from struct import Struct
from typing import Final, TypeAlias

from spec.rejection import Rejection
from spec.values.java_literal import is_int16, is_int32
from spec.wire.language import UNKNOWN_LANGUAGE_BYTE, derive_language_by_number
from spec.wire.remoting_header import Header, encode_text

_FIXED_FORMAT: Final = ">hBhiii"
_REMARK_START: Final = 17

Lanes: TypeAlias = tuple[int, int, int, int, int, int]
"""Code, language, version, opaque, flag and the length of the remark."""

_INT32: Final = Struct(">i")
_INT16: Final = Struct(">h")

FIXED_LENGTH: Final = 21
"""Bytes of a header without remark and fields: the fixed part and the two lengths."""

KEY_LENGTH_LIMIT: Final = 32767
"""Longest key in bytes: its length is a signed 16-bit integer."""


def pack_fixed(lanes: Lanes) -> bytes:
    """The bytes before the remark.

    Clause: wire.binary-header.layout
    """
    return struct.pack(_FIXED_FORMAT, *lanes)


def unpack_fixed(data: bytes) -> Lanes:
    """What the bytes before the remark say; there must be 17.

    Clause: wire.binary-header.layout
    """
    code, language, version, opaque, flag, remark_length = struct.unpack_from(_FIXED_FORMAT, data)
    return code, language, version, opaque, flag, remark_length


def decode_binary_header(
    data: bytes, *, empty_is_null: bool = False, replace_malformed: bool = False
) -> Header:
    """The header that the bytes say; they are used up exactly.

    With `empty_is_null` a field with an empty key or value is left out, as in 4.9.4 and later;
    otherwise it is kept, as in 4.9.3. With `replace_malformed` bytes that are not UTF-8 become
    U+FFFD, as in Java; otherwise they are refused.

    Clauses: wire.binary-header.layout, wire.binary-header.exact-length, wire.binary-header.zero-is-null,
    wire.binary-header.empty-text
    """
    if len(data) < FIXED_LENGTH:
        raise Rejection(
            "wire.binary-header.layout",
            len(data),
            f"binary header has {len(data)} bytes, expected at least {FIXED_LENGTH}",
        )
    code, language, version, opaque, flag, remark_length = unpack_fixed(data)
    errors = "replace" if replace_malformed else "strict"
    remark_end = _check_end(_REMARK_START, remark_length, len(data) - 4, "remark")
    start = remark_end + 4
    end = _check_end(start, _INT32.unpack_from(data, remark_end)[0], len(data), "extension fields")
    if end != len(data):
        reason = f"binary header goes on for {len(data) - end} bytes after its fields"
        raise Rejection("wire.binary-header.exact-length", end, reason)
    remark = _decode_remark(data, remark_end, errors)
    fields = _decode_fields(data, start, errors) if start < end else None
    if fields is not None and empty_is_null:
        fields = {key: value for key, value in fields.items() if key and value}
    return Header(code, derive_language_by_number(language), version, opaque, flag, remark, fields)


def is_length_within(start: int, length: int, limit: int) -> bool:
    """Whether a part of this length, starting here, ends no later than the limit.

    Clause: wire.binary-header.lengths
    """
    return 0 <= length <= limit - start


def _check_end(start: int, length: int, limit: int, what: str) -> int:
    """Where a part ends that starts here, once its length is known to lie within the header.

    Clause: wire.binary-header.lengths
    """
    if not is_length_within(start, length, limit):
        raise _refuse_length(start, length, limit, what)
    return start + length


def _refuse_length(start: int, length: int, limit: int, what: str) -> Rejection:
    reason = f"{what} of {length} bytes, but {max(limit - start, 0)} are left for it in the header"
    return Rejection("wire.binary-header.lengths", start, reason)


def _refuse_text(start: int, error: UnicodeDecodeError) -> Rejection:
    return Rejection("wire.header.text", start + error.start, f"header is not UTF-8: {error.reason}")


def _decode_remark(data: bytes, end: int, errors: str) -> str | None:
    """The remark, None if its length is 0.

    Clauses: wire.binary-header.zero-is-null, wire.header.text
    """
    if end == _REMARK_START:
        return None
    try:
        return data[_REMARK_START:end].decode("utf-8", errors)
    except UnicodeDecodeError as error:
        raise _refuse_text(_REMARK_START, error) from None


def _decode_fields(data: bytes, position: int, errors: str) -> dict[str, str]:
    """The fields from here to the end of the header; the last of equal keys counts.

    Clause: wire.binary-header.fields
    """
    end = len(data)
    fields: dict[str, str] = {}
    text_start = position
    try:
        while position < end:
            key_start, key_end, value_start, value_end = _find_field(data, position, end)
            text_start = key_start
            key = data[key_start:key_end].decode("utf-8", errors)
            text_start = value_start
            fields[key] = data[value_start:value_end].decode("utf-8", errors)
            position = value_end
    except UnicodeDecodeError as error:
        raise _refuse_text(text_start, error) from None
    return fields


def _find_field(data: bytes, position: int, end: int) -> tuple[int, int, int, int]:
    """Where key and value of the field at `position` start and end, both within the header.

    Clause: wire.binary-header.lengths
    """
    key_start = position + 2
    if key_start > end:
        raise _refuse_length(position, 2, end, "key length")
    (key_length,) = _INT16.unpack_from(data, position)
    key_end = key_start + key_length
    value_start = key_end + 4
    if key_length < 0 or value_start > end:
        raise _refuse_length(key_start, key_length, end - 4, "key")
    (value_length,) = _INT32.unpack_from(data, key_end)
    if not is_length_within(value_start, value_length, end):
        raise _refuse_length(value_start, value_length, end, "value")
    return key_start, key_end, value_start, value_start + value_length


def encode_binary_header(header: Header) -> bytes:
    """The header in Apache's layout; what 16 bits cannot say is refused.

    Clauses: wire.binary-header.layout, wire.binary-header.code-16-bits
    """
    code, language, version, opaque, flag, remark, fields = header
    if not (is_int16(code) and is_int16(version)):
        reason = f"code {code} or version {version} needs more than 16 bits: use a JSON header"
        raise Rejection("wire.binary-header.code-16-bits", 0, reason)
    if not (is_int32(opaque) and is_int32(flag)):
        raise Rejection("wire.binary-header.layout", 0, "opaque and flag are integers of 32 bits")
    language_byte = UNKNOWN_LANGUAGE_BYTE if language is None else language
    words = b"" if remark is None else encode_text(remark, "wire.header.text", "remark")
    extension = b"".join(map(_encode_field, fields, fields.values())) if fields else b""
    fixed = pack_fixed((code, language_byte, version, opaque, flag, len(words)))
    return b"".join((fixed, words, _INT32.pack(len(extension)), extension))


def _encode_field(key: str, value: str) -> bytes:
    """One extension field.

    Clause: wire.binary-header.fields
    """
    name = encode_text(key, "wire.header.text", "key")
    if len(name) > KEY_LENGTH_LIMIT:
        reason = f"key of {len(name)} bytes, expected at most {KEY_LENGTH_LIMIT}"
        raise Rejection("wire.binary-header.fields", 0, reason)
    content = encode_text(value, "wire.header.text", f"value of {key}")
    return b"".join((_INT16.pack(len(name)), name, _INT32.pack(len(content)), content))
