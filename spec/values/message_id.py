"""Message ids: where a message is stored, and who made it.

The *offset message id* is the broker's: store host and commit-log position, so a message can be
read with its id alone. The *unique id* is the client's: it is made before sending and stays the
same when a message is sent again. Both are upper-case hexadecimal, and both have 32 characters
with IPv4 and 56 with IPv6, so a text alone does not say which of the two it is.
"""

import struct
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from spec.rejection import Rejection
from spec.values.host import IPV4_HOST_SIZE, IPV6_HOST_SIZE, Host, decode_host, encode_host
from spec.values.java_literal import INT64_HIGHEST
from spec.values.units import CommitLogPosition, Milliseconds

IPV4_ID_LENGTH: Final = 32
IPV6_ID_LENGTH: Final = 56
BATCH_SEPARATOR: Final = ","
"""Stands between the ids of a batch."""

CLOCK_STEP_BACK_LIMIT_MS: Final = 1_000_000
"""How far the clock may be behind the start of the month and still count as zero."""

_POSITION: Final = struct.Struct(">q")
_UNIQUE_REST: Final = struct.Struct(">HiIH")
_HEX: Final = frozenset("0123456789ABCDEFabcdef")


class MessageId(NamedTuple):
    """Where a message is stored: the broker's own host and the position in its log."""

    store_host: Host
    position: CommitLogPosition


class UniqueId(NamedTuple):
    """Who made a message and when, as fine as the producing process could tell."""

    address: bytes
    process_id: int
    """The low 16 bits."""
    loader_hash: int
    """The hash of the Java class loader: tells apart two clients in one process."""
    elapsed_ms: Milliseconds
    """Since local midnight of the first day of the month; 31 days need all 32 bits, unsigned."""
    counter: int
    """The low 16 bits of a counter of the process."""


def _decode_hex(text: str, clause: str) -> bytes:
    if len(text) not in (IPV4_ID_LENGTH, IPV6_ID_LENGTH):
        raise Rejection(clause, 0, f"an id has 32 or 56 characters, found {len(text)}")
    at = next((n for n, digit in enumerate(text) if digit not in _HEX), None)
    if at is not None:
        raise Rejection(clause, at, f"{text[at]!r} is not a hexadecimal digit")
    return bytes.fromhex(text)


def encode_message_id(identifier: MessageId) -> str:
    """The offset message id as text; refuses what `decode_message_id` would refuse.

    Clause: store.id.offset-id-layout
    """
    if not 0 <= identifier.position <= INT64_HIGHEST:
        raise Rejection("store.id.offset-id-layout", 0, f"no record stands at {identifier.position}")
    return (encode_host(identifier.store_host) + _POSITION.pack(identifier.position)).hex().upper()


def decode_message_id(text: str) -> MessageId:
    """Host and position in an offset message id of 32 (IPv4) or 56 (IPv6) characters.

    Clause: store.id.offset-id-layout
    """
    data = _decode_hex(text, "store.id.offset-id-layout")
    host_size = IPV4_HOST_SIZE if len(text) == IPV4_ID_LENGTH else IPV6_HOST_SIZE
    position: int = _POSITION.unpack_from(data, host_size)[0]
    if position < 0:
        raise Rejection("store.id.offset-id-layout", host_size * 2, f"position {position} is negative")
    try:
        host = decode_host(data[:host_size])
    except Rejection as refusal:
        raise Rejection(refusal.clause, refusal.position * 2, refusal.reason) from None
    return MessageId(host, CommitLogPosition(position))


def encode_message_ids(store_host: Host, positions: Sequence[CommitLogPosition]) -> str:
    """The id of a batch that one broker stored: the ids of its messages joined by commas.

    Clause: store.id.batch-ids-joined
    """
    if len(positions) == 1 or min(positions, default=-1) < 0 or max(positions) > INT64_HIGHEST:
        return join_message_ids(MessageId(store_host, position) for position in positions)
    host = encode_host(store_host)
    return BATCH_SEPARATOR.join([(host + _POSITION.pack(position)).hex() for position in positions]).upper()


def join_message_ids(identifiers: Iterable[MessageId]) -> str:
    """The id of a batch: the ids of its messages joined by commas.

    Clause: store.id.batch-ids-joined
    """
    return BATCH_SEPARATOR.join(map(encode_message_id, identifiers))


def split_message_ids(text: str) -> tuple[MessageId, ...]:
    """The ids in the id of a batch, in order.

    Clause: store.id.batch-ids-joined
    """
    identifiers: list[MessageId] = []
    at = 0
    for part in text.split(BATCH_SEPARATOR):
        try:
            identifiers.append(decode_message_id(part))
        except Rejection as refusal:
            raise refusal.shifted(at) from None
        at += len(part) + len(BATCH_SEPARATOR)
    return tuple(identifiers)


def encode_unique_id(identifier: UniqueId) -> str:
    """The unique id as text; every number is cut to the low bits that its field holds.

    The address has 4 or 16 bytes; a host that knows none of its own puts the low bytes of the time there.

    Clause: store.id.unique-id-layout
    """
    text_length = (len(identifier.address) + _UNIQUE_REST.size) * 2
    if text_length not in (IPV4_ID_LENGTH, IPV6_ID_LENGTH):
        reason = f"an address has 4 or 16 bytes, found {len(identifier.address)}"
        raise Rejection("store.id.unique-id-layout", 0, reason)
    rest = _UNIQUE_REST.pack(
        identifier.process_id & 0xFFFF,
        (identifier.loader_hash + 0x8000_0000) % 0x1_0000_0000 - 0x8000_0000,
        identifier.elapsed_ms & 0xFFFF_FFFF,
        identifier.counter & 0xFFFF,
    )
    return (identifier.address + rest).hex().upper()


def decode_unique_id(text: str) -> UniqueId:
    """The parts of a unique id of 32 (IPv4) or 56 (IPv6) characters.

    Clause: store.id.unique-id-layout
    """
    data = _decode_hex(text, "store.id.unique-id-layout")
    at = len(data) - _UNIQUE_REST.size
    process_id, loader_hash, elapsed_ms, counter = _UNIQUE_REST.unpack_from(data, at)
    return UniqueId(data[:at], process_id, loader_hash, Milliseconds(elapsed_ms), counter)


def derive_elapsed_ms(now_ms: int, month_start_ms: int) -> Milliseconds:
    """The time part of a unique id: a clock that stepped back a little counts as zero.

    Clause: store.id.unique-id-layout
    """
    elapsed_ms = now_ms - month_start_ms
    return Milliseconds(0 if -CLOCK_STEP_BACK_LIMIT_MS < elapsed_ms < 0 else elapsed_ms)
