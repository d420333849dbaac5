"""How many slots the index files have.

Slots and entries share one file size, so the size alone does not tell: 40 + 4 slots + 20 entries.
If it is the size of the default shape, that shape counts. Otherwise the content decides: the first
and the last entry state the positions with which the header begins and ends, so wherever one of
these positions stands in the file, it gives a candidate. An entry fits a candidate if the slot of
its hash names it or a later entry, and the entry before it in its chain is of the same slot. The
candidate counts for which most things fit: the entries, their ends, and the unused place of entry
0. If not even half of them fit, none counts. So a damaged file is still told from one that is read
with the wrong shape.
"""

import struct
from collections.abc import Iterator
from itertools import chain, islice
from typing import Final, NamedTuple

from refimpl.store_check.source import BLOCK_SIZE, Source
from spec.layout.index_chain import derive_slot
from spec.layout.index_file import (
    ENTRIES_PER_FILE,
    ENTRY_SIZE,
    FIRST_ENTRY,
    HEADER_SIZE,
    SLOT_SIZE,
    SLOTS_PER_FILE,
    IndexEntry,
    IndexHeader,
    decode_entry,
    decode_header,
    derive_entry_position,
    derive_file_size,
    derive_slot_position,
)

LOOKED_AT: Final = 64
"""How many of the last entries are looked at; a decision."""

CANDIDATES_LIMIT: Final = 100
"""How many candidates are weighed; a decision: one message has fewer keys than that."""

_POSITION: Final = struct.Struct(">q")
_POSITION_IN_ENTRY: Final = 4


class IndexShape(NamedTuple):
    """How many slots and entries every index file has."""

    slots: int
    entries: int

    @property
    def file_size(self) -> int:
        """What follows from it."""
        return derive_file_size(self.slots, self.entries)


DEFAULT_SHAPE: Final = IndexShape(SLOTS_PER_FILE, ENTRIES_PER_FILE)


def _read_entry(source: Source, path: str, number: int, slots: int) -> IndexEntry | None:
    data = source.read(path, derive_entry_position(number, slots), ENTRY_SIZE)
    return decode_entry(data) if len(data) == ENTRY_SIZE else None


def _has_fit(source: Source, path: str, last: int, number: int, slots: int) -> bool:
    """Whether an entry agrees with its slot and with the entry before it."""
    entry = _read_entry(source, path, number, slots)
    if entry is None or entry.key_hash < 0 or not 0 <= entry.previous < number:
        return False
    slot = derive_slot(entry.key_hash, slots)
    named = int.from_bytes(source.read(path, derive_slot_position(slot), SLOT_SIZE), "big")
    before = _read_entry(source, path, entry.previous, slots) if entry.previous else entry
    return number <= named <= last and before is not None and before.key_hash % slots == slot


def _count_fits(source: Source, path: str, header: IndexHeader, slots: int) -> int:
    """How many things agree with each other if there are so many slots; 0 if most do not."""
    last = header.next_entry - 1
    numbers = range(max(1, last - LOOKED_AT + 1), last + 1)
    ends = ((header.begin_position, 1), (header.end_position, last))
    entries = [(position, _read_entry(source, path, number, slots)) for position, number in ends]
    fits = (
        not any(source.read(path, derive_entry_position(0, slots), ENTRY_SIZE)),
        *(entry is not None and entry.position == position for position, entry in entries),
        *(_has_fit(source, path, last, number, slots) for number in numbers),
    )
    return sum(fits) if 2 * sum(fits) > len(fits) and header.used_slots <= slots else 0


def _iter_candidates(source: Source, path: str, size: int, position: int, number: int) -> Iterator[int]:
    """The slot counts for which an entry of this number states this position."""
    wanted = _POSITION.pack(position)
    at = int(HEADER_SIZE)
    while at < size:
        data = source.read(path, at, BLOCK_SIZE)
        found = data.find(wanted)
        while found >= 0:
            entries_at = at + found - _POSITION_IN_ENTRY - number * ENTRY_SIZE
            slots, rest = divmod(entries_at - HEADER_SIZE, SLOT_SIZE)
            if rest == 0 and slots > 0 and (size - entries_at) % ENTRY_SIZE == 0:
                yield slots
            found = data.find(wanted, found + 1)
        if len(data) < BLOCK_SIZE:
            return
        at += len(data) - len(wanted) + 1


def infer_index_shape(source: Source, path: str, size: int) -> IndexShape | None:
    """The shape of an index file by its content; None if it holds too little to tell.

    Clauses: store.index.layout, store.index.chain
    """
    if size == DEFAULT_SHAPE.file_size:
        return DEFAULT_SHAPE
    data = source.read(path, 0, HEADER_SIZE)
    if len(data) < HEADER_SIZE:
        return None
    header = decode_header(data)
    last = header.next_entry - 1
    if last < FIRST_ENTRY:
        return None
    places = ((header.end_position, last), (header.begin_position, int(FIRST_ENTRY)))
    # Zero stands everywhere and tells nothing.
    searches = [
        _iter_candidates(source, path, size, position, number) for position, number in places if position > 0
    ]
    fits = {
        slots: _count_fits(source, path, header, slots)
        for slots in islice(chain.from_iterable(searches), CANDIDATES_LIMIT)
    }
    slots = max(fits, key=fits.__getitem__, default=0)
    if not fits.get(slots):
        return None
    return IndexShape(slots, (size - derive_entry_position(0, slots)) // ENTRY_SIZE)
