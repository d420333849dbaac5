"""The frame: how commands are cut out of a stream of bytes.

    length 4 | type 1 | header length 3 | header | body

`length` counts what follows it, the three bytes of the header length are unsigned, and the body is
whatever the header leaves over; an empty body and no body are the same. A frame may take
16 777 216 bytes with its length field, so the first byte of every legal frame is zero. That makes
strangers easy to tell: a TLS hello starts with 0x16, HTTP/2 with `PRI`, and both can be turned away
at their first byte, with a hint, before anything is buffered for them.

A stream has no second chance. When one frame cannot be read, nothing after it can be found, so the
receiver closes the connection, and a FrameReader that has refused once refuses for good.
"""

from collections.abc import Iterator
from functools import partial
from struct import Struct
from typing import Final, NamedTuple

from spec.rejection import Rejection
from spec.wire.binary_header import decode_binary_header, encode_binary_header
from spec.wire.json_header import decode_json_header, encode_json_header
from spec.wire.language import Language
from spec.wire.remoting_header import Header, Serialization

FRAME_LIMIT: Final = 16_777_216
"""Largest frame in bytes, length field included. Apache's `com.rocketmq.remoting.frameMaxLength`."""

PREFIX_LENGTH: Final = 8
"""Bytes before the header: length, type and header length."""

_MARK_BASE: Final = 1 << 24

HEADER_LIMIT: Final = _MARK_BASE - 1
"""Longest header in bytes: its length is an unsigned 24-bit integer."""

LENGTH_FIELD: Final = 4

_PREFIX: Final = Struct(">II")
_TELLING: Final = 16
"""As many bytes say what a stranger speaks."""
_JSON: Final = Serialization.JSON
_ROCKETMQ: Final = Serialization.ROCKETMQ
_TLS_HELLO: Final = 0x16
_HTTP2_PREFACE: Final = b"PRI * HTTP/2.0"
_HTTP_METHODS: Final = (b"GET ", b"POST", b"PUT ", b"HEAD", b"OPTI", b"DELE", b"PATC", b"CONN")


class Frame(NamedTuple):
    """One command: the fields of its header, in which format they travel, and its body."""

    code: int
    language: Language | None = Language.JAVA
    version: int = 0
    opaque: int = 0
    flag: int = 0
    remark: str | None = None
    extension_fields: dict[str, str] | None = None
    serialization: Serialization = Serialization.JSON
    body: bytes = b""


def derive_frame_size(length: int) -> int:
    """How many bytes a frame takes whose length field says `length`.

    Clause: wire.frame.length
    """
    return length + LENGTH_FIELD


def is_frame_legal(length: int, header_length: int, frame_limit: int = FRAME_LIMIT) -> bool:
    """Whether a frame with these two lengths fits the limit and its header fits the frame.

    Clauses: wire.frame.limit, wire.frame.header-within
    """
    return (
        length + LENGTH_FIELD <= frame_limit
        and 0 <= header_length <= HEADER_LIMIT
        and header_length <= length - LENGTH_FIELD
    )


def pack_mark(serialization: int, header_length: int) -> int:
    """Type and header length as the one 32-bit integer that travels.

    Clause: wire.frame.mark
    """
    return serialization * _MARK_BASE + header_length


def unpack_mark(mark: int) -> tuple[int, int]:
    """Type and header length, from the integer that travelled.

    Clause: wire.frame.mark
    """
    return divmod(mark, _MARK_BASE)


