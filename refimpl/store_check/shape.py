"""What lies in a store's directory, and how large its files are meant to be.

Nothing in a store says with which sizes it was configured, but nearly all files of a sequence have
the one size. Where sizes disagree the most frequent one counts; among equals the one that explains
more of the names, because a file begins at a multiple of the size; then the larger one, because
files are cut off more often than they grow.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from refimpl.ports import Disk, Entry
from refimpl.store_check.finding import Findings, Severity
from spec.layout.commit_log_file import FILE_SIZE, decode_file_name
from spec.layout.consume_queue import UNIT_SIZE, UNITS_PER_FILE
from spec.layout.directory import (
    ABORT_FILE,
    CHECKPOINT_FILE,
    COMMIT_LOG_FOLDER,
    CONFIG_FOLDER,
    INDEX_FOLDER,
    LOCK_FILE,
    QUEUE_FOLDER,
    parse_queue_folder,
)
from spec.recovery.state import QueueName
from spec.rejection import Rejection
from spec.values.units import ByteCount

EXTENSION_FOLDER: Final = "consumequeue_ext"
"""Where Apache keeps what does not fit a unit, if it is told to."""
KNOWN_NAMES: Final = frozenset(
    {COMMIT_LOG_FOLDER, QUEUE_FOLDER, INDEX_FOLDER, CONFIG_FOLDER, CHECKPOINT_FILE, ABORT_FILE, LOCK_FILE}
)


class Piece(NamedTuple):
    """A file of a sequence: where in the sequence its first byte is."""

    path: str
    start: int
    size: int
    full_size: int
    """What its size should be; it has less if it was cut off."""

    @property
    def end(self) -> int:
        """Behind its last byte."""
        return self.start + self.size


class Listing(NamedTuple):
    """The names in a store's directory, good or not."""

    root: tuple[Entry, ...]
    log: tuple[Entry, ...]
    queues: Mapping[QueueName, tuple[Entry, ...]]
    index_files: tuple[Entry, ...]
    config: tuple[Entry, ...]

    def has(self, name: str) -> bool:
        """Whether the directory itself has this name."""
        return any(entry.name == name for entry in self.root)

    @property
    def is_clean_stop(self) -> bool:
        """Whether the store claims that its last stop was clean.

        Clause: recovery.start.abort-file
        """
        return not self.has(ABORT_FILE)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to judge: no log, and nothing that should follow from one."""
        return not self.log and not any(self.queues.values())

    @property
    def file_count(self) -> int:
        """How many files the parts have together."""
        parts = (self.log, self.index_files, self.config, *self.queues.values())
        return sum(not entry.is_folder for part in parts for entry in part)


def read_listing(disk: Disk, findings: Findings) -> Listing:
    """What is in the directory; folders of queues that are no number are noted and passed over.

    Clauses: store.directory.names, store.directory.queue-folders
    """
    queues: dict[QueueName, tuple[Entry, ...]] = {}
    for topic in disk.list_folder(QUEUE_FOLDER):
        for folder in disk.list_folder(f"{QUEUE_FOLDER}/{topic.name}") if topic.is_folder else ():
            path = f"{QUEUE_FOLDER}/{topic.name}/{folder.name}"
            queue_id = parse_queue_folder(folder.name) if folder.is_folder else None
            if queue_id is None:
                clause = "store.directory.queue-folders"
                findings.add(Severity.NOTE, path, 0, clause, "no folder of a queue: brokers pass it over")
                continue
            queues[QueueName(topic.name, queue_id)] = disk.list_folder(path)
    root = disk.list_folder("")
    for entry in root:
        if entry.name not in KNOWN_NAMES:
            clause = "store.directory.names"
            findings.add(Severity.NOTE, entry.name, 0, clause, "no name of a store of 4.9: not looked at")
    return Listing(
        root,
        disk.list_folder(COMMIT_LOG_FOLDER),
        queues,
        disk.list_folder(INDEX_FOLDER),
        disk.list_folder(CONFIG_FOLDER),
    )


def infer_size(entries: Iterable[Entry]) -> int | None:
    """The size that the files of a sequence are meant to have; None if there is nothing to go by."""
    files = [entry for entry in entries if not entry.is_folder and entry.size > 0]
    counts = Counter(entry.size for entry in files)
    starts = [int(entry.name) for entry in files if entry.name.isascii() and entry.name.isdigit()]

    def weigh(size: ByteCount) -> tuple[int, int, int]:
        return counts[size], sum(start % size == 0 for start in starts), size

    return max(counts, key=weigh, default=None)


def infer_log_file_size(listing: Listing) -> int:
    """The size of the log's files."""
    return infer_size(listing.log) or FILE_SIZE


def infer_units_per_file(listing: Listing) -> int:
    """How many units a queue's file has: one setting for all queues."""
    size = infer_size(entry for entries in listing.queues.values() for entry in entries)
    return max(1, size // UNIT_SIZE) if size else UNITS_PER_FILE


def _check_entry(
    folder: str, entry: Entry, file_size: int, findings: Findings, *, is_last: bool
) -> Piece | None:
    """The file with its place, or None and a finding."""
    path = f"{folder}/{entry.name}"
    if entry.is_folder:
        findings.add(Severity.ERROR, path, 0, "store.file.name", "a folder stands among the files")
        return None
    try:
        start = decode_file_name(entry.name, file_size)
    except Rejection as refusal:
        findings.add(Severity.ERROR, path, 0, refusal.clause, refusal.reason)
        return None
    if is_last and entry.size == 0:
        reason = "an empty last file: recovery removes it"
        findings.add(Severity.NOTE, path, 0, "recovery.load.empty-last-file", reason)
        return None
    if entry.size != file_size:
        reason = f"the file has {entry.size} bytes, the others have {file_size}"
        findings.add(Severity.ERROR, path, entry.size, "recovery.load.file-size", reason)
        # What is there is still read: a file that was cut off holds messages before the cut.
    return Piece(path, start, min(entry.size, file_size), file_size)


def arrange_pieces(
    folder: str, entries: tuple[Entry, ...], file_size: int, findings: Findings
) -> list[Piece]:
    """The files of a sequence in order; foreign names, other sizes and holes are found.

    Clauses: store.file.name, store.file.starts-are-multiples, recovery.load.file-size,
    recovery.load.no-hole, recovery.load.empty-last-file
    """
    pieces: list[Piece] = []
    for entry in entries:
        piece = _check_entry(folder, entry, file_size, findings, is_last=entry is entries[-1])
        if piece is None:
            continue
        due = pieces[-1].start + file_size if pieces else piece.start
        if piece.start != due:
            reason = f"no file begins at {due}, the next one is this"
            findings.add(Severity.ERROR, piece.path, 0, "recovery.load.no-hole", reason)
        pieces.append(piece)
    return pieces
