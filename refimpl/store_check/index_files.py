"""The index files of a store: which of them are read, and how much they are trusted."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from refimpl.ports import Entry
from refimpl.store_check.finding import Severity
from refimpl.store_check.index_entries import IndexEntries
from refimpl.store_check.index_shape import DEFAULT_SHAPE, IndexShape, infer_index_shape
from refimpl.store_check.situation import Situation
from spec.layout.checkpoint import Checkpoint
from spec.layout.directory import INDEX_FOLDER
from spec.layout.index_file import ENTRY_SIZE, HEADER_SIZE, IndexHeader, decode_header, derive_entry_position

_NAME_LENGTH: Final = 17
"""Digits of a file's name: the local time to the millisecond."""


def choose_index_files(situation: Situation, entries: Sequence[Entry]) -> list[Entry]:
    """The files that have the name of an index file; the others are known.

    Clause: store.index.file-name
    """
    chosen: list[Entry] = []
    for entry in entries:
        if len(entry.name) == _NAME_LENGTH and entry.name.isdigit() and not entry.is_folder:
            chosen.append(entry)
        else:
            reason = f"{entry.name[:40]!r} is not a file with a name of 17 digits"
            path = f"{INDEX_FOLDER}/{entry.name}"
            situation.add(Severity.ERROR, path, 0, "store.index.file-name", reason)
    return chosen


def choose_index_shape(
    situation: Situation, entries: Sequence[Entry], slots: int | None, count: int | None
) -> IndexShape | None:
    """The shape that was asked for, or that of the files; None and a note if it cannot be told."""
    counts = Counter(entry.size for entry in entries)
    size = max(counts, key=lambda size: (counts[size], size), default=None)
    if slots is not None and count is not None:
        return IndexShape(slots, count)
    if slots is not None:
        rest = (size or 0) - derive_entry_position(0, slots)
        return IndexShape(slots, rest // ENTRY_SIZE if rest > 0 else DEFAULT_SHAPE.entries)
    if count is not None:
        return IndexShape(max(1, ((size or 0) - HEADER_SIZE - count * ENTRY_SIZE) // 4), count)
    if size is None:
        return None
    for entry in entries:
        if entry.size == size:
            shape = infer_index_shape(situation.source, f"{INDEX_FOLDER}/{entry.name}", size)
            if shape is not None:
                return shape
    reason = f"the number of slots cannot be told from files of {size} bytes: use --index-slots"
    situation.add(Severity.NOTE, INDEX_FOLDER, 0, "store.index.layout", reason)
    return None


def _derive_flaw(header: IndexHeader, shape: IndexShape) -> tuple[int, str] | None:
    """The byte and the reason if a header cannot be that of a file of this shape."""
    if not 0 <= header.begin_position <= header.end_position:
        return 16, f"the file begins at position {header.begin_position} and ends at {header.end_position}"
    if not 0 <= header.begin_at_ms <= header.end_at_ms:
        return 0, f"the file begins at time {header.begin_at_ms} and ends at {header.end_at_ms}"
    if not 0 <= header.used_slots <= shape.slots:
        return 32, f"{header.used_slots} slots are used, there are {shape.slots}"
    if header.next_entry > shape.entries:
        return 36, f"the next entry is {header.next_entry}, the file has room for {shape.entries}"
    return None


def _open_file(
    situation: Situation, entry: Entry, shape: IndexShape, checkpoint: Checkpoint
) -> IndexEntries | None:
    path = f"{INDEX_FOLDER}/{entry.name}"
    if entry.size != shape.file_size:
        reason = f"the file has {entry.size} bytes, expected {shape.file_size}"
        situation.add(situation.healed, path, entry.size, "recovery.load.file-size", reason)
        return None
    data = situation.source.read_exactly(path, 0, HEADER_SIZE)
    if data is None:
        return None
    header = decode_header(data)
    is_dropped = not situation.is_clean_stop and header.end_at_ms > checkpoint.index_ms
    severity = Severity.NOTE if is_dropped else Severity.ERROR
    if is_dropped:
        reason = f"recovery drops the file: it reaches {header.end_at_ms}, safe is {checkpoint.index_ms}"
        situation.add(Severity.NOTE, path, 8, "recovery.index.drops-unsafe-file", reason)
    flaw = _derive_flaw(header, shape)
    if flaw is not None:
        situation.add(severity, path, flaw[0], "store.index.layout", flaw[1])
        return None
    return IndexEntries(situation, path, header, shape, severity) if header.next_entry > 1 else None


def iter_index_files(
    situation: Situation, entries: Sequence[Entry], shape: IndexShape, checkpoint: Checkpoint
) -> Iterator[IndexEntries]:
    """The files that can be read, oldest first, each opened when the one before it is done.

    Clauses: recovery.load.file-size, recovery.index.drops-unsafe-file
    """
    for entry in entries:
        opened = _open_file(situation, entry, shape, checkpoint)
        if opened is not None:
            yield opened
