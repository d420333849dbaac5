"""A frame for a person, and the same frame as data for a program."""

import json
from typing import Final

from rich.text import Text

from refimpl.cli.body_view import BodyView, derive_body_lines, derive_body_view
from refimpl.cli.frame_source import Found
from refimpl.cli.header_view import HeaderView, derive_header_view
from spec.wire.code import Generation, derive_request_code, derive_response_code
from spec.wire.fastjson import JsonValue
from spec.wire.frame import PREFIX_LENGTH, Frame
from spec.wire.remoting_header import is_oneway, is_response
from spec.wire.version import derive_version_name

_VALUE_LIMIT: Final = 1_000
_LINE_LIMIT: Final = 60


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


def derive_data(found: Found) -> dict[str, object]:
    """The frame as one JSON object."""
    frame = found.frame
    header = derive_header_view(frame)
    view = derive_body_view(frame, header)
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
        "header": header.values,
        "headerNote": header.note,
        "bodyLength": len(frame.body),
        "bodyKind": view.kind,
        "bodyNote": view.note,
        "body": view.value,
    }


def _make_visible(text: str) -> str:
    """The text with its control characters escaped, so that it cannot steer the terminal."""
    shown = text[:_VALUE_LIMIT]
    visible = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in shown)
    return visible if len(text) == len(shown) else f"{visible}... ({len(text)} characters)"


def _show_value(text: str) -> str:
    """The value as it came; quotes where there is nothing to see."""
    return _make_visible(text) if text.strip() else json.dumps(text)


def derive_text(found: Found) -> Text:
    """The frame as lines for a person."""
    frame = found.frame
    text = Text()
    text.append(f"{found.place} at {found.position}", "dim")
    text.append(f"  {derive_kind(frame.flag)} ")
    text.append(derive_code_name(frame) or "unknown code", "bold")
    text.append(f" ({frame.code})\n")
    _append_frame(text, found)
    header = derive_header_view(frame)
    _append_fields(text, frame.extension_fields, header)
    if header.note is not None:
        text.append(f"  fields {_make_visible(header.note)}\n", "yellow")
    _append_body(text, derive_body_view(frame, header))
    return text


def _append_frame(text: Text, found: Found) -> None:
    frame = found.frame
    version = derive_version_name(frame.version)
    language = "not known" if frame.language is None else frame.language.name
    text.append(
        f"  {found.size} bytes, {frame.serialization.name} header of"
        f" {found.size - PREFIX_LENGTH - len(frame.body)}, body of {len(frame.body)}\n"
        f"  opaque {frame.opaque}, flag {frame.flag}, language {language},"
        f" version {frame.version}{f' ({version})' if version else ''}\n"
    )
    if frame.remark is not None:
        text.append(f"  remark  {_show_value(frame.remark)}\n")


def _append_fields(text: Text, fields: dict[str, str] | None, header: HeaderView) -> None:
    """The fields as they came, short names with what they stand for, properties taken apart."""
    if fields is None:
        return
    text.append("  fields\n" if fields else "  fields  none, but the table is there\n")
    labels = {key: f"{key}  {header.names[key]}" if key in header.names else key for key in fields}
    width = min(max(map(len, labels.values()), default=0), 32)
    for key, value in fields.items():
        text.append(f"    {_make_visible(labels[key]):<{width}}", "cyan")
        text.append(f"  {_show_field(value, (header.values or {}).get(header.names.get(key, key)))}\n")


def _show_field(value: str, meaning: JsonValue) -> str:
    """The value; what it means where that is not plain: to Java every text but `true` is false."""
    if isinstance(meaning, dict):
        return _make_visible(json.dumps(meaning, ensure_ascii=False))
    if isinstance(meaning, bool) and value.lower() not in ("true", "false"):
        return f"{_show_value(value)} (reads as {json.dumps(meaning)})"
    return _show_value(value)


def _append_body(text: Text, view: BodyView) -> None:
    if view.kind == "none":
        return
    text.append(f"  body ({view.kind})")
    text.append(f"  {_make_visible(view.note)}\n" if view.note else "\n")
    lines = list(derive_body_lines(view))
    for line in lines[:_LINE_LIMIT]:
        text.append(f"    {_make_visible(line)}\n", "green")
    if len(lines) > _LINE_LIMIT:
        text.append(f"    ... {len(lines) - _LINE_LIMIT} lines more, --json shows them\n", "green")
