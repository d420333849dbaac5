"""One index file, entry by entry, with its chains.

Entries are numbered in the order in which keys came. Whoever reads them in that order knows at
each one what its slot named before, so a chain is checked without following it: the entry has to
name just that. At the end the slots have to name the last entry of each chain. The numbers of one
file's slots are kept in memory meanwhile, 20 MB with the default shape.
"""

import struct
from array import array
from sys import byteorder
from typing import Final

from refimpl.store_check.finding import Severity
from refimpl.store_check.index_shape import IndexShape
from refimpl.store_check.situation import Situation
from spec.layout.index_chain import derive_seconds, derive_slot
from spec.layout.index_file import (
    ENTRY_SIZE,
    FIRST_ENTRY,
    SLOT_SIZE,
    IndexHeader,
    derive_entry_position,
    derive_slot_position,
)

WINDOW_ENTRIES: Final = 1000
"""Entries in memory; a decision."""

_ENTRY: Final = struct.Struct(">iqii")


class IndexEntries:
    """The entries of a file from the first one on."""

    def __init__(
        self, situation: Situation, path: str, header: IndexHeader, shape: IndexShape, severity: Severity
    ) -> None:
        """Begin at the first entry; `severity` is that of what is wrong with the file."""
        self._situation = situation
        self.path = path
        self.header = header
        self._shape = shape
        self.severity = severity
        self.number = int(FIRST_ENTRY)
        self._window: list[tuple[int, int, int, int]] = []
        self._window_first = 1
        self._heads = array("i", bytes(shape.slots * SLOT_SIZE))
        self._used_slots = 0
        self._last_position = 0

    def place(self, number: int) -> int:
        """The byte at which an entry stands."""
        return derive_entry_position(number, self._shape.slots)

    def report(self, at: int, clause: str, reason: str) -> None:
        """It is known what is wrong at a byte of the file."""
        self._situation.add(self.severity, self.path, at, clause, reason)

    @property
    def is_exhausted(self) -> bool:
        """Whether all entries were taken."""
        return self.number >= self.header.next_entry

    def peek(self, ahead: int = 0) -> tuple[int, int, int, int] | None:
        """Hash, position, seconds and predecessor of the entry so far ahead; None behind the last."""
        number = self.number + ahead
        at = number - self._window_first
        if 0 <= at < len(self._window):
            return self._window[at]
        count = min(WINDOW_ENTRIES, self.header.next_entry - number)
        if count <= 0:
            return None
        data = self._situation.source.read_exactly(self.path, self.place(number), count * ENTRY_SIZE)
        if data is None:
            return None
        self._window, self._window_first = list(_ENTRY.iter_unpack(data)), number
        return self._window[0]

    def take(self) -> None:
        """The entry at the place is behind it now; its chain was checked."""
        found = self.peek()
        number = self.number
        self.number += 1
        if found is None:
            return
        key_hash, self._last_position, _seconds, previous = found
        if key_hash < 0:
            self.report(self.place(number), "store.index.key-hash", f"entry {number} has hash {key_hash}")
            return
        slot = derive_slot(key_hash, self._shape.slots)
        named = self._heads[slot]
        if previous != named:
            reason = f"entry {number} names entry {previous} before it, its slot named {named}"
            self.report(self.place(number) + 16, "store.index.chain", reason)
        self._used_slots += previous == 0
        self._heads[slot] = number

    def take_quickly(self, hashes: list[int], position: int, stored_at_ms: int) -> bool:
        """Whether the next entries are surely those of a message; then, and only then, they are taken."""
        at = self.number - self._window_first
        entries = self._window[at : at + len(hashes)]
        if len(entries) != len(hashes) or at < 1:
            return False
        begin_at_ms = self.header.begin_at_ms
        seconds = (stored_at_ms - begin_at_ms) // 1000 if 0 < begin_at_ms <= stored_at_ms else -1
        heads, slots, number, fresh = self._heads, self._shape.slots, self.number, 0
        for key_hash, found in zip(hashes, entries, strict=True):
            slot = key_hash % slots
            if found != (key_hash, position, seconds, heads[slot]):
                # What was noted of the message's earlier keys is taken back.
                for entry in entries[: number - self.number]:
                    heads[entry[0] % slots] = entry[3]
                return False
            fresh += found[3] == 0
            heads[slot] = number
            number += 1
        self.number, self._last_position = number, position
        self._used_slots += fresh
        return True

    def check_seconds(self, seconds: int, stored_at_ms: int) -> None:
        """The time in the entry at the place is that of its message.

        The first entry counts from the end of the file before, which nothing says any more.
        """
        expected = derive_seconds(stored_at_ms, self.header.begin_at_ms)
        if seconds != expected and self.number > FIRST_ENTRY:
            reason = f"entry {self.number} says {seconds} seconds, its message {expected}"
            self.report(self.place(self.number) + 12, "store.index.seconds", reason)

    def finish(self) -> None:
        """Slots and header agree with the entries, all of which were taken."""
        self._check_slots()
        header = self.header
        if header.used_slots != self._used_slots:
            reason = f"the header counts {header.used_slots} used slots, the entries {self._used_slots}"
            self.report(32, "store.index.layout", reason)
        if header.end_position != self._last_position:
            reason = (
                f"the header ends at position {header.end_position}, the last entry {self._last_position}"
            )
            self.report(24, "store.index.layout", reason)

    def _check_slots(self) -> None:
        """Every slot names the last entry of its chain."""
        heads = self._heads
        if byteorder == "little":
            heads.byteswap()
        expected = memoryview(heads).cast("B")
        begin = derive_slot_position(0)
        end = begin + len(expected)
        for at, data in self._situation.source.iter_blocks(self.path, begin, end):
            inside = at - begin
            if data == expected[inside : inside + len(data)]:
                continue
            for place in range(0, len(data) - SLOT_SIZE + 1, SLOT_SIZE):
                found = data[place : place + SLOT_SIZE]
                wanted = bytes(expected[inside + place : inside + place + SLOT_SIZE])
                if found != wanted:
                    slot = (inside + place) // SLOT_SIZE
                    numbers = int.from_bytes(found, "big", signed=True), int.from_bytes(wanted, "big")
                    reason = (
                        f"slot {slot} names entry {numbers[0]}, the last one of its chain is {numbers[1]}"
                    )
                    self.report(at + place, "store.index.chain", reason)
