"""Messages by key, over all index files of a store.

Index files follow one another in time. A query goes from the newest to the oldest, looks into
every file whose time meets the span that is asked for, and stops at the file that begins before
the span, or when it has enough. So the newest messages are found first, and a query for a recent
span does not read old files. The answer names its messages in the order of the log.

It can name too much: keys are kept as hashes, and a position may lead to a message of another key
or to one that retention has removed. Whoever asked compares, and passes over what is gone. Apache
asks up to three times when nothing of what it found could be read; the second question differs
from the first only if the oldest message became unreadable in between, so it is asked once here.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple

from spec.layout.index_chain import QUERY_LIMIT, derive_slot, has_time_overlap, query_chain
from spec.layout.index_file import FIRST_ENTRY, SLOTS_PER_FILE, IndexEntry, IndexHeader
from spec.values.units import CommitLogPosition, Count, Index, Milliseconds

UNIQUE_KEY_LIMIT: Final = Count(32)
"""How many are asked for when the key is a unique id: Apache's default of defaultQueryMaxNum."""


class IndexedFile(NamedTuple):
    """An index file as a query reads it."""

    header: IndexHeader
    read_slot: Callable[[int], int]
    """The number in a slot, trustworthy or not."""
    read_entry: Callable[[Index], IndexEntry]
    slots: int = SLOTS_PER_FILE


class KeyAnswer(NamedTuple):
    """Where messages with the key are, and how far the index had come."""

    positions: tuple[CommitLogPosition, ...]
    """In the order of the log."""
    indexed_ms: Milliseconds
    indexed_position: CommitLogPosition


NOTHING_INDEXED: Final = KeyAnswer((), Milliseconds(0), CommitLogPosition(0))


def find_newest(
    newest_first: Iterable[IndexedFile], key_hash: int, *, begin_ms: int, end_ms: int, limit: int
) -> tuple[CommitLogPosition, ...]:
    """Where the newest messages with this key hash and a store time in the span are, newest first.

    Clause: store.index.query-order
    """
    found: tuple[CommitLogPosition, ...] = ()
    for file in newest_first:
        header = file.header
        if header.next_entry == FIRST_ENTRY:
            # Nothing is in it, and its times are not its own.
            continue
        if has_time_overlap(header, begin_ms, end_ms):
            slot_number = file.read_slot(derive_slot(key_hash, file.slots))
            found += query_chain(
                header,
                slot_number,
                key_hash,
                file.read_entry,
                begin_ms=begin_ms,
                end_ms=end_ms,
                limit=limit - len(found),
            )
        if header.begin_at_ms < begin_ms or len(found) >= limit:
            break
    return found


def query_index(
    files: Sequence[IndexedFile], key_hash: int, *, begin_ms: int, end_ms: int, limit: int = QUERY_LIMIT
) -> KeyAnswer:
    """The newest messages with this key hash, at most 64, in the order of the log; `files` oldest first.

    Clauses: store.index.query-order, store.index.query-limit
    """
    if not files:
        return NOTHING_INDEXED
    found = find_newest(
        reversed(files), key_hash, begin_ms=begin_ms, end_ms=end_ms, limit=min(limit, QUERY_LIMIT)
    )
    last = files[-1].header
    return KeyAnswer(tuple(sorted(found)), last.end_at_ms, last.end_position)