def check_prefix(start: bytes, frame_limit: int = FRAME_LIMIT) -> int | None:
    """The size of the frame that starts so, None while it is open; refused as early as can be told.

    Clauses: wire.frame.first-byte, wire.frame.limit, wire.frame.length, wire.frame.type,
    wire.frame.header-within
    """
    if start and derive_frame_size(start[0] << 24) > frame_limit:
        raise Rejection("wire.frame.first-byte", 0, _describe_stranger(start))
    if len(start) < LENGTH_FIELD:
        return None
    length = int.from_bytes(start[:LENGTH_FIELD], "big")
    size = derive_frame_size(length)
    if size > frame_limit:
        raise Rejection("wire.frame.limit", 0, f"frame of {size} bytes, expected at most {frame_limit}")
    if size < PREFIX_LENGTH:
        raise Rejection("wire.frame.length", 0, f"length {length}, expected at least {LENGTH_FIELD}")
    if len(start) > LENGTH_FIELD and start[LENGTH_FIELD] > Serialization.ROCKETMQ:
        reason = f"header type {start[LENGTH_FIELD]}, expected 0 (JSON) or 1 (ROCKETMQ)"
        raise Rejection("wire.frame.type", LENGTH_FIELD, reason)
    header_length = int.from_bytes(start[5:PREFIX_LENGTH], "big")
    if len(start) >= PREFIX_LENGTH and not is_frame_legal(length, header_length, frame_limit):
        reason = f"header of {header_length} bytes in a frame that has {length - LENGTH_FIELD} left for it"
        raise Rejection("wire.frame.header-within", 5, reason)
    return size


def _describe_stranger(start: bytes) -> str:
    if start[0] == _TLS_HELLO:
        return "first byte 0x16 is a TLS hello: this side expects plain frames, turn TLS off or terminate it"
    if start.startswith(_HTTP2_PREFACE[: len(start)]):
        return "this is HTTP/2, so probably a gRPC client: it belongs at the proxy's gRPC port, not here"
    if start.startswith(_HTTP_METHODS):
        return "this is HTTP: the port speaks the remoting protocol"
    return f"first byte 0x{start[0]:02x}, expected 0x00: no legal frame is that long"


def decode_frame(
    data: bytes,
    *,
    frame_limit: int = FRAME_LIMIT,
    absent_opaque: int = 0,
    empty_is_null: bool = False,
    replace_malformed: bool = False,
) -> Frame:
    """The one frame that the bytes are, no more and no less.

    The choices after the limit are those of `decode_json_header` and `decode_binary_header`.

    Clauses: wire.frame.whole, wire.frame.body
    """
    if len(data) < PREFIX_LENGTH:
        raise _refuse_size(data, frame_limit)
    length, mark = _PREFIX.unpack_from(data)
    serialization, header_length = unpack_mark(mark)
    if length + LENGTH_FIELD != len(data) or not is_frame_legal(length, header_length, frame_limit):
        raise _refuse_size(data, frame_limit)
    body_start = PREFIX_LENGTH + header_length
    header_bytes = data[PREFIX_LENGTH:body_start]
    try:
        if serialization == _JSON:
            header = decode_json_header(
                header_bytes, absent_opaque=absent_opaque, replace_malformed=replace_malformed
            )
            return Frame(*header, _JSON, data[body_start:])
        if serialization == _ROCKETMQ:
            header = decode_binary_header(
                header_bytes, empty_is_null=empty_is_null, replace_malformed=replace_malformed
            )
            return Frame(*header, _ROCKETMQ, data[body_start:])
    except Rejection as rejection:
        raise rejection.shifted(PREFIX_LENGTH) from None
    raise _refuse_size(data, frame_limit)


def _refuse_size(data: bytes, frame_limit: int) -> Rejection:
    """Why these bytes are not exactly one frame.

    Clause: wire.frame.whole
    """
    size = check_prefix(data[:PREFIX_LENGTH] if data[:1] == b"\0" else data, frame_limit)
    if size is not None and len(data) > size:
        reason = f"{len(data) - size} bytes follow the frame of {size} bytes, expected none"
        return Rejection("wire.frame.whole", size, reason)
    expected = f"a frame of {size}" if size is not None else f"at least {PREFIX_LENGTH}"
    reason = f"the bytes end after {len(data)}, expected {expected}"
    return Rejection("wire.frame.whole", len(data), reason)


