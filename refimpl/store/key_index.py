"""The key index: sealed files, and the one that is being written.

The slots of the file that is being written stand in memory; its entries go to disk as they come,
its slots and its header only when the file is sealed, full or at a clean stop. A crash therefore
leaves a file with an empty header, which recovery drops and builds again from the log: nothing of
a half-written hash table is ever believed.
"""

import struct
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta, tzinfo
from typing import Final

from refimpl.ports import DiskFile, sync_file
from refimpl.store.open_files import OpenFiles
from spec.layout.directory import INDEX_FOLDER, encode_index_name
from spec.layout.index_chain import derive_previous, derive_seconds
from spec.layout.index_file import (
    EMPTY_HEADER,
    ENTRY_SIZE,
    FIRST_ENTRY,
    HEADER_SIZE,
    SLOT_SIZE,
    IndexEntry,
    IndexHeader,
    decode_entry,
    decode_slot,
    derive_entry_position,
    derive_file_size,
    derive_slot_position,
    encode_header,
)
from spec.recovery.index import derive_vouched_index_ms
from spec.store.key_query import IndexedFile
from spec.values.units import CommitLogPosition, Count, Index, Milliseconds

_SLOT: Final = struct.Struct(">i")
_ENTRY: Final = struct.Struct(">iqii")
_NO_TIME: Final = Milliseconds(0)
_COPY_SIZE: Final = 1024 * 1024
"""How much is read and written again at once."""


class IndexShape:
    """How many slots and entries a file has."""

    def __init__(self, slots: int, entries: int) -> None:
        self.slots = slots
        self.entries = entries
        self.file_size = derive_file_size(slots, entries)


class IndexFile:
    """A file of the index; its slots stand in memory while keys are added."""

    def __init__(self, files: OpenFiles, name: str, shape: IndexShape, header: IndexHeader) -> None:
        self._files = files
        self.name = name
        self.path = f"{INDEX_FOLDER}/{name}"
        self._shape = shape
        (
            self._begin_at_ms,
            self._end_at_ms,
            self._begin_position,
            self._end_position,
            self._used_slots,
            self._next_entry,
        ) = header
        self._slots: bytearray | None = None
        self._waiting = bytearray()
        """Entries that are not on disk yet; the last one is number `next_entry` - 1."""
        self.is_sealed = True
        self._is_doubtful = False
        """A seal was begun and did not end."""

    @property
    def header(self) -> IndexHeader:
        """What the file covers and how full it is."""
        return IndexHeader(
            self._begin_at_ms,
            self._end_at_ms,
            self._begin_position,
            self._end_position,
            self._used_slots,
            self._next_entry,
        )

    @property
    def is_full(self) -> bool:
        """Whether no key fits any more.

        Clause: store.index.full
        """
        return self._next_entry >= self._shape.entries

    def put(self, key_hash: int, position: CommitLogPosition, stored_at_ms: Milliseconds) -> None:
        """The key is in the file, which has room for it: what `put_key` says, on the slots in memory.

        Clause: store.index.chain
        """
        slots = self._slots or self._load_slots()
        number = self._next_entry
        at = key_hash % self._shape.slots * SLOT_SIZE
        previous = derive_previous(_SLOT.unpack_from(slots, at)[0], number)
        seconds = derive_seconds(stored_at_ms, self._begin_at_ms)
        self._waiting += _ENTRY.pack(key_hash, position, seconds, previous)
        _SLOT.pack_into(slots, at, number)
        if number <= FIRST_ENTRY:
            self._begin_at_ms, self._begin_position = stored_at_ms, position
        if not previous:
            self._used_slots = Count(self._used_slots + 1)
        self._end_at_ms, self._end_position = stored_at_ms, position
        self._next_entry = Index(number + 1)

    def _load_slots(self) -> bytearray:
        data = self._files.get(self.path).read(HEADER_SIZE, self._shape.slots * SLOT_SIZE)
        self._slots = bytearray(data)
        self.is_sealed = False
        return self._slots

    def write_waiting(self) -> None:
        """All entries are in the file."""
        if self._waiting:
            first = self._next_entry - len(self._waiting) // ENTRY_SIZE
            at = derive_entry_position(first, self._shape.slots)
            self._files.get(self.path).write(at, self._waiting)
            self._waiting = bytearray()

    def seal(self) -> None:
        """Everything is on disk, the header last."""
        self.write_waiting()
        file = self._files.get(self.path)
        if self._is_doubtful:
            self._write_again(file)
        self._is_doubtful = True
        if self._slots is not None:
            file.write(HEADER_SIZE, self._slots)
        # The header vouches for the rest, so the rest is durable first.
        sync_file(file)
        file.write(0, encode_header(self.header))
        sync_file(file)
        self._files.disk.sync_folder(INDEX_FOLDER)
        self._is_doubtful = False
        self._slots = None
        self.is_sealed = True

    def _write_again(self, file: DiskFile) -> None:
        """All entries are dirty: after a failed sync the system counts them as clean."""
        at = derive_entry_position(FIRST_ENTRY, self._shape.slots)
        end = derive_entry_position(self._next_entry, self._shape.slots)
        for place in range(at, end, _COPY_SIZE):
            file.write(place, file.read(place, min(_COPY_SIZE, end - place)))

    def as_queried(self) -> IndexedFile:
        """The file as a query reads it."""
        return IndexedFile(self.header, self._read_slot, self.read_entry, self._shape.slots)

    def _read_slot(self, slot: int) -> int:
        if self._slots is not None:
            return decode_slot(self._slots, slot * SLOT_SIZE)
        return decode_slot(self._files.get(self.path).read(derive_slot_position(slot), SLOT_SIZE), 0)

    def read_entry(self, number: Index) -> IndexEntry:
        """The entry with this number."""
        at = derive_entry_position(number, self._shape.slots)
        return decode_entry(self._files.get(self.path).read(at, ENTRY_SIZE))


