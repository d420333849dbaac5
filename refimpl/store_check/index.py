"""The key index held against the log, both ways.

Keys enter the index in the order of the log, so entries and keys are two sequences that have to be
equal, from the position where the first file begins. Where they differ, the check looks for the
place from which they agree again: first where a damaged entry would have them agree (one entry a
key), then a little further on. What lies between is told entry by entry and key by key.

A file that recovery will drop, because it was being written when the broker was killed, may hold
anything: what is wrong with it is a note.
"""

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

from refimpl.store_check.finding import Severity
from refimpl.store_check.index_entries import IndexEntries
from refimpl.store_check.key_hash import hash_key_quickly
from refimpl.store_check.record_look import find_property, make_marker
from refimpl.store_check.situation import Situation
from spec.layout.directory import INDEX_FOLDER
from spec.layout.index_file import FIRST_ENTRY
from spec.layout.record_head import RecordHead
from spec.values.property import KEYS, UNIQUE_KEY, split_keys
from spec.values.system_flag import TRANSACTION_MASK, TransactionType

LOOK_AHEAD: Final = 8
"""How many entries that belong to no key are passed over at once; a decision."""
TOLD_LIMIT: Final = 64
"""How many missing keys are told one by one; a decision."""

_LOST_KEYS: Final = "recovery.index.rebuilt-from-last-kept"
_UNIQUE_MARKER: Final = make_marker(UNIQUE_KEY)
_KEYS_MARKER: Final = make_marker(KEYS)
_ROLLED_BACK: Final = int(TransactionType.ROLLBACK)


class _Wanted(NamedTuple):
    """A key that the index has to hold."""

    key_hash: int
    position: int


def derive_hashes(look: RecordHead) -> list[int]:
    """The hashes of a record's keys, in the order in which they enter the index.

    Clause: store.index.keys-of-a-message
    """
    if look.system_flag & TRANSACTION_MASK == _ROLLED_BACK:
        return []
    unique_key = find_property(look.property_text, _UNIQUE_MARKER)
    keys = find_property(look.property_text, _KEYS_MARKER)
    hashes = [hash_key_quickly(look.topic, key) for key in split_keys(keys)] if keys else []
    return [hash_key_quickly(look.topic, unique_key), *hashes] if unique_key else hashes