def encode_frame(frame: Frame, *, frame_limit: int = FRAME_LIMIT) -> bytes:
    """The frame as it travels, in the format it names.

    Clauses: wire.frame.mark, wire.frame.limit
    """
    header = Header._make(frame[:7])
    if frame.serialization == _JSON:
        header_bytes = encode_json_header(header)
    else:
        header_bytes = encode_binary_header(header)
    length = LENGTH_FIELD + len(header_bytes) + len(frame.body)
    if not is_frame_legal(length, len(header_bytes), frame_limit):
        size = derive_frame_size(length)
        reason = f"frame of {size} bytes with a header of {len(header_bytes)}, expected at most {frame_limit}"
        raise Rejection("wire.frame.limit", 0, reason)
    prefix = _PREFIX.pack(length, pack_mark(frame.serialization, len(header_bytes)))
    return b"".join((prefix, header_bytes, frame.body))


class FrameReader:
    """Cuts a stream into frames, however the stream was cut before.

    Bytes go in with `feed`, frames come out of the iterator it returns, in order. The first
    refusal ends the stream: it is raised at its place and on every later call, its position
    counted from the start of the stream.

    Clauses: wire.frame.any-cut, wire.frame.refusal-ends-stream
    """

    __slots__ = ("_buffer", "_decode", "_frame_limit", "_refusal", "_taken", "position")

    def __init__(
        self,
        *,
        frame_limit: int = FRAME_LIMIT,
        absent_opaque: int = 0,
        empty_is_null: bool = False,
        replace_malformed: bool = False,
    ) -> None:
        """Start at the first byte of a stream; the choices are those of `decode_frame`."""
        self._buffer = bytearray()
        self._taken = 0
        """How many of the buffer's first bytes belong to frames that were taken."""
        self._frame_limit = frame_limit
        self._refusal: Rejection | None = None
        self._decode = partial(
            decode_frame,
            frame_limit=frame_limit,
            absent_opaque=absent_opaque,
            empty_is_null=empty_is_null,
            replace_malformed=replace_malformed,
        )
        self.position = 0
        """Where in the stream the next frame starts."""

    @property
    def waiting(self) -> int:
        """How many bytes of unfinished frames are held."""
        return len(self._buffer) - self._taken

    def feed(self, data: bytes) -> Iterator[Frame]:
        """Take bytes at once; the iterator gives the frames that are now whole."""
        if self._refusal is None:
            if self._taken:
                self._drop_taken()
            self._buffer += data
        return self.frames()

    def frames(self) -> Iterator[Frame]:
        """The frames that are whole and not yet taken."""
        while (frame := self.take()) is not None:
            yield frame

    def finish(self) -> None:
        """The stream ended between two frames, or a Rejection.

        Clause: wire.frame.whole
        """
        if self._refusal is not None:
            raise self._refusal
        if self.waiting:
            self._drop_taken()
            raise _refuse_size(bytes(self._buffer), self._frame_limit).shifted(self.position)

    def take(self) -> Frame | None:
        """The next frame if it is whole, and it is taken."""
        if self._refusal is not None:
            raise self._refusal
        try:
            size = self._measure()
            if size is None:
                return None
            start = self._taken
            frame = self._decode(bytes(self._buffer[start : start + size]))
        except Rejection as rejection:
            self._refusal = rejection.shifted(self.position)
            self._buffer.clear()
            self._taken = 0
            raise self._refusal from None
        self._taken += size
        self.position += size
        if self._taken == len(self._buffer):
            self._buffer.clear()
            self._taken = 0
        return frame

    def _measure(self) -> int | None:
        """The size of the next frame if it is whole; what cannot become a frame is refused at once."""
        buffer, start = self._buffer, self._taken
        there = len(buffer) - start
        if there >= PREFIX_LENGTH:
            length: int = _PREFIX.unpack_from(buffer, start)[0]
            size = length + LENGTH_FIELD
            if size <= there:
                # Whether a whole frame is a legal one, its decoder says.
                return size
        check_prefix(bytes(buffer[start : start + _TELLING]), self._frame_limit)
        return None

    def _drop_taken(self) -> None:
        del self._buffer[: self._taken]
        self._taken = 0
