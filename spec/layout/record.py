"""The commit-log record: one stored message, byte for byte.

The record in the commit log and the record in the body of a pull answer are the same bytes, so
one codec serves the store, the broker and the client. All integers are big-endian and signed
unless said otherwise:

    at   0  size of the whole record         4
         4  magic                            4    unsigned
         8  CRC of the body as stored        4    31 bits
        12  queue id                         4
        16  user flag                        4
        20  queue offset                     8
        28  commit-log position              8
        36  system flag                      4
        40  born at, ms                      8
        48  born host                        8 or 20
            stored at, ms                    8
            store host                       8 or 20
            times consumed again             4
            position of the prepared half    8
            body                             4 + n
            topic, UTF-8                     1 + n    (2 + n in the second version)
            property string, UTF-8           2 + n

Nothing delimits records but their own sizes: one wrong size loses everything behind it. So a
record is accepted only if the size it states is the size its parts add up to, and its body only
if the CRC agrees. The CRC covers the body alone: a damaged topic or offset is not noticed here.
"""

import struct
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

from spec.layout.stored_message import SMALLEST_RECORD, Magic, StoredMessage
from spec.rejection import Rejection
from spec.values.checksum import derive_checksum
from spec.values.host import IPV4_HOST_SIZE, IPV6_HOST_SIZE, Host, decode_host, encode_host
from spec.values.property import PROPERTY_BYTES_LIMIT
from spec.values.system_flag import BORN_HOST_IPV6, STORE_HOST_IPV6, with_host_bits

ReadableBytes: TypeAlias = bytes | bytearray | memoryview


QUEUE_OFFSET_AT: Final = 20
POSITION_AT: Final = 28
SYSTEM_FLAG_AT: Final = 36
BORN_HOST_AT: Final = 48

TOPIC_BYTES_LIMIT: Final = 127
"""Largest signed byte."""

TOPIC_BYTES_LIMIT_V2: Final = 32_767
"""Largest signed 16-bit integer."""

_HEAD: Final = struct.Struct(">iI")
_INT16: Final = struct.Struct(">h")
_BEHIND_STORE_HOST: Final = 16
"""Bytes between the store host and the body: times consumed again, prepared position, body length."""


def _fixed_part(born_host_size: int, store_host_size: int) -> struct.Struct:
    return struct.Struct(f">iIiiiqqiq{born_host_size}sq{store_host_size}siqi")


_FIXED: Final = {
    born | store: _fixed_part(
        IPV6_HOST_SIZE if born else IPV4_HOST_SIZE, IPV6_HOST_SIZE if store else IPV4_HOST_SIZE
    )
    for born in (0, BORN_HOST_IPV6)
    for store in (0, STORE_HOST_IPV6)
}
_HOST_BITS: Final = BORN_HOST_IPV6 | STORE_HOST_IPV6
_LONGEST_FIXED: Final = max(fixed.size for fixed in _FIXED.values())
_FIRST_MAGIC: Final = int(Magic.MESSAGE)


def _reject(field: str, at: int, reason: str) -> Rejection:
    return Rejection(f"store.record.{field}", at, reason)


def decode_text(data: ReadableBytes, at: int, end: int, what: str) -> str:
    """The text between two places of a record.

    Clause: store.record.texts-are-utf8
    """
    try:
        return str(data[at:end], "utf-8")
    except UnicodeDecodeError as error:
        raise _reject("texts-are-utf8", at + error.start, f"the {what} is not UTF-8") from None


def _decode_host(data: bytes, at: int) -> Host:
    try:
        return decode_host(data)
    except Rejection as refusal:
        raise refusal.shifted(at) from None


def _topic_bounds(data: ReadableBytes, at: int, *, is_v2: bool) -> tuple[int, int]:
    """Where the topic begins and ends, by the length field at `at`."""
    if is_v2:
        length: int = _INT16.unpack_from(data, at)[0]
        start = at + 2
    else:
        length = data[at]
        start = at + 1
    if not 0 < length <= (TOPIC_BYTES_LIMIT_V2 if is_v2 else TOPIC_BYTES_LIMIT):
        raise _reject("topic-length", at, f"topic length {length} is not in 1 to the largest signed value")
    return start, start + length


