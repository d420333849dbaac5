"""A whole store, judged: the log in one pass, everything else along with it or after it.

Memory does not grow with the log: the pass keeps one window of the log, a few units a queue, the
slots of one index file, and the findings. Nothing is written, created or locked, so a store may be
looked at while a broker works on it; what differs then because time passed is a note.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from refimpl.ports import Disk
from refimpl.store_check.checkpoint import check_times, read_checkpoint
from refimpl.store_check.config import ConfigCheck
from refimpl.store_check.finding import Finding, Findings, Severity
from refimpl.store_check.index import IndexCheck
from refimpl.store_check.index_files import choose_index_files, choose_index_shape, iter_index_files
from refimpl.store_check.log import NO_LOG, LogCheck, LogFacts
from refimpl.store_check.queues import QueueTable
from refimpl.store_check.shape import (
    EXTENSION_FOLDER,
    Listing,
    Piece,
    arrange_pieces,
    infer_log_file_size,
    infer_units_per_file,
    read_listing,
)
from refimpl.store_check.situation import Situation
from refimpl.store_check.source import Source
from spec.layout.checkpoint import Checkpoint, derive_safe_time
from spec.layout.directory import COMMIT_LOG_FOLDER
from spec.layout.record_head import RecordHead
from spec.recovery.log_start import FileHead, derive_crash_start, read_file_head
from spec.recovery.store_file import LoadedFile
from spec.values.units import ByteCount, CommitLogPosition


class Sizes(NamedTuple):
    """The sizes with which a store was configured; None is told from the files."""

    log_file_size: int | None = None
    units_per_file: int | None = None
    index_slots: int | None = None
    index_entries: int | None = None


DEFAULT_SIZES: Final = Sizes()
"""All told from the files."""


class Report(NamedTuple):
    """What is known after the check."""

    files: int
    log_bytes: int
    facts: LogFacts
    queues: int
    keys: int
    is_clean_stop: bool
    findings: Sequence[Finding]
    left_out: int
    counts: dict[Severity, int]

    @property
    def has_error(self) -> bool:
        """Whether anything is wrong that must not be."""
        return self.counts[Severity.ERROR] > 0


class NotAStore(Exception):
    """A directory in which there is nothing to judge."""


def open_listing(disk: Disk, findings: Findings) -> Listing:
    """What is in the directory; refuses one that is not a store's, or that holds nothing."""
    root = disk.list_folder("")
    if not any(entry.is_folder and entry.name == COMMIT_LOG_FOLDER for entry in root):
        raise NotAStore(f"not a store: it has no folder {COMMIT_LOG_FOLDER}")
    listing = read_listing(disk, findings)
    if listing.is_empty:
        raise NotAStore("the store is empty: its log has no files")
    return listing


def _derive_walk_start(source: Source, pieces: Sequence[Piece], checkpoint: Checkpoint) -> int:
    """The position from which recovery reads the log again after a crash.

    Clause: recovery.start.crash
    """

    def read_head(piece: Piece) -> FileHead:
        return read_file_head(
            LoadedFile(
                CommitLogPosition(piece.start),
                ByteCount(piece.size),
                lambda at, length: source.read(piece.path, at, length),
            )
        )

    if not pieces:
        return 0
    heads = [read_head(piece) for piece in pieces]
    return pieces[derive_crash_start(heads, derive_safe_time(checkpoint))].start


class _Pass:
    """One pass over the log with all that is compared on the way."""

    def __init__(self, situation: Situation, listing: Listing, sizes: Sizes) -> None:
        """The files are in order, and nothing of the log was read."""
        log_file_size = sizes.log_file_size or infer_log_file_size(listing)
        units_per_file = sizes.units_per_file or infer_units_per_file(listing)
        self._situation = situation
        self.pieces = arrange_pieces(COMMIT_LOG_FOLDER, listing.log, log_file_size, situation.findings)
        for before, after in zip(self.pieces, self.pieces[1:], strict=False):
            situation.lose(before.start + log_file_size, after.start)
        situation.log_min = self.pieces[0].start if self.pieces else 0
        self.checkpoint = read_checkpoint(situation, listing)
        situation.walk_start = _derive_walk_start(situation.source, self.pieces, self.checkpoint)
        self.queues = QueueTable(situation, listing.queues, units_per_file)
        self._has_index = bool(entries := choose_index_files(situation, listing.index_files))
        shape = choose_index_shape(situation, entries, sizes.index_slots, sizes.index_entries)
        files = iter_index_files(situation, entries, shape, self.checkpoint) if shape else ()
        self.index = IndexCheck(situation, files)

    def run(self, listing: Listing, advance: Callable[[int], None]) -> tuple[LogFacts, int]:
        """Everything was compared; what the log holds, and how many queues there are."""
        if not self.pieces:
            # Recovery removes whatever followed from the log, so there is nothing to compare.
            self.queues.report_no_log()
            return NO_LOG, len(listing.queues)
        facts = self._walk(advance)
        ranges = self.queues.finish(facts.end)
        self.index.finish(facts.end)
        check_times(self._situation, self.checkpoint, facts.last_stored_at_ms)
        ConfigCheck(self._situation, listing, ranges).run()
        return facts, len(ranges)

    def _walk(self, advance: Callable[[int], None]) -> LogFacts:
        """The log was read; queues and index were compared up to its end."""
        see_unit, see_keys = self.queues.see, self.index.see
        if not self._has_index:
            see_keys = self.index.see_unindexed

        def see_both(look: RecordHead, path: str) -> None:
            see_unit(look, path)
            see_keys(look)

        # Of files that are there and cannot be used it was said why.
        see = see_both if self.index.is_there or not self._has_index else see_unit
        return LogCheck(self._situation, self.pieces, see, advance).run()


def verify_store(
    disk: Disk, sizes: Sizes = DEFAULT_SIZES, *, advance: Callable[[int], None] = lambda _size: None
) -> Report:
    """What is wrong with a store, if anything; `advance` hears how many bytes of the log were read.

    Clauses: recovery.state.follows-from-log, guarantee.sto.one-message-per-offset
    """
    findings = Findings()
    listing = open_listing(disk, findings)
    situation = Situation(Source(disk, findings), findings, is_clean_stop=listing.is_clean_stop)
    situation.has_extension = listing.has(EXTENSION_FOLDER)
    work = _Pass(situation, listing, sizes)
    facts, queues = work.run(listing, advance)
    return Report(
        files=listing.file_count,
        log_bytes=sum(piece.size for piece in work.pieces),
        facts=facts,
        queues=queues,
        keys=work.index.keys,
        is_clean_stop=listing.is_clean_stop,
        findings=tuple(findings.kept),
        left_out=findings.left_out,
        counts={severity: findings.counts[severity] for severity in Severity},
    )