class IndexCheck:
    """The index while the log is read."""

    def __init__(self, situation: Situation, files: Iterable[IndexEntries]) -> None:
        """Begin with the oldest file; `files` makes one at a time."""
        self._situation = situation
        self._files = iter(files)
        self._file: IndexEntries | None = next(self._files, None)
        self._is_first = True
        self.is_there = self._file is not None
        self.keys = 0
        self._missing: deque[_Wanted] = deque()
        self._missing_count = 0
        self._last: tuple[int, list[int]] = (-1, [])
        self._outside_count = 0
        self._outside_position = 0
        self._unindexed_from: int | None = None
        self._last_path = self._file.path if self._file else ""

    def see_unindexed(self, look: RecordHead) -> None:
        """It is known from which position on keys are missing, in a store without an index."""
        if self._unindexed_from is None and derive_hashes(look):
            self._unindexed_from = look.position

    def see(self, look: RecordHead) -> None:
        """The record's keys were held against the index."""
        hashes = derive_hashes(look)
        if not hashes:
            return
        file = self._file
        if self._missing_count or not (
            file is not None and file.take_quickly(hashes, look.position, look.stored_at_ms)
        ):
            for key_hash in hashes:
                self._expect(key_hash, look.position, look.stored_at_ms)
        self.keys += len(hashes)
        self._last = look.position, hashes

    def _expect(self, key_hash: int, position: int, stored_at_ms: int) -> None:
        """The key was found in the index, or is known to be missing."""
        file = self._find(_Wanted(key_hash, position))
        found = file.peek() if file is not None else None
        if file is not None and found is not None:
            file.check_seconds(found[2], stored_at_ms)
            file.take()

    def _find(self, wanted: _Wanted) -> IndexEntries | None:
        """The file, standing at the entry of the key; None when there is no such entry."""
        file = self._pass_over()
        if file is None or (file.number == FIRST_ENTRY and wanted.position < file.header.begin_position):
            self._leave_outside(wanted, file)
            return None
        for ahead in (self._missing_count, *range(LOOK_AHEAD)):
            found = file.peek(ahead)
            if found is not None and found[:2] == wanted:
                self._settle(file, ahead)
                return file
        self._missing_count += 1
        if len(self._missing) < TOLD_LIMIT:
            self._missing.append(wanted)
        return None

    def _pass_over(self) -> IndexEntries | None:
        """The file with an entry that has to be explained, if there is one."""
        while (file := self._file) is not None:
            found = file.peek()
            if found is None:
                self._settle(file, 0)
                self._end_file(file)
            elif self._is_excused(found):
                file.take()
            else:
                return file
        return None

    def _is_excused(self, entry: tuple[int, int, int, int]) -> bool:
        """Whether the entry leads to a message that cannot be read, or that was indexed twice."""
        key_hash, position = entry[:2]
        if 0 <= position < self._situation.log_min or self._situation.is_lost(position):
            return True
        return position == self._last[0] and key_hash in self._last[1]

    def _settle(self, file: IndexEntries, entries: int) -> None:
        """So many entries belong to no key; each is told with the key that should stand there."""
        for _ in range(entries):
            found = file.peek()
            if found is not None:
                place = f"entry {file.number} says hash {found[0]} at position {found[1]}"
                wanted = self._missing.popleft() if self._missing else None
                should = f"the log has {wanted.key_hash} at {wanted.position}" if wanted else "no such key is"
                self._missing_count -= wanted is not None
                clause = "store.index.keys-of-a-message"
                file.report(file.place(file.number), clause, f"{place}, {should}")
            file.take()
        if self._missing_count:
            first = self._missing[0].position if self._missing else 0
            reason = f"keys of messages from position {first} on are not in the file: {self._missing_count}"
            at = file.place(file.number)
            file.report(at, "store.index.keys-of-a-message", reason)
        self._missing.clear()
        self._missing_count = 0

    def _leave_outside(self, wanted: _Wanted, file: IndexEntries | None) -> None:
        """A key lies before, between or behind the files."""
        if not self._outside_count:
            self._outside_position = wanted.position
        self._outside_count += 1
        if file is not None:
            self._last_path = file.path

    def _report_outside(self, severity: Severity, where: str) -> None:
        if self._outside_count:
            reason = f"keys of messages from position {self._outside_position} on lie {where}"
            count = self._outside_count
            self._situation.add(severity, self._last_path, 0, _LOST_KEYS, f"{reason}: {count}")
            self._outside_count = 0

    def _end_file(self, file: IndexEntries) -> None:
        """The file was read to its end; the next one is there."""
        file.finish()
        # After a crash Apache drops a file and indexes only what it reads again of the log.
        if self._is_first:
            self._report_outside(Severity.NOTE, "before the first index file")
        self._report_outside(Severity.WARNING, "between two index files")
        self._is_first = False
        self._last_path = file.path
        self._file = next(self._files, None)

    def finish(self, log_end: int) -> None:
        """Entries that no record asked for, and keys that no file holds, are known."""
        while (file := self._file) is not None:
            beyond = 0
            while (found := file.peek()) is not None:
                if found[1] >= log_end:
                    beyond += 1
                    file.take()
                elif self._is_excused(found):
                    file.take()
                else:
                    self._settle(file, 1)
            if beyond:
                reason = f"entries lead behind the end of the log: {beyond}"
                file.report(file.place(file.number - beyond), "recovery.index.within-the-log", reason)
            self._settle(file, 0)
            self._end_file(file)
        self._report_outside(self._situation.healed, "behind the last index file")
        if self._unindexed_from is not None:
            severity = Severity.WARNING if self._situation.is_clean_stop else Severity.NOTE
            reason = (
                f"there is no index file, and the log has keys from position {self._unindexed_from} on:"
                " no query finds them, unless the broker was told to keep no index"
            )
            self._situation.add(severity, INDEX_FOLDER, 0, _LOST_KEYS, reason)
