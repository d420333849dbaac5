"""One endless sequence of bytes in files of equal size: the shape of the log and of every queue.

Each file is named after its first byte's place in the sequence. The sequence knows which files it
has written since their last sync and whether names are new, so that one call syncs all that is
dirty. Where the sequence ends is known to its owner only: files are created at full size.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from refimpl.ports import DiskError, DiskFile, Entry, Sync, sync_file
from refimpl.store.open_files import OpenFiles
from spec.layout.commit_log_file import encode_file_name
from spec.layout.record import ReadableBytes
from spec.recovery.store_file import FoundFile, LoadedFile, arrange_files
from spec.values.units import ByteCount

_COPY_SIZE: Final = 1024 * 1024
"""How much is read and written again at once."""


@dataclass(slots=True)
class Span:
    """Written bytes of one file: from the lowest to the highest."""

    low: int
    high: int


class SequenceSync(NamedTuple):
    """A sync of everything that was dirty when it was started."""

    sequence: "FileSequence"
    spans: Mapping[int, Span]
    """What it is about, by the start of the file."""
    syncs: tuple[Sync, ...]
    name_changes: int
    """How many changes of names it is about, counted from the start."""
    has_new_names: bool
    failures: int
    """How many syncs of the sequence had failed when it was started."""

    def finish(self) -> None:
        """All of it is durable; may run in another thread."""
        for sync in self.syncs:
            sync.finish()
        if self.has_new_names:
            self.sequence.sync_folder()


class FileSequence:
    """The files of one folder."""

    def __init__(self, files: OpenFiles, folder: str, file_size: int) -> None:
        self._files = files
        self.folder = folder
        self.file_size = file_size
        self.starts: list[int] = []
        """Where the files begin, in order and without holes."""
        self._paths: dict[int, str] = {}
        self._dirty: dict[int, Span] = {}
        """What was written since the last sync was started, by the start of the file."""
        self._in_flight: dict[int, Span] = {}
        """What syncs that have not ended are about."""
        self._doubtful: dict[int, Span] = {}
        """What a failed sync was about: nobody knows whether it is on disk."""
        self._failures = 0
        """How many syncs failed. One that was under way then proves nothing, even if it ends well: the
        system counts as clean what the failed one lost."""
        self._name_changes = 0
        """How often a name was added or removed."""
        self._durable_changes = 0
        """How many of these changes are known to be on disk."""

    def load(self, entries: Iterable[Entry]) -> tuple[LoadedFile, ...]:
        """The files of the folder as recovery reads them; refuses what is not of this sequence.

        Clauses: recovery.load.file-size, recovery.load.no-hole, recovery.load.empty-last-file
        """
        found = [
            FoundFile(entry.name, entry.size, FileReader(self._files, f"{self.folder}/{entry.name}"))
            for entry in entries
        ]
        loaded = arrange_files(found, self.file_size)
        for file in loaded:
            self._add(file.start)
        return loaded

    def _add(self, start: int) -> None:
        self.starts.append(start)
        self._paths[start] = f"{self.folder}/{encode_file_name(start)}"

    @property
    def first(self) -> int:
        """Where the first file begins; 0 without files."""
        return self.starts[0] if self.starts else 0

    @property
    def last(self) -> int:
        """Where the last file begins; 0 without files."""
        return self.starts[-1] if self.starts else 0

    def has(self, place: int) -> bool:
        """Whether there is a file that holds this place."""
        return bool(self.starts) and self.starts[0] <= place < self.starts[-1] + self.file_size

    def file_at(self, place: int) -> DiskFile:
        """The file that holds a place which the sequence has."""
        return self._files.get(self._paths[place - place % self.file_size])

    def read(self, place: int, length: int) -> bytes:
        """The bytes from a place on, at most to the end of its file."""
        return self.file_at(place).read(place % self.file_size, length)

    def write(self, place: int, data: ReadableBytes) -> None:
        """The bytes stand at the place; they lie within one file."""
        inside = place % self.file_size
        start = place - inside
        span = self._dirty.get(start)
        if span is None or span.high != inside:
            self._soil(start, inside, inside + len(data))
        else:
            span.high += len(data)
        self._files.get(self._paths[start]).write(inside, data)

    def _soil(self, start: int, low: int, high: int) -> None:
        _widen(self._dirty, start, Span(low, high))

    def begin_file(self, start: int) -> None:
        """A file of zeros begins there, behind all others.

        The one before is durable as a file: a crash that loses a file and keeps a later one would
        leave a hole.
        """
        if self.starts:
            self._settle_names()
        path = f"{self.folder}/{encode_file_name(start)}"
        self._files.create(path, self.file_size)
        self._add(start)
        self._soil(start, 0, 0)
        self._name_changes += 1

    def _settle_names(self) -> None:
        """All names are durable, and the last file has its size."""
        if self._durable_changes == self._name_changes:
            return
        if self.starts:
            try:
                sync_file(self._files.get(self._paths[self.starts[-1]]))
            except DiskError:
                self._doubt([self.starts[-1]])
                raise
        self.sync_folder()
        self._durable_changes = self._name_changes

    def cut(self, end: int) -> None:
        """Nothing stands at or behind `end`: later files are gone, the rest of its file is zero.

        Clauses: recovery.log.cut-files, recovery.log.tail-is-zeroed
        """
        self.drop_behind(end)
        if self.has(end):
            start = end - end % self.file_size
            self._soil(start, end - start, end - start)
            self.file_at(end).zero_from(end - start)

    def drop_behind(self, end: int) -> None:
        """Files that begin behind `end` are gone.

        Clause: recovery.log.cut-files
        """
        while self.starts and self.starts[-1] > end:
            self._remove(-1)

    def remove_first(self, count: int) -> None:
        """The oldest files are gone."""
        for _ in range(count):
            self._remove(0)

    def remove_all(self) -> None:
        """No file is left, and a crash brings none back."""
        self.remove_first(len(self.starts))
        self._settle_names()

    def _remove(self, number: int) -> None:
        """The first or the last file is gone.

        One removal is durable before the next: a crash that forgets one and keeps its neighbour's
        would leave a hole.
        """
        self._settle_names()
        start = self.starts[number]
        self._files.remove(self._paths[start])
        del self.starts[number], self._paths[start]
        for spans in (self._dirty, self._in_flight, self._doubtful):
            spans.pop(start, None)
        self._name_changes += 1

    def modified_ms(self) -> dict[int, int]:
        """When each file was last written."""
        entries = self._files.disk.list_folder(self.folder)
        return {int(entry.name): entry.modified_ms for entry in entries if entry.name.isdigit()}

    def write_again(self, place: int, end: int) -> None:
        """The bytes up to `end` are dirty, whatever the system thinks of them."""
        while place < end:
            length = min(_COPY_SIZE, self.file_size - place % self.file_size, end - place)
            self.write(place, self.read(place, length))
            place += length

    def doubt_names(self) -> None:
        """Nobody knows which names are on disk."""
        if self.starts:
            self._name_changes += 1

    @property
    def is_dirty(self) -> bool:
        """Whether a sync has anything to do."""
        has_spans = bool(self._dirty or self._in_flight or self._doubtful)
        return has_spans or self._durable_changes < self._name_changes

    def start_sync(self) -> SequenceSync:
        """A sync of everything that is not known to be on disk; what is written from now on is dirty again.

        What a failed sync was about is written once more: the system counts it as clean.
        """
        for start, span in tuple(self._doubtful.items()):
            self.write_again(start + span.low, start + span.high)
            del self._doubtful[start]
        for start, span in self._dirty.items():
            _widen(self._in_flight, start, span)
        self._dirty = {}
        spans = dict(self._in_flight)
        syncs = tuple(self._files.get(self._paths[start]).start_sync() for start in spans)
        has_new_names = self._durable_changes < self._name_changes
        return SequenceSync(self, spans, syncs, self._name_changes, has_new_names, self._failures)

    def end_sync(self, task: SequenceSync, *, is_done: bool) -> bool:
        """Whether what the sync was about is on disk; if not, nobody knows whether it is."""
        if not is_done or task.failures != self._failures:
            self._doubt(task.spans)
            return False
        for start in task.spans:
            self._in_flight.pop(start, None)
        self._durable_changes = max(self._durable_changes, task.name_changes)
        return True

    def _doubt(self, starts: Iterable[int]) -> None:
        """A sync of these files failed."""
        self._failures += 1
        for start in starts:
            for spans in (self._dirty, self._in_flight):
                span = spans.pop(start, None)
                if span is not None:
                    _widen(self._doubtful, start, span)

    def sync(self) -> None:
        """Everything is on disk."""
        task = self.start_sync()
        try:
            task.finish()
        except DiskError:
            self.end_sync(task, is_done=False)
            raise
        self.end_sync(task, is_done=True)

    def sync_folder(self) -> None:
        """The names of the files are durable."""
        self._files.disk.sync_folder(self.folder)

    @property
    def byte_count(self) -> ByteCount:
        """The bytes of all files."""
        return ByteCount(len(self.starts) * self.file_size)


def _widen(spans: dict[int, Span], start: int, span: Span) -> None:
    """The span is within what is known of the file."""
    known = spans.get(start, span)
    spans[start] = Span(min(known.low, span.low), max(known.high, span.high))


class FileReader:
    """Reads a file by its path, so that no handle is kept."""

    def __init__(self, files: OpenFiles, path: str) -> None:
        self._files = files
        self._path = path

    def __call__(self, at: int, length: int) -> bytes:
        """The bytes from `at` on."""
        return self._files.get(self._path).read(at, length)
