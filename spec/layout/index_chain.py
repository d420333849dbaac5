"""The chains of an index file: how a key gets an entry and how entries are found.

A key is kept under the hash of `topic#key`; the hash chooses a slot, the slot names the newest
entry, every entry names the one before it. The file never stores a key: two keys with one hash
are found together, and whoever asked has to compare. A crash may leave a slot that points at an
entry which was never written, or an entry whose predecessor is nonsense, so a number is trusted
only if it lies below the count, and a chain is followed only downwards. (Apache stops only at an
entry that points at itself; a longer circle would keep it busy.)
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from spec.layout.index_file import ENTRIES_PER_FILE, FIRST_ENTRY, SLOTS_PER_FILE, IndexEntry, IndexHeader
from spec.values import property as known
from spec.values.java_text import hash_text
from spec.values.system_flag import TransactionType, transaction_type
from spec.values.units import CommitLogPosition, Count, Index, Milliseconds

SECONDS_LIMIT: Final = 0x7FFF_FFFF
"""Largest value of the field; later messages are kept under it."""

QUERY_LIMIT: Final = Count(64)
"""Apache's default of maxMsgsNumBatch: one query returns no more."""


class IndexPut(NamedTuple):
    """What adding a key writes: the entry under its number, that number into the slot, the header."""

    number: Index
    entry: IndexEntry
    header: IndexHeader


def derive_key_hash(code: int) -> int:
    """The hash under which a key is kept: the absolute value of its Java hash, 0 for the one without.

    Clause: store.index.key-hash
    """
    return 0 if code == -(2**31) else abs(code)


def hash_key(topic: str, key: str) -> int:
    """The hash of a key of a topic: of the text `topic#key`.

    Clause: store.index.key-hash
    """
    return derive_key_hash(hash_text(f"{topic}#{key}"))


def derive_slot(key_hash: int, slots: int = SLOTS_PER_FILE) -> int:
    """The slot of a hash.

    Clause: store.index.key-hash
    """
    return key_hash % slots


def derive_keys(properties: Mapping[str, str], system_flag: int) -> tuple[str, ...]:
    """The keys under which a message is indexed: its unique id, then the user's; none if rolled back.

    Clause: store.index.keys-of-a-message
    """
    if transaction_type(system_flag) is TransactionType.ROLLBACK:
        return ()
    unique_key = properties.get(known.UNIQUE_KEY)
    return ((unique_key,) if unique_key else ()) + known.split_keys(properties.get(known.KEYS, ""))


def is_already_indexed(position: int, header: IndexHeader) -> bool:
    """Whether a message lies before the end of the current file, so that its keys are there.

    Clause: store.index.dispatch-is-idempotent
    """
    return position < header.end_position


def derive_previous(slot_number: int, next_entry: int) -> Index:
    """The entry that a slot points at, 0 if its number cannot be trusted.

    Clause: store.index.chain
    """
    return Index(slot_number if 0 < slot_number < next_entry else 0)


def derive_seconds(stored_at_ms: int, begin_at_ms: int) -> int:
    """The time in an entry: whole seconds since the file began, never negative.

    Clause: store.index.seconds
    """
    if begin_at_ms <= 0:
        return 0
    return min(max((stored_at_ms - begin_at_ms) // 1000, 0), SECONDS_LIMIT)


def put_key(
    header: IndexHeader,
    slot_number: int,
    key_hash: int,
    position: CommitLogPosition,
    stored_at_ms: Milliseconds,
    *,
    entries: int = ENTRIES_PER_FILE,
) -> IndexPut | None:
    """What is written for one more key, or None when the file is full.

    Clauses: store.index.chain, store.index.full
    """
    if header.next_entry >= entries:
        return None
    is_first = header.next_entry <= FIRST_ENTRY
    seconds = derive_seconds(stored_at_ms, header.begin_at_ms)
    previous = derive_previous(slot_number, header.next_entry)
    after = IndexHeader(
        begin_at_ms=stored_at_ms if is_first else header.begin_at_ms,
        end_at_ms=stored_at_ms,
        begin_position=position if is_first else header.begin_position,
        end_position=position,
        used_slots=Count(header.used_slots + (previous == 0)),
        next_entry=Index(header.next_entry + 1),
    )
    return IndexPut(header.next_entry, IndexEntry(key_hash, position, seconds, previous), after)


def iter_chain(
    slot_number: int, next_entry: int, read_entry: Callable[[Index], IndexEntry]
) -> Iterator[IndexEntry]:
    """The entries of a slot from newest to oldest; ends, whatever the file holds.

    Clause: store.index.chain
    """
    number = derive_previous(slot_number, next_entry)
    while number:
        entry = read_entry(number)
        yield entry
        # An older entry has a lower number; anything else is damage.
        number = derive_previous(entry.previous, number)


def query_chain(
    header: IndexHeader,
    slot_number: int,
    key_hash: int,
    read_entry: Callable[[Index], IndexEntry],
    *,
    begin_ms: int,
    end_ms: int,
    limit: int = QUERY_LIMIT,
) -> tuple[CommitLogPosition, ...]:
    """Where messages with this key hash and a store time in the span are, newest first.

    Store times are known to the second only, counted from the file's first message.

    Clauses: store.index.chain, store.index.collisions-are-returned, store.index.query-limit
    """
    found: list[CommitLogPosition] = []
    for entry in iter_chain(slot_number, header.next_entry, read_entry):
        if len(found) >= limit or entry.seconds < 0:
            break
        stored_at_ms = header.begin_at_ms + entry.seconds * 1000
        if entry.key_hash == key_hash and begin_ms <= stored_at_ms <= end_ms:
            found.append(entry.position)
        if stored_at_ms < begin_ms:
            break
    return tuple(found)


def has_time_overlap(header: IndexHeader, begin_ms: int, end_ms: int) -> bool:
    """Whether a query for this span has to look into the file.

    Clause: store.index.query-limit
    """
    return begin_ms <= header.end_at_ms and end_ms >= header.begin_at_ms
