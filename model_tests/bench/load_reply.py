"""Replies, read no further than a generator must: where they end, that they succeeded, what they answer.

Headers as Java writes them are searched for two texts. Whatever looks different is read in full by the
specification, so that a reply is never taken for a success because it was looked at too quickly.
"""

from struct import Struct
from typing import Final, NamedTuple

from spec.layout.stored_message import Magic
from spec.wire.code import ResponseCode
from spec.wire.frame import LENGTH_FIELD, PREFIX_LENGTH, decode_frame
from spec.wire.remoting_header import is_response

BUFFER_BYTES: Final = 1 << 20
"""More than all replies that are on their way to one connection."""

_PREFIX: Final = Struct(">II")
_SUCCESS: Final = b'{"code":0,'
_OPAQUE: Final = b'"opaque":'
_OPAQUE_DIGITS: Final = 8
_DIGIT_ENDS: Final = b",}"
_JSON_MARK_LIMIT: Final = 1 << 24
"""A mark below it names a JSON header, and is the header's length."""

_MESSAGE_MAGIC: Final = int(Magic.MESSAGE)
_RECORD_START: Final = Struct(">iI12xq")
"""Size, magic and queue offset of a stored message; its CRC, queue and flag stand between."""


class LoadError(Exception):
    """The peer did not do what was asked, so there is nothing to measure."""


class Reply(NamedTuple):
    """A success: the digits of its opaque, and where in the buffer its body stands."""

    opaque: bytes
    body_at: int
    end: int


def find_opaque(memory: bytearray, at: int, mark: int, end: int) -> bytes:
    """The digits of the opaque of a frame, which is a successful reply."""
    if mark < _JSON_MARK_LIMIT and memory.startswith(_SUCCESS, at + PREFIX_LENGTH):
        found = memory.find(_OPAQUE, at + PREFIX_LENGTH, at + PREFIX_LENGTH + mark)
        digits = memory[found + len(_OPAQUE) : found + len(_OPAQUE) + _OPAQUE_DIGITS + 1]
        if found > 0 and digits[-1] in _DIGIT_ENDS:
            return bytes(digits[:-1])
    frame = decode_frame(bytes(memory[at:end]))
    if frame.code != ResponseCode.SUCCESS or not is_response(frame.flag):
        raise LoadError(f"a request was answered with code {frame.code}: {frame.remark}")
    return b"%08d" % frame.opaque


class ReplyBuffer:
    """What has arrived on a connection and is not yet read."""

    def __init__(self, size: int = BUFFER_BYTES) -> None:
        self.memory = bytearray(size)
        self._view = memoryview(self.memory)
        self._filled = 0

    def room(self) -> memoryview:
        """Where the next bytes go."""
        return self._view[self._filled :]

    def take(self, arrived: int) -> list[Reply]:
        """The replies that are whole now; their bodies stay in place until `keep_rest`."""
        memory = self.memory
        filled = self._filled = self._filled + arrived
        replies: list[Reply] = []
        at = 0
        while filled - at >= PREFIX_LENGTH:
            length, mark = _PREFIX.unpack_from(memory, at)
            end = at + LENGTH_FIELD + length
            if end > filled:
                break
            body_at = at + PREFIX_LENGTH + (mark & (_JSON_MARK_LIMIT - 1))
            replies.append(Reply(find_opaque(memory, at, mark, end), body_at, end))
            at = end
        return replies

    def keep_rest(self, replies: list[Reply]) -> None:
        """The replies are done with; what follows them stands at the start."""
        if replies:
            at = replies[-1].end
            rest = self._filled - at
            self._view[:rest] = self._view[at : self._filled]
            self._filled = rest
        elif self._filled == len(self.memory):
            raise LoadError(f"a reply is longer than {len(self.memory)} bytes")


def count_records(memory: bytearray, at: int, end: int, first_offset: int) -> int:
    """How many messages the body of a pull holds; they follow each other from the offset on."""
    offset = first_offset
    while at < end:
        size, magic, queue_offset = _RECORD_START.unpack_from(memory, at)
        if magic != _MESSAGE_MAGIC or queue_offset != offset or size <= 0:
            raise LoadError(f"a pull brought the record {magic:08X} of offset {queue_offset}, not {offset}")
        at += size
        offset += 1
    if at != end:
        raise LoadError(f"the last record of a pull ends {at - end} bytes behind the reply")
    return offset - first_offset
