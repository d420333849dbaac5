"""A request as a handler sees it, and what a handler says to it."""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias, TypeVar

from spec.values.host import Host
from spec.wire.body.record import JsonRecord
from spec.wire.code import ResponseCode
from spec.wire.frame import Frame
from spec.wire.header.codec import CustomHeader, Reading

HeaderT = TypeVar("HeaderT", bound=CustomHeader)


class Request(NamedTuple):
    """A frame that asks for something, who sent it, and when it came."""

    connection: int
    peer: Host
    frame: Frame
    now_ms: int

    def header(self, kind: type[HeaderT], reading: Reading = Reading.STRICT) -> HeaderT:
        """The operation's own fields; a Rejection names the field that is missing or wrong."""
        return kind.decode(self.frame.extension_fields, reading=reading)


class Reply(NamedTuple):
    """What is answered; the rest of the frame follows from the request."""

    code: int = ResponseCode.SUCCESS
    remark: str | None = None
    fields: dict[str, str] | None = None
    body: bytes = b""


OK: Reply = Reply()

Handler: TypeAlias = Callable[[Request], Reply | None]
"""Decodes, guards, acts, answers. None: there is no answer, or it comes later."""


def succeed(header: CustomHeader | None = None, body: JsonRecord | bytes = b"") -> Reply:
    """Success, with the fields and the body of the operation."""
    data = body if isinstance(body, bytes) else body.encode(is_dialect=True)
    return Reply(ResponseCode.SUCCESS, None, None if header is None else header.encode(), data)


def refuse(code: ResponseCode, remark: str) -> Reply:
    """Anything but success, and why."""
    return Reply(code, remark)
