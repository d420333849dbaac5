"""The log: whether it is one unbroken chain of records up to its end.

The end is where the first thing stands that is no record, in the last file that holds anything.
Behind it everything is zero: the rest of that file, and up to two files that were made ahead. The
same sight in an earlier file is damage, because somebody went on writing behind it. At the end a
crash may have left half a record; recovery cuts there, and says so nowhere, so the check does.
"""

from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

from refimpl.store_check.finding import Severity
from refimpl.store_check.log_walk import find_record_behind, walk_piece
from refimpl.store_check.record_look import RecordReader
from refimpl.store_check.shape import Piece
from refimpl.store_check.situation import Situation
from spec.layout.commit_log_file import FILES_AHEAD
from spec.layout.record_head import RecordHead
from spec.layout.record_walk import Stop, StopKind
from spec.layout.stored_message import BLANK_SIZE


class LogFacts(NamedTuple):
    """What the walk over the log found."""

    records: int
    record_bytes: int
    end: int
    """The position behind the last record, or of the last blank one."""
    last_stored_at_ms: int


NO_LOG: Final = LogFacts(0, 0, 0, 0)


class LogCheck:
    """One pass over the log; every record is shown to `see`."""

    def __init__(
        self,
        situation: Situation,
        pieces: Sequence[Piece],
        see: Callable[[RecordHead, str], None],
        advance: Callable[[int], None],
    ) -> None:
        """Begin at the first file."""
        self._situation = situation
        self._pieces = pieces
        self._see = see
        self._advance = advance
        self._reader = RecordReader()
        self._last: RecordHead | None = None
        self._records = 0
        self._record_bytes = 0

    def run(self) -> LogFacts:
        """The log was read to its end, and what is wrong with it is known."""
        end = self._pieces[0].start if self._pieces else 0
        for number, piece in enumerate(self._pieces):
            stop = self._walk(piece)
            while (behind := self._pass_damage(number, stop)) is not None:
                stop = self._walk(piece, behind)
            end = piece.start + stop.at
            if not self._goes_on(number, stop):
                break
        last_stored_at_ms = self._last.stored_at_ms if self._last else 0
        return LogFacts(self._records, self._record_bytes, end, last_stored_at_ms)

    def _walk(self, piece: Piece, first: int = 0) -> Stop:
        """Why the file ends; its records from a byte on are seen."""
        see = self._see
        stored_at_ms = self._last.stored_at_ms if self._last else 0
        for item in walk_piece(self._situation.source, self._reader, piece, self._advance, first):
            if isinstance(item, Stop):
                return item
            if item.stored_at_ms < stored_at_ms:
                reason = f"stored at {item.stored_at_ms}, the record before it at {stored_at_ms}"
                at = item.position - piece.start
                clause = "store.record.patch-positions"
                self._situation.add(Severity.WARNING, piece.path, at, clause, reason)
            stored_at_ms = item.stored_at_ms
            self._last = item
            self._records += 1
            self._record_bytes += item.size
            see(item, piece.path)
        raise AssertionError("a walk ends with a Stop")

    def _pass_damage(self, number: int, stop: Stop) -> int | None:
        """Where a file goes on behind a damaged record that is reported; None if the walk ends with it."""
        piece = self._pieces[number]
        if stop.refusal is None or self._situation.source.has_changed(piece.path):
            return None
        behind = find_record_behind(self._situation.source, self._reader, piece, stop.at)
        if behind is None or not any(self._is_begun(other) for other in self._pieces[number + 1 :]):
            return None
        self._report_damage(piece, stop)
        self._situation.lose(piece.start + stop.at, piece.start + behind)
        return behind

    def _goes_on(self, number: int, stop: Stop) -> bool:
        """Whether the log goes on in the next file; what is wrong with the end of this one is known."""
        piece = self._pieces[number]
        if stop.kind is StopKind.BLANK:
            return True
        file_end = piece.start + piece.full_size
        if self._situation.source.has_changed(piece.path):
            self._situation.lose(piece.start + stop.at, file_end)
            return True
        later = self._pieces[number + 1 :]
        if stop.kind is StopKind.END and piece.size == piece.full_size:
            reason = "a record fills the file to its last byte, no room is kept for a blank record"
            clause = "store.file.keeps-room-for-blank"
            self._situation.add(Severity.ERROR, piece.path, stop.at, clause, reason)
            return True
        if any(self._is_begun(other) for other in later):
            self._report_damage(piece, stop)
            self._situation.lose(piece.start + stop.at, file_end)
            return True
        self._check_end(piece, stop)
        self._check_ahead(later)
        return False

    def _is_begun(self, piece: Piece) -> bool:
        return any(self._situation.source.read(piece.path, 0, BLANK_SIZE))

    def _report_damage(self, piece: Piece, stop: Stop) -> None:
        if piece.size < piece.full_size and stop.kind is StopKind.END:
            return  # The wrong size is known already, and nothing else is wrong here.
        at, clause = stop.at, "recovery.log.ends-at-first-non-record"
        reason = "zeros, though the log goes on in a later file"
        if stop.refusal is not None:
            at, clause, reason = stop.refusal.position, stop.refusal.clause, stop.refusal.reason
        self._situation.add(Severity.ERROR, piece.path, at, clause, reason)

    def _check_end(self, piece: Piece, stop: Stop) -> None:
        """What stands at and behind the end of the log is known."""
        situation = self._situation
        if stop.refusal is not None:
            severity = situation.healed
            reason = stop.refusal.reason
            if severity is Severity.NOTE:
                reason = f"recovery cuts the log at {piece.start + stop.at}: {reason}"
                if find_record_behind(situation.source, self._reader, piece, stop.at) is not None:
                    severity, reason = Severity.WARNING, f"{reason}; good records stand behind it"
            situation.add(severity, piece.path, stop.refusal.position, stop.refusal.clause, reason)
            return
        self._check_torn_text(piece)
        stale = situation.source.find_written(piece.path, stop.at, piece.size)
        if stale is not None:
            reason = f"the log ends at byte {stop.at} of the file, and the bytes behind it are not all zero"
            situation.add(situation.healed, piece.path, stale, "recovery.log.tail-is-zeroed", reason)

    def _check_torn_text(self, piece: Piece) -> None:
        last = self._last
        if last is None or self._situation.is_clean_stop or last.position < piece.start:
            return
        if "\0" in last.topic or "\0" in last.property_text:
            reason = "zeros stand in the topic or the properties of the last record: recovery cuts it off"
            at = last.position - piece.start
            self._situation.add(Severity.NOTE, piece.path, at, "recovery.log.torn-text", reason)

    def _check_ahead(self, later: Sequence[Piece]) -> None:
        """Files behind the end are few and hold nothing.

        Clause: store.file.allocated-ahead
        """
        situation = self._situation
        clause = "store.file.allocated-ahead"
        for number, piece in enumerate(later):
            written = situation.source.find_written(piece.path, 0, piece.size)
            if written is not None:
                reason = "the log ends before this file, and the file is not all zero"
                situation.add(situation.healed, piece.path, written, "recovery.log.cut-files", reason)
            elif number >= FILES_AHEAD:
                reason = f"file {number + 1} behind the end of the log; a broker makes {FILES_AHEAD} ahead"
                situation.add(Severity.WARNING, piece.path, 0, clause, reason)
