"""The commit log: every message, one behind the other, in files of equal size.

Two places matter. Up to `end` the log is written; up to `flushed` it is on disk. A write that
fails may leave bytes behind the end, so the tail is made zero before anything is written again: a
record that nobody was told about must not come back when a later one happens to end just before
it. A sync that fails leaves nobody knowing what is on disk, so what it was about is written again
before the next sync may succeed, and until then the log takes nothing.
"""

from typing import NamedTuple

from refimpl.ports import DiskError
from refimpl.store.file_sequence import FileSequence, SequenceSync
from refimpl.store.open_files import OpenFiles
from spec.layout.commit_log_file import derive_remaining, plan_append
from spec.layout.directory import COMMIT_LOG_FOLDER
from spec.layout.record_walk import encode_blank
from spec.layout.stored_message import BLANK_SIZE
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds


class LogSync(NamedTuple):
    """A sync of the log up to `end`, whose last message was stored at `stored_at_ms`."""

    files: SequenceSync
    end: CommitLogPosition
    stored_at_ms: Milliseconds


class CommitLog:
    """The log of one store."""

    def __init__(self, files: OpenFiles, file_size: int) -> None:
        self.sequence = FileSequence(files, COMMIT_LOG_FOLDER, file_size)
        self.end = CommitLogPosition(0)
        self.flushed = CommitLogPosition(0)
        self.stored_at_ms = Milliseconds(0)
        """Store time of the last message: it never goes back."""
        self.flushed_at_ms = Milliseconds(0)
        """Store time of the last message that is on disk."""
        self._has_stale_tail = False
        self.is_unsure = False
        """A sync failed and none has succeeded since."""

    @property
    def vouched_ms(self) -> Milliseconds:
        """The store time up to which every message is on disk: another one may get the time of the last.

        Clause: store.checkpoint.safe-time
        """
        return Milliseconds(max(0, self.flushed_at_ms - 1))

    @property
    def min_position(self) -> CommitLogPosition:
        """Where the log begins."""
        return CommitLogPosition(self.sequence.first)

    def plan(self, size: int) -> CommitLogPosition:
        """Where `size` bytes go when they are appended next; refuses what fits into no file.

        Clauses: store.file.keeps-room-for-blank, store.blank.covers-the-rest
        """
        inside = self.end % self.sequence.file_size
        if inside and inside + size + BLANK_SIZE <= self.sequence.file_size:
            return self.end
        return plan_append(self.end, size, self.sequence.file_size).record_at

    def append(self, position: CommitLogPosition, data: bytes, stored_at_ms: Milliseconds) -> None:
        """The records stand where they were planned; after a failure the log is as long as before."""
        self.clear_tail()
        try:
            if position != self.end or not self.sequence.has(position):
                self._roll(position)
            self.sequence.write(position, data)
        except DiskError:
            self._has_stale_tail = True
            raise
        self.end = CommitLogPosition(position + len(data))
        self.stored_at_ms = stored_at_ms

    def clear_tail(self) -> None:
        """Nothing stands behind the end: what a failed append left there is gone.

        Durably, or a crash could mix the old bytes with new ones.
        """
        if self._has_stale_tail:
            self.sequence.cut(self.end)
            self.sequence.sync()
            self._has_stale_tail = False

    def _roll(self, position: CommitLogPosition) -> None:
        """The next file begins; a blank record covers the rest of the one before."""
        if position != self.end:
            blank = encode_blank(derive_remaining(self.end, self.sequence.file_size))
            self.sequence.write(self.end, blank)
        self.sequence.begin_file(position)

    def read(self, position: int, length: int) -> bytes | None:
        """The bytes from a position on, within one file and before the end; None if their file is gone."""
        length = min(length, self.end - position)
        if length <= 0 or not self.sequence.has(position):
            return None
        return self.sequence.read(position, length)

    def start_sync(self) -> LogSync:
        """A sync of everything written so far."""
        return LogSync(self.sequence.start_sync(), self.end, self.stored_at_ms)

    def end_sync(self, sync: LogSync, error: DiskError | None) -> None:
        """The log is on disk up to where the sync was started, unless it failed."""
        self.is_unsure = not self.sequence.end_sync(sync.files, is_done=error is None)
        if self.is_unsure:
            return
        self.flushed = max(self.flushed, sync.end)
        self.flushed_at_ms = max(self.flushed_at_ms, sync.stored_at_ms)

    @property
    def byte_count(self) -> ByteCount:
        """The bytes of the log between its beginning and its end."""
        return ByteCount(max(0, self.end - self.sequence.first))
