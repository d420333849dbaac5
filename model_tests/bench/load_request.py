"""Requests of the load generator: encoded once by the specification, patched for each use.

A request differs from the one before it in its opaque, and a message in its unique key, which ends with
the opaque. Opaques have eight digits, so nothing else in the frame changes, and a request is its fixed
pieces joined by the digits. Only a pull is put together anew: its offset has as many digits as it needs.
"""

import os
import time
from struct import Struct
from typing import Final, NamedTuple, Self

from spec.layout.batch import BatchEntry, encode_batch
from spec.values.name import AUTO_CREATE_TOPIC
from spec.values.property import TAGS, UNIQUE_KEY, WAIT, encode_properties
from spec.values.pull_flag import PullFlag
from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.code import RequestCode
from spec.wire.frame import LENGTH_FIELD, PREFIX_LENGTH, Frame, encode_frame
from spec.wire.header.codec import CustomHeader
from spec.wire.header.pull import PullMessageHeader
from spec.wire.header.send import SendMessageHeader
from spec.wire.header.table import REQUEST_HEADERS
from spec.wire.language import Language
from spec.wire.version import Version

BODY: Final = bytes(range(256)) * 4
BATCH: Final = 32
PULLED: Final = 32
FIRST_OPAQUE: Final = 10_000_000
OPAQUE_MARK: Final = b"98765432"
"""Stands where an opaque will; nothing else in a request looks like it."""

_OFFSET_MARK: Final = 1_234_567_890_123_456_789
_PREFIX: Final = Struct(">II")
_PRODUCER_GROUP: Final = "bench-producer"
_CONSUMER_GROUP: Final = "bench-consumer"


def _encode(code: RequestCode, header: CustomHeader, body: bytes = b"") -> bytes:
    """A request as a Java client sends it: a JSON header."""
    fields = REQUEST_HEADERS[code].encode(header)
    opaque = int(OPAQUE_MARK)
    return encode_frame(
        Frame(code, Language.JAVA, Version.V4_9_3, opaque, extension_fields=fields, body=body)
    )


def _send_header(topic: str, queue_id: int, properties: dict[str, str], *, batch: bool) -> SendMessageHeader:
    now = Milliseconds(time.time_ns() // 1_000_000)
    text = encode_properties(properties)
    group, queue = _PRODUCER_GROUP, QueueId(queue_id)
    return SendMessageHeader(group, topic, AUTO_CREATE_TOPIC, 4, queue, 0, now, 0, text, 0, batch=batch)


def _cut(data: bytes, marks: int) -> tuple[bytes, ...]:
    """What stands between the marks."""
    pieces = tuple(data.split(OPAQUE_MARK))
    if len(pieces) != marks + 1:
        raise ValueError(f"the request has {len(pieces) - 1} marks, expected {marks}")
    return pieces


def derive_key_start(connection: int) -> str:
    """Twenty-two digits that no other connection of any run has."""
    return (
        f"7F{os.getpid() & 0xFFFF:04X}{connection & 0xFF:02X}{time.time_ns() // 1000 & 0xFFFFFFFFFFFFFF:014X}"
    )


def build_send(topic: str, queue_id: int, key_start: str) -> tuple[bytes, ...]:
    """The pieces of a send; `opaque.join` makes it whole."""
    key = f"{key_start}00{OPAQUE_MARK.decode()}"
    header = _send_header(topic, queue_id, {UNIQUE_KEY: key, WAIT: "true", TAGS: "TagA"}, batch=False)
    return _cut(_encode(RequestCode.SEND_MESSAGE_V2, header, BODY), 2)


def build_batch(topic: str, queue_id: int, key_start: str) -> tuple[bytes, ...]:
    """The pieces of a batch, each message with a key of its own."""
    keys = [f"{key_start}{number:02X}{OPAQUE_MARK.decode()}" for number in range(BATCH)]
    entries = [
        BatchEntry(0, BODY, encode_properties({UNIQUE_KEY: key, WAIT: "true", TAGS: "TagA"})) for key in keys
    ]
    header = _send_header(topic, queue_id, {WAIT: "true"}, batch=True)
    return _cut(_encode(RequestCode.SEND_BATCH_MESSAGE, header, encode_batch(entries)), BATCH + 1)


class PullTemplate(NamedTuple):
    """What stands before the offset of a pull, between it and the opaque, and behind that."""

    start: bytes
    middle: bytes
    end: bytes

    @classmethod
    def build(cls, topic: str, queue_id: int) -> Self:
        """Pulls of the queue, which the broker answers at once."""
        header = PullMessageHeader(
            _CONSUMER_GROUP,
            topic,
            QueueId(queue_id),
            QueueOffset(_OFFSET_MARK),
            PULLED,
            PullFlag.SUBSCRIPTION,
            QueueOffset(0),
            Milliseconds(0),
            0,
            "*",
        )
        before, end = _cut(_encode(RequestCode.PULL_MESSAGE, header)[PREFIX_LENGTH:], 1)
        start, middle = before.split(str(_OFFSET_MARK).encode())
        return cls(start, middle, end)

    def fill(self, opaque: bytes, offset: int) -> bytes:
        """The pull from the offset on."""
        header = b"%b%d%b%b%b" % (self.start, offset, self.middle, opaque, self.end)
        return _PREFIX.pack(LENGTH_FIELD + len(header), len(header)) + header
