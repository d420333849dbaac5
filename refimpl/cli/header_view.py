"""The fields of a request as the operation means them: long names, values with types.

Only requests: an answer does not say which question it answers, and its fields speak for themselves.
"""

from collections.abc import Iterator
from dataclasses import Field, fields
from enum import Enum
from typing import Final, NamedTuple

from spec.rejection import Rejection
from spec.values.property import decode_properties
from spec.wire.fastjson import JsonValue
from spec.wire.frame import Frame
from spec.wire.header.codec import CustomHeader, HeaderCodec, Spelling, derive_wire_name
from spec.wire.header.send import SendMessageHeader
from spec.wire.header.table import NO_FIELDS, REQUEST_HEADERS
from spec.wire.remoting_header import is_response

_PROPERTIES: Final = "properties"


class HeaderView(NamedTuple):
    """A request's header, read by the strict reference."""

    record: CustomHeader | None
    names: dict[str, str]
    """Short names on the wire, and the long ones they stand for; empty if long ones travel."""
    values: dict[str, JsonValue] | None
    """By long name, what the fields on the wire say; None if the header is not known or refused."""
    note: str | None
    """Why it is refused."""


_UNKNOWN: Final = HeaderView(None, {}, None, None)


def derive_header_view(frame: Frame) -> HeaderView:
    """What the request's fields say, as far as its operation is known."""
    codec = REQUEST_HEADERS.get(frame.code)
    if is_response(frame.flag) or codec is None or codec is NO_FIELDS:
        return _UNKNOWN
    names = _derive_short_names(codec)
    try:
        record = codec.decode(frame.extension_fields)
    except Rejection as rejection:
        return HeaderView(None, names, None, f"refused: {rejection.reason} [{rejection.clause}]")
    return HeaderView(record, names, dict(_derive_values(record, codec, frame.extension_fields or {})), None)


def _derive_short_names(codec: HeaderCodec[CustomHeader]) -> dict[str, str]:
    if codec.spelling is Spelling.LONG:
        return {}
    return {_name(part, Spelling.SHORT): _name(part, Spelling.LONG) for part in fields(codec.header)}


def _name(part: Field[object], spelling: Spelling) -> str:
    named: str = part.metadata.get(spelling.value, "")
    return named or derive_wire_name(part.name)


def _derive_values(
    record: CustomHeader, codec: HeaderCodec[CustomHeader], sent: dict[str, str]
) -> Iterator[tuple[str, JsonValue]]:
    """Only what was sent: a default is not on the wire."""
    for part in fields(record):
        if _name(part, codec.spelling) in sent:
            name = _name(part, Spelling.LONG)
            yield name, _derive_value(name, getattr(record, part.name))


def _derive_value(name: str, value: object) -> JsonValue:
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, str) and name == _PROPERTIES:
        return {**decode_properties(value)}
    return value if isinstance(value, (int, str)) else None


def derive_system_flag(view: HeaderView) -> int:
    """The protocol's flag of the message that a send brings, 0 for anything else."""
    return view.record.sys_flag if isinstance(view.record, SendMessageHeader) else 0


def is_batch(view: HeaderView) -> bool:
    """Whether the body of a send is a batch of messages."""
    return isinstance(view.record, SendMessageHeader) and view.record.batch
