"""The body of a frame: messages, JSON, text or bytes, compressed or not."""

import json
import textwrap
from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from refimpl.cli.header_view import HeaderView, derive_system_flag, is_batch
from spec.layout.batch import BatchEntry, decode_batch
from spec.layout.body import EXPANDED_LIMIT, expand_body
from spec.layout.record_walk import decode_records
from spec.layout.stored_message import Magic, StoredMessage
from spec.rejection import Rejection
from spec.values.property import decode_properties
from spec.values.system_flag import is_compressed
from spec.wire.body.table import REQUEST_BODIES
from spec.wire.fastjson import JsonValue, parse_fastjson
from spec.wire.frame import Frame
from spec.wire.remoting_header import is_response

_DUMP_LIMIT: Final = 256
_DUMP_WIDTH: Final = 16
_LINE_WIDTH: Final = 70
_GLUE: Final = "\0"
"""Keeps a name and its value on one line; no JSON text holds it."""
_MAGICS: Final = tuple(magic.to_bytes(4, "big") for magic in (Magic.MESSAGE, Magic.MESSAGE_V2))


class BodyView(NamedTuple):
    """What a body turned out to be; the value is JSON, text, or hex digits."""

    kind: str
    value: JsonValue
    note: str | None = None
    """What a reader should know besides: it was compressed, or it is not what it should be."""


def derive_body_view(frame: Frame, header: HeaderView) -> BodyView:
    """The body as what the request says it is, else as what its bytes look like."""
    if is_batch(header):
        return _derive_batch_view(frame.body)
    if frame.body[4:8] in _MAGICS:
        return _derive_records_view(frame.body)
    content, note = _expand(frame.body, derive_system_flag(header), EXPANDED_LIMIT)
    view = _derive_content_view(content)._replace(note=note)
    codec = None if is_response(frame.flag) else REQUEST_BODIES.get(frame.code)
    if codec is None or view.kind != "json":
        return view
    name = codec.record.__name__
    try:
        codec.decode(frame.body)
    except Rejection as rejection:
        return view._replace(note=f"refused as {name}: {rejection.reason} [{rejection.clause}]")
    return view._replace(note=name)


def _derive_records_view(body: bytes) -> BodyView:
    try:
        records = decode_records(body, accept_v2=True)
    except Rejection as rejection:
        return _derive_broken_view(body, "records", rejection)
    return BodyView("messages", list(_derive_messages(records)), _count(len(records)))


def _derive_batch_view(body: bytes) -> BodyView:
    try:
        entries = decode_batch(body)
    except Rejection as rejection:
        return _derive_broken_view(body, "a batch", rejection)
    return BodyView("messages", [_derive_entry(entry) for entry in entries], _count(len(entries)))


def _derive_broken_view(body: bytes, kind: str, rejection: Rejection) -> BodyView:
    note = f"refused as {kind} at its byte {rejection.position}: {rejection.reason} [{rejection.clause}]"
    return _derive_content_view(body)._replace(note=note)


def _count(number: int) -> str:
    return "1 message" if number == 1 else f"{number} messages"


def _expand(body: bytes, system_flag: int, limit: int) -> tuple[bytes, str | None]:
    """A body as the user wrote it if it can be expanded, and what there is to say about that."""
    if not is_compressed(system_flag):
        return body, None
    try:
        expanded = expand_body(body, system_flag, limit=limit)
    except Rejection as rejection:
        return body, f"compressed: {rejection.reason} [{rejection.clause}]"
    return expanded, f"expanded from {len(body)} bytes to {len(expanded)}"


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


def _derive_messages(records: Iterable[StoredMessage]) -> Iterator[JsonValue]:
    """The messages; their expanded bodies share one bound, since little can expand to a lot."""
    room: int = EXPANDED_LIMIT
    for record in records:
        content, note = _expand(record.body, record.system_flag, room)
        room -= len(content) if content is not record.body else 0
        yield _derive_message(record, _derive_content_view(content)._replace(note=note))


def _derive_message(record: StoredMessage, view: BodyView) -> JsonValue:
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
        **_derive_body_data(view),
    }


def _derive_entry(entry: BatchEntry) -> JsonValue:
    return {
        "flag": entry.flag,
        "properties": {**decode_properties(entry.property_text)},
        **_derive_body_data(_derive_content_view(entry.body)),
    }


def _derive_body_data(view: BodyView) -> dict[str, JsonValue]:
    return {"bodyKind": view.kind, "bodyNote": view.note, "body": view.value}


def derive_body_lines(view: BodyView) -> Iterator[str]:
    """The body, line by line: bytes as a dump, the rest as text."""
    if view.kind == "binary" and isinstance(view.value, str):
        yield from _dump(bytes.fromhex(view.value))
    elif isinstance(view.value, str):
        yield from view.value.splitlines()
    elif view.kind == "messages" and isinstance(view.value, list):
        for number, message in enumerate(view.value, 1):
            yield from _derive_message_lines(number, message)
    else:
        yield from json.dumps(view.value, indent=2, ensure_ascii=False).splitlines()


def _derive_message_lines(number: int, message: JsonValue) -> Iterator[str]:
    """A message in a few lines: short values side by side, properties and body on their own."""
    parts = message if isinstance(message, dict) else {}
    shown = {
        f"{key}": json.dumps(part, ensure_ascii=False) for key, part in parts.items() if part is not None
    }
    lasts = [f"{key} {shown.pop(key)}" for key in ("properties", "bodyNote", "body") if key in shown]
    pairs = ", ".join(f"{key} {value}".replace(" ", _GLUE) for key, value in shown.items())
    first, *rest = textwrap.wrap(pairs, _LINE_WIDTH, break_long_words=False, break_on_hyphens=False)
    yield f"{number:>3}  {first.replace(_GLUE, ' ')}"
    for line in (*rest, *lasts):
        yield f"     {line.replace(_GLUE, ' ')}"


def _dump(body: bytes) -> Iterator[str]:
    for start in range(0, min(len(body), _DUMP_LIMIT), _DUMP_WIDTH):
        row = body[start : start + _DUMP_WIDTH]
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)  # noqa: PLR2004 - ASCII
        yield f"{start:08x}  {row.hex(' '):<{3 * _DUMP_WIDTH}} {letters}"
    if len(body) > _DUMP_LIMIT:
        yield f"... {len(body) - _DUMP_LIMIT} bytes more, --json shows them"
