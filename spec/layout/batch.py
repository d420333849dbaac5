"""The batch: many small messages in the body of one send request.

Each message of a batch is a short record of its own:

    size of the whole record   4
    magic                      4    zero
    CRC of the body            4    zero
    user flag                  4
    body                       4 + n
    property string            2 + n

Topic, queue, system flag and born time are those of the request. A broker looks at neither the
size, nor the magic, nor the CRC, so other clients may have written anything there; a reader that
trusted the size would lose its place. Stored, each record becomes a message like any other, and
its properties are joined with those of the request.
"""

import struct
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from spec.rejection import Rejection
from spec.values.property import CLUSTER, ENTRY_END, PROPERTY_BYTES_LIMIT, encode_properties

SMALLEST_ENTRY: Final = 22
"""All fields with nothing in body and properties."""

_FIXED: Final = struct.Struct(">iiiii")
_INT16: Final = struct.Struct(">h")


class BatchEntry(NamedTuple):
    """One message of a batch: what it does not share with the others."""

    flag: int
    body: bytes
    property_text: str


def _reject(at: int, reason: str) -> Rejection:
    return Rejection("store.batch.layout", at, reason)


def _decode_entry(data: bytes, at: int, *, check_size: bool) -> tuple[BatchEntry, int]:
    """The entry at `at`, and where the next one starts."""
    if len(data) - at < SMALLEST_ENTRY:
        raise _reject(at, f"{len(data) - at} bytes are too few for an entry")
    size, _magic, _crc, flag, body_length = _FIXED.unpack_from(data, at)
    body_at = at + _FIXED.size
    properties_at = body_at + body_length + _INT16.size
    if body_length < 0 or properties_at > len(data):
        raise _reject(body_at - 4, f"body length {body_length} does not fit {len(data)} bytes")
    property_length: int = _INT16.unpack_from(data, properties_at - _INT16.size)[0]
    end = properties_at + property_length
    if property_length < 0 or end > len(data):
        raise _reject(properties_at - _INT16.size, f"property length {property_length} does not fit")
    if check_size and size != end - at:
        raise Rejection("store.batch.size-is-ignored", at, f"size {size} is stated, the entry has {end - at}")
    try:
        property_text = data[properties_at:end].decode("utf-8")
    except UnicodeDecodeError as error:
        raise _reject(properties_at + error.start, "the property string is not UTF-8") from None
    return BatchEntry(flag, data[body_at : body_at + body_length], property_text), end


def decode_batch(data: bytes, *, check_size: bool = False) -> tuple[BatchEntry, ...]:
    """The messages in the body of a batch, in order.

    `check_size` demands the true size in each entry: true of Apache's own client, asked by no broker.

    Clauses: store.batch.layout, store.batch.size-is-ignored
    """
    entries: list[BatchEntry] = []
    at = 0
    while at < len(data):
        entry, at = _decode_entry(data, at, check_size=check_size)
        entries.append(entry)
    return tuple(entries)


def encode_batch(entries: Iterable[BatchEntry]) -> bytes:
    """The body of a batch; sizes are true, magic and CRC are zero.

    Clause: store.batch.layout
    """
    parts: list[bytes] = []
    for number, entry in enumerate(entries):
        try:
            properties = entry.property_text.encode("utf-8")
            fixed = _FIXED.pack(
                SMALLEST_ENTRY + len(entry.body) + len(properties), 0, 0, entry.flag, len(entry.body)
            )
        except (UnicodeEncodeError, struct.error) as error:
            raise _reject(number, f"message {number} has no batch form: {error}") from None
        if len(properties) > PROPERTY_BYTES_LIMIT:
            raise _reject(number, f"message {number} has {len(properties)} bytes of properties")
        parts += (fixed, entry.body, _INT16.pack(len(properties)), properties)
    return b"".join(parts)


def derive_shared_property_text(batch: Mapping[str, str], cluster: str) -> str:
    """The property string that all messages of a batch share: the request's, with the cluster's name."""
    return encode_properties({**batch, CLUSTER: cluster})


def join_property_texts(entry_text: str, shared: str) -> str:
    """The property string with which a message of a batch is stored.

    First its own properties as they came, then those that all share; a name in both is written
    twice and the later one counts.

    Clause: store.batch.properties-joined
    """
    needs_separator = entry_text and shared and not entry_text.endswith(ENTRY_END)
    return f"{entry_text}{ENTRY_END}{shared}" if needs_separator else entry_text + shared


def derive_stored_property_text(entry_text: str, batch: Mapping[str, str], cluster: str) -> str:
    """The property string of one message of a batch, from its own and from the request's properties.

    Clause: store.batch.properties-joined
    """
    return join_property_texts(entry_text, derive_shared_property_text(batch, cluster))
