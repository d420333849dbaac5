"""A frame for a person, and the same frame as data for a program."""

import json
from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.text import Text

from refimpl.cli.frame_source import Found
from spec.layout.record_walk import decode_records
from spec.layout.stored_message import Magic, StoredMessage
from spec.rejection import Rejection
from spec.wire.code import Generation, derive_request_code, derive_response_code
from spec.wire.fastjson import JsonValue, parse_fastjson
from spec.wire.frame import PREFIX_LENGTH, Frame
from spec.wire.remoting_header import is_oneway, is_response
from spec.wire.version import derive_version_name

_VALUE_LIMIT: Final = 1_000
_LINE_LIMIT: Final = 60
_DUMP_LIMIT: Final = 256
_DUMP_WIDTH: Final = 16
_MAGICS: Final = tuple(magic.to_bytes(4, "big") for magic in (Magic.MESSAGE, Magic.MESSAGE_V2))


class BodyView(NamedTuple):
    """What a body turned out to be; the value is JSON, text, or hex digits."""

    kind: str
    value: JsonValue


def derive_kind(flag: int) -> str:
    """Which way the frame goes."""
    if is_response(flag):
        return "response"
    return "oneway request" if is_oneway(flag) else "request"


def derive_code_name(frame: Frame) -> str | None:
    """The name of the frame's code, None if no release knows it; later releases' names come second."""
    if not is_response(frame.flag):
        found = derive_request_code(frame.code)
        return None if found is None else found.name
    for generation in (Generation.V4_9, Generation.V5):
        result = derive_response_code(frame.code, generation)
        if result is not None:
            return result.name
    return None


def derive_body_view(body: bytes) -> BodyView:
    """The body of a frame: messages if it is stored records, otherwise what its bytes read as."""
    if body[4:8] in _MAGICS:
        try:
            records = decode_records(body, accept_v2=True)
        except Rejection:
            return _derive_content_view(body)
        return BodyView("messages", [_derive_message(record) for record in records])
    return _derive_content_view(body)


def _derive_content_view(body: bytes) -> BodyView:
    """JSON if it is that (Apache's dialect included), text if it reads as such, else hex."""
    if not body:
        return BodyView("none", None)
    if body.lstrip()[:1] in (b"{", b"["):
        try:
            return BodyView("json", parse_fastjson(body))
        except Rejection:
            pass  # it only began so
    try:
        text = body.decode()
    except UnicodeDecodeError:
        return BodyView("binary", body.hex())
    is_text = all(character.isprintable() or character in "\t\r\n" for character in text)
    return BodyView("text", text) if is_text else BodyView("binary", body.hex())


def _derive_message(record: StoredMessage) -> JsonValue:
    """A stored message; a compressed body stays so."""
    view = _derive_content_view(record.body)
    return {
        "topic": record.topic,
        "queueId": record.queue_id,
        "queueOffset": record.queue_offset,
        "commitLogPosition": record.position,
        "bornAtMs": record.born_at_ms,
        "bornHost": str(record.born_host),
        "storedAtMs": record.stored_at_ms,
        "storeHost": str(record.store_host),
        "flag": record.flag,
        "sysFlag": record.system_flag,
        "reconsumeTimes": record.reconsume_times,
        "properties": {**record.properties()},
        "bodyKind": view.kind,
        "body": view.value,
    }


def derive_data(found: Found) -> dict[str, object]:
    """The frame as one JSON object."""
    frame = found.frame
    view = derive_body_view(frame.body)
    return {
        "source": found.place,
        "position": found.position,
        "length": found.size,
        "serialization": frame.serialization.name,
        "headerLength": found.size - PREFIX_LENGTH - len(frame.body),
        "kind": derive_kind(frame.flag),
        "code": frame.code,
        "codeName": derive_code_name(frame),
        "language": None if frame.language is None else frame.language.name,
        "version": frame.version,
        "versionName": derive_version_name(frame.version),
        "opaque": frame.opaque,
        "flag": frame.flag,
        "remark": frame.remark,
        "extFields": frame.extension_fields,
        "bodyLength": len(frame.body),
        "bodyKind": view.kind,
        "body": view.value,
    }


def _make_visible(text: str) -> str:
    """The text with its control characters escaped, so that it cannot steer the terminal."""
    shown = text[:_VALUE_LIMIT]
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return visible if len(text) == len(shown) else f"{visible}... ({len(text)} characters)"


def _dump(body: bytes) -> Iterator[str]:
    for start in range(0, min(len(body), _DUMP_LIMIT), _DUMP_WIDTH):
        row = body[start : start + _DUMP_WIDTH]
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)  # noqa: PLR2004 - ASCII
        yield f"{start:08x}  {row.hex(' '):<{3 * _DUMP_WIDTH}} {letters}"
    if len(body) > _DUMP_LIMIT:
        yield f"... {len(body) - _DUMP_LIMIT} bytes more"


def _derive_body_lines(frame: Frame, view: BodyView) -> Iterator[str]:
    if view.kind == "binary":
        yield from _dump(frame.body)
        return
    text = view.value if isinstance(view.value, str) else json.dumps(view.value, indent=2, ensure_ascii=False)
    lines = text.splitlines()
    yield from map(_make_visible, lines[:_LINE_LIMIT])
    if len(lines) > _LINE_LIMIT:
        yield f"... {len(lines) - _LINE_LIMIT} lines more, --json shows them"


def derive_text(found: Found) -> Text:
    """The frame as lines for a person."""
    frame = found.frame
    version = derive_version_name(frame.version)
    language = "not known" if frame.language is None else frame.language.name
    text = Text()
    text.append(f"{found.place} at {found.position}", "dim")
    text.append(f"  {derive_kind(frame.flag)} ")
    text.append(derive_code_name(frame) or "unknown code", "bold")
    text.append(f" ({frame.code})\n")
    text.append(
        f"  {found.size} bytes, {frame.serialization.name} header of"
        f" {found.size - PREFIX_LENGTH - len(frame.body)}, body of {len(frame.body)}\n"
        f"  opaque {frame.opaque}, flag {frame.flag}, language {language},"
        f" version {frame.version}{f' ({version})' if version else ''}\n"
    )
    if frame.remark is not None:
        text.append(f"  remark  {_make_visible(frame.remark)}\n")
    _append_fields(text, frame.extension_fields)
    view = derive_body_view(frame.body)
    if view.kind != "none":
        text.append(f"  body ({view.kind})\n")
        for line in _derive_body_lines(frame, view):
            text.append(f"    {line}\n", "green")
    return text


def _append_fields(text: Text, fields: dict[str, str] | None) -> None:
    if fields is None:
        return
    text.append("  fields\n" if fields else "  fields  none, but the table is there\n")
    width = min(max(map(len, fields), default=0), 32)
    for key, value in fields.items():
        text.append(f"    {_make_visible(key):<{width}}", "cyan")
        text.append(f"  {_make_visible(value)}\n")