class KeyIndex:
    """All index files, the oldest first."""

    def __init__(self, files: OpenFiles, shape: IndexShape, zone: tzinfo) -> None:
        self._open_files = files
        self._shape = shape
        self._zone = zone
        self.files: list[IndexFile] = []
        self._last: IndexFile | None = None
        self._end_position = -1
        """The last message that has keys in the index."""
        self._end_keys = 0
        """How many of its keys are there: a file may become full between two keys of one message."""

    def load(self, kept: Sequence[tuple[str, IndexHeader]]) -> None:
        """The files that recovery keeps are in use again."""
        self.files = [IndexFile(self._open_files, name, self._shape, header) for name, header in kept]
        self._last = self.files[-1] if self.files else None
        if self.files and self.files[-1].header.next_entry > FIRST_ENTRY:
            self._end_position = self.files[-1].header.end_position
            self._end_keys = sum(1 for _ in self._last_entries())

    def _last_entries(self) -> Iterator[IndexEntry]:
        """The entries of the last indexed message, over file borders."""
        for file in reversed(self.files):
            for number in range(file.header.next_entry - 1, FIRST_ENTRY - 1, -1):
                entry = file.read_entry(Index(number))
                if entry.position != self._end_position:
                    return
                yield entry

    def put(self, key_hashes: Sequence[int], position: CommitLogPosition, stored_at_ms: Milliseconds) -> None:
        """The keys of a message are in the index, each once, however often the message is dispatched.

        Clause: store.index.dispatch-is-idempotent
        """
        if position < self._end_position:
            return
        if position > self._end_position:
            self._end_position, self._end_keys = position, 0
        for key_hash in key_hashes[self._end_keys :]:
            file = self._last
            if file is None or file.is_full:
                file = self._last = self._begin_file(stored_at_ms)
            file.put(key_hash, position, stored_at_ms)
            self._end_keys += 1

    def _begin_file(self, now_ms: Milliseconds) -> IndexFile:
        if self.files:
            self.files[-1].seal()
        file = IndexFile(self._open_files, self._new_name(now_ms), self._shape, self._first_header())
        self._open_files.create(file.path, self._shape.file_size)
        self.files.append(file)
        return file

    def _first_header(self) -> IndexHeader:
        """A new file begins with the end of the one before."""
        if not self.files:
            return EMPTY_HEADER
        last = self.files[-1].header
        return EMPTY_HEADER._replace(end_at_ms=last.end_at_ms, end_position=last.end_position)

    def _new_name(self, now_ms: int) -> str:
        """A name behind all others: they are read in the order of their names."""
        moment = datetime.fromtimestamp(now_ms / 1000, self._zone)
        while self.files and encode_index_name(moment) <= self.files[-1].name:
            moment += timedelta(milliseconds=1)
        return encode_index_name(moment)

    def write_waiting(self) -> None:
        """All entries can be read from the file."""
        if self.files:
            self.files[-1].write_waiting()

    def seal(self) -> None:
        """Everything is on disk."""
        if self.files and not self.files[-1].is_sealed:
            self.files[-1].seal()

    def vouched_ms(self) -> Milliseconds:
        """The time up to which the checkpoint may vouch for the index while the last file is written.

        Clause: store.checkpoint.index-time
        """
        if not self.files:
            return _NO_TIME
        previous_end_ms = self.files[-2].header.end_at_ms if len(self.files) > 1 else _NO_TIME
        # The first message of an empty file may still get the time of the last one before it.
        begin_ms = self.files[-1].header.begin_at_ms or previous_end_ms
        return Milliseconds(max(0, derive_vouched_index_ms(previous_end_ms, begin_ms)))

    def sealed_ms(self) -> Milliseconds:
        """The time up to which the index is on disk after a seal."""
        return self.files[-1].header.end_at_ms if self.files else _NO_TIME

    def remove_first(self, count: int) -> None:
        """The oldest files are gone."""
        for file in self.files[:count]:
            self._open_files.remove(file.path)
        del self.files[:count]
        self._last = self.files[-1] if self.files else None
