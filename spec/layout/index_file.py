"""The index file: messages by key, as a hash table on disk, byte for byte.

    header    40 bytes
    slots     one 32-bit number each: the newest entry of the slot, 0 when there is none
    entries   20 bytes each: key hash, log position, seconds since the file began, the entry before

Entries are numbered from 1 and written in order; a slot is the head of a chain that leads from
newer to older entries. How a key finds its slot, and a reader its entries, is said in
`spec.layout.index_chain`.
"""

import struct
from typing import Final, NamedTuple

from spec.layout.record import ReadableBytes
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition, Count, Index, Milliseconds

HEADER_SIZE: Final = ByteCount(40)
SLOT_SIZE: Final = ByteCount(4)
ENTRY_SIZE: Final = ByteCount(20)

SLOTS_PER_FILE: Final = 5_000_000
"""Apache's default of maxHashSlotNum."""

ENTRIES_PER_FILE: Final = 20_000_000
"""Apache's default of maxIndexNum."""

FIRST_ENTRY: Final = Index(1)
"""Entry 0 is never used: 0 in a slot means that it is empty."""

_HEADER: Final = struct.Struct(">qqqqii")
_SLOT: Final = struct.Struct(">i")
_ENTRY: Final = struct.Struct(">iqii")
_CLAUSE: Final = "store.index.layout"


class IndexHeader(NamedTuple):
    """What a file covers and how full it is."""

    begin_at_ms: Milliseconds
    end_at_ms: Milliseconds
    begin_position: CommitLogPosition
    end_position: CommitLogPosition
    used_slots: Count
    next_entry: Index
    """The number that the next entry gets: Apache's index count."""


class IndexEntry(NamedTuple):
    """One key of one message."""

    key_hash: int
    position: CommitLogPosition
    seconds: int
    previous: Index


EMPTY_HEADER: Final = IndexHeader(
    Milliseconds(0), Milliseconds(0), CommitLogPosition(0), CommitLogPosition(0), Count(0), FIRST_ENTRY
)


def encode_header(header: IndexHeader) -> bytes:
    """The 40 bytes of a header; refuses numbers that do not fit their fields.

    Clause: store.index.layout
    """
    try:
        return _HEADER.pack(*header)
    except struct.error as error:
        raise Rejection(_CLAUSE, 0, f"{header} does not fit: {error}") from None


def decode_header(data: ReadableBytes) -> IndexHeader:
    """The header at the start of a file; a count of zero, as in a fresh file, reads as 1.

    Clause: store.index.layout
    """
    if len(data) < HEADER_SIZE:
        raise Rejection(_CLAUSE, 0, f"{len(data)} bytes are too few for a header")
    *stamps, used_slots, count = _HEADER.unpack_from(data)
    begin_at_ms, end_at_ms, begin_position, end_position = stamps
    next_entry = Index(max(count, FIRST_ENTRY))
    return IndexHeader(begin_at_ms, end_at_ms, begin_position, end_position, used_slots, next_entry)


def encode_entry(entry: IndexEntry) -> bytes:
    """The 20 bytes of an entry; refuses numbers that do not fit their fields.

    Clause: store.index.layout
    """
    try:
        return _ENTRY.pack(*entry)
    except struct.error as error:
        raise Rejection(_CLAUSE, 0, f"{entry} does not fit: {error}") from None


def decode_entry(data: ReadableBytes, at: int = 0) -> IndexEntry:
    """The entry at byte `at`.

    Clause: store.index.layout
    """
    if at < 0 or len(data) - at < ENTRY_SIZE:
        raise Rejection(_CLAUSE, at, f"{max(0, len(data) - at)} bytes are too few for an entry")
    return IndexEntry._make(_ENTRY.unpack_from(data, at))


def decode_slot(data: ReadableBytes, at: int) -> int:
    """The number in the slot at byte `at`, trustworthy or not.

    Clause: store.index.layout
    """
    if at < 0 or len(data) - at < SLOT_SIZE:
        raise Rejection(_CLAUSE, at, f"{max(0, len(data) - at)} bytes are too few for a slot")
    number: int = _SLOT.unpack_from(data, at)[0]
    return number


def derive_slot_position(slot: int) -> int:
    """The byte at which a slot stands.

    Clause: store.index.layout
    """
    return HEADER_SIZE + slot * SLOT_SIZE


def derive_entry_position(number: int, slots: int = SLOTS_PER_FILE) -> int:
    """The byte at which an entry stands; the place of entry 0 stays unused.

    Clause: store.index.layout
    """
    return HEADER_SIZE + slots * SLOT_SIZE + number * ENTRY_SIZE


def derive_file_size(slots: int = SLOTS_PER_FILE, entries: int = ENTRIES_PER_FILE) -> ByteCount:
    """The size of every index file of a store.

    Clause: store.index.layout
    """
    return ByteCount(derive_entry_position(entries, slots))