def _check_head(data: ReadableBytes, at: int, *, accept_v2: bool) -> int:
    """Where the record ends, if size and magic are those of a message that is wholly there."""
    if at < 0 or len(data) - at < _HEAD.size:
        raise _reject("whole", at, f"{max(0, len(data) - at)} bytes are too few for size and magic")
    size: int
    magic: int
    size, magic = _HEAD.unpack_from(data, at)
    if magic != Magic.MESSAGE and not (accept_v2 and magic == Magic.MESSAGE_V2):
        raise _reject("magic", at + 4, f"magic {magic:#010x} is not that of a message")
    if size < SMALLEST_RECORD:
        raise _reject("size-formula", at, f"size {size} is below the smallest record, {SMALLEST_RECORD}")
    if size > len(data) - at:
        raise _reject("whole", at, f"size {size} is stated, {len(data) - at} bytes are there")
    return at + size


RecordParts: TypeAlias = tuple[tuple[Any, ...], int, int, int, int, int]
"""The fixed fields of a record; where body, topic length, topic and what follows stand; its end."""


def locate_parts(data: ReadableBytes, at: int, *, accept_v2: bool) -> RecordParts:
    """Where the parts of the record at `at` stand; neither its CRC nor its texts are looked at.

    Clauses: store.record.layout, store.record.size-formula, store.record.magic, store.record.whole,
    store.record.topic-length, store.record.second-version
    """
    # A whole record of the first version is seen at once; whatever else stands there is looked at closely.
    if 0 <= at <= len(data) - _LONGEST_FIXED:
        fixed = _FIXED[data[at + SYSTEM_FLAG_AT + 3] & _HOST_BITS]
        fields = fixed.unpack_from(data, at)
        end, body_at = at + fields[0], at + fixed.size
        topic_at = body_at + fields[14]
        if fields[1] == _FIRST_MAGIC and body_at <= topic_at and topic_at + 3 <= end <= len(data):
            topic_end = topic_at + 1 + data[topic_at]
            if topic_at + 1 < topic_end <= topic_at + 1 + TOPIC_BYTES_LIMIT and topic_end + 2 <= end:
                property_length: int = _INT16.unpack_from(data, topic_end)[0]
                if topic_end + 2 + property_length == end:
                    return fields, body_at, topic_at, topic_at + 1, topic_end, end
    return _locate_closely(data, at, accept_v2=accept_v2)


def _locate_closely(data: ReadableBytes, at: int, *, accept_v2: bool) -> RecordParts:
    """As `locate_parts`; says of anything that is not a record why it is none."""
    end = _check_head(data, at, accept_v2=accept_v2)
    # The flag's lowest byte holds the bits that say how long the hosts are.
    fixed = _FIXED[data[at + SYSTEM_FLAG_AT + 3] & _HOST_BITS]
    body_at = at + fixed.size
    # Three bytes follow at least: the lengths of topic and properties.
    if body_at + 3 > end:
        raise _reject("size-formula", at, f"size {end - at} has no room for hosts as the flag has them")
    fields = fixed.unpack_from(data, at)
    body_length: int = fields[14]
    topic_at = body_at + body_length
    is_v2 = fields[1] == Magic.MESSAGE_V2
    if body_length < 0 or topic_at + 3 + is_v2 > end:
        raise _reject("size-formula", body_at - 4, f"body length {body_length} does not fit size {end - at}")
    topic_start, topic_end = _topic_bounds(data, topic_at, is_v2=is_v2)
    properties_at = topic_end + 2
    if properties_at > end:
        raise _reject("size-formula", topic_at, f"the topic does not fit size {end - at}")
    property_length: int = _INT16.unpack_from(data, topic_end)[0]
    if property_length < 0 or properties_at + property_length != end:
        raise _reject("size-formula", topic_end, f"the parts do not add up to size {end - at}")
    return fields, body_at, topic_at, topic_start, topic_end, end


def check_body(body: ReadableBytes, stated: int, at: int) -> None:
    """The body of the record at `at` has the CRC that the record states.

    Clause: store.record.body-crc
    """
    if derive_checksum(body) != stated:
        raise _reject("body-crc", at + 8, f"CRC {stated} is stated, the body has {derive_checksum(body)}")


def decode_hosts(fields: tuple[Any, ...], at: int, body_at: int) -> tuple[Host, Host]:
    """Born host and store host of the record at `at`.

    Clause: store.host.address-and-port
    """
    try:
        return decode_host(fields[9]), decode_host(fields[11])
    except Rejection:
        store_host_at = body_at - _BEHIND_STORE_HOST - len(fields[11])
        return _decode_host(fields[9], at + BORN_HOST_AT), _decode_host(fields[11], store_host_at)


def decode_record(
    data: ReadableBytes, at: int = 0, *, check_crc: bool = True, accept_v2: bool = False
) -> StoredMessage:
    """The message whose record starts at `at`; whatever stands behind the record is not looked at.

    Clauses: store.record.layout, store.record.size-formula, store.record.body-crc, store.record.magic,
    store.record.whole, store.record.topic-length, store.record.texts-are-utf8, store.record.second-version
    """
    fields, body_at, topic_at, topic_start, topic_end, end = locate_parts(data, at, accept_v2=accept_v2)
    body = bytes(data[body_at:topic_at])
    if check_crc:
        check_body(body, fields[2], at)
    born_host, store_host = decode_hosts(fields, at, body_at)
    return StoredMessage._make(
        (
            *fields[:9],
            born_host,
            fields[10],
            store_host,
            fields[12],
            fields[13],
            body,
            decode_text(data, topic_start, topic_end, "topic"),
            decode_text(data, topic_end + 2, end, "property string"),
        )
    )


def _encode_text(text: str, limit: int, clause: str, what: str) -> bytes:
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise _reject("texts-are-utf8", error.start, f"the {what} has no UTF-8 form") from None
    if len(data) > limit:
        raise _reject(clause, 0, f"the {what} has {len(data)} bytes, at most {limit} fit")
    return data


class RecordOrigin(NamedTuple):
    """What the records of one sender to one topic share, as bytes."""

    fixed: struct.Struct
    host_bits: int
    born_host: bytes
    store_host: bytes
    topic: bytes
    """With its length before it."""

    def derive_size(self, body_length: int, property_length: int) -> int:
        """The size of a record with these lengths.

        Clause: store.record.size-formula
        """
        return self.fixed.size + body_length + len(self.topic) + _INT16.size + property_length


@lru_cache(maxsize=4096)
def encode_origin(topic: str, born_host: Host, store_host: Host, magic: int) -> RecordOrigin:
    """What records from this host to this topic share; few of them write many messages, so it is remembered.

    Clauses: store.record.topic-length, store.flag.host-bits
    """
    is_v2 = magic == Magic.MESSAGE_V2
    limit = TOPIC_BYTES_LIMIT_V2 if is_v2 else TOPIC_BYTES_LIMIT
    data = _encode_text(topic, limit, "topic-length", "topic")
    if not data:
        raise _reject("topic-length", 0, "the topic is empty")
    host_bits = with_host_bits(0, born_ipv6=born_host.is_ipv6, store_ipv6=store_host.is_ipv6)
    length = _INT16.pack(len(data)) if is_v2 else bytes((len(data),))
    return RecordOrigin(
        _FIXED[host_bits], host_bits, encode_host(born_host), encode_host(store_host), length + data
    )


def encode_property_text(text: str) -> bytes:
    """The property string as it stands in a record, without its length.

    Clause: store.record.property-length
    """
    return _encode_text(text, PROPERTY_BYTES_LIMIT, "property-length", "property string")


def encode_parts(
    origin: RecordOrigin,
    before_hosts: tuple[int, ...],
    stored_at_ms: int,
    behind_hosts: tuple[int, int],
    texts: tuple[bytes, bytes],
) -> bytes:
    """The record's bytes.

    `before_hosts` are the fields from size to born time, `behind_hosts` the two behind the store
    host, `texts` the body and the property string.

    Clauses: store.record.layout, store.record.size-formula
    """
    body, properties = texts
    try:
        head = origin.fixed.pack(
            *before_hosts,
            origin.born_host,
            stored_at_ms,
            origin.store_host,
            *behind_hosts,
            len(body),
        )
    except struct.error as error:
        raise _reject("layout", 0, f"a field does not fit its place: {error}") from None
    return b"".join((head, body, origin.topic, _INT16.pack(len(properties)), properties))


def encode_record(record: StoredMessage) -> bytes:
    """The bytes that `decode_record` reads back; refuses a message whose fields do not fit or disagree.

    Clauses: store.record.layout, store.record.size-formula, store.record.property-length,
    store.flag.host-bits
    """
    origin = encode_origin(record.topic, record.born_host, record.store_host, record.magic)
    properties = encode_property_text(record.property_text)
    if record.system_flag & _HOST_BITS != origin.host_bits:
        raise Rejection("store.flag.host-bits", SYSTEM_FLAG_AT, "the host bits do not fit the hosts")
    data = encode_parts(origin, record[:9], record[10], record[12:14], (record.body, properties))
    if len(data) != record.size:
        raise _reject("size-formula", 0, f"size {record.size} is stated, the parts have {len(data)} bytes")
    return data
