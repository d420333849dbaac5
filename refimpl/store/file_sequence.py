"""One endless sequence of bytes in files of equal size: the shape of the log and of every queue.

Each file is named after its first byte's place in the sequence. The sequence knows which files it
has written since their last sync and whether names are new, so that one call syncs all that is
dirty. Where the sequence ends is known to its owner only: files are created at full size.
"""

from collections.abc import Iterable
from typing import NamedTuple

from refimpl.ports import DiskFile, Entry, Sync
from refimpl.store.open_files import OpenFiles
from spec.layout.commit_log_file import encode_file_name
from spec.layout.record import ReadableBytes
from spec.recovery.store_file import FoundFile, LoadedFile, arrange_files
from spec.values.units import ByteCount


class SequenceSync(NamedTuple):
    """A sync of everything that was dirty when it was started."""

    sequence: "FileSequence"
    starts: tuple[int, ...]
    syncs: tuple[Sync, ...]
    has_new_names: bool

    def finish(self) -> None:
        """All of it is durable; may run in another thread."""
        for sync in self.syncs:
            sync.finish()
        if self.has_new_names:
            self.sequence.sync_names()


class FileSequence:
    """The files of one folder."""

    def __init__(self, files: OpenFiles, folder: str, file_size: int) -> None:
        self._files = files
        self.folder = folder
        self.file_size = file_size
        self.starts: list[int] = []
        """Where the files begin, in order and without holes."""
        self._paths: dict[int, str] = {}
        self._dirty: dict[int, None] = {}
        self._has_new_names = False

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
        self._dirty[start] = None
        self._files.get(self._paths[start]).write(inside, data)

    def begin_file(self, start: int) -> None:
        """A file of zeros begins there, behind all others."""
        path = f"{self.folder}/{encode_file_name(start)}"
        self._files.create(path, self.file_size)
        self._add(start)
        self._dirty[start] = None
        self._has_new_names = True

    def cut(self, end: int) -> None:
        """Nothing stands at or behind `end`: later files are gone, the rest of its file is zero.

        Clauses: recovery.log.cut-files, recovery.log.tail-is-zeroed
        """
        self.drop_behind(end)
        if self.has(end):
            start = end - end % self.file_size
            self._dirty[start] = None
            self.file_at(end).zero_from(end - start)

    def drop_behind(self, end: int) -> None:
        """Files that begin behind `end` are gone.

        Clause: recovery.log.cut-files
        """
        while self.starts and self.starts[-1] > end:
            self._remove(self.starts.pop())

    def remove_first(self, count: int) -> None:
        """The oldest files are gone."""
        for start in self.starts[:count]:
            self._remove(start)
        del self.starts[:count]

    def _remove(self, start: int) -> None:
        self._files.remove(self._paths.pop(start))
        self._dirty.pop(start, None)
        self._has_new_names = True

    def modified_ms(self) -> dict[int, int]:
        """When each file was last written."""
        entries = self._files.disk.list_folder(self.folder)
        return {int(entry.name): entry.modified_ms for entry in entries if entry.name.isdigit()}

    def mark_dirty(self, place: int) -> None:
        """The files from a place on are synced again: nobody knows what of them is on disk."""
        self._dirty |= {start: None for start in self.starts if start + self.file_size > place}
        self._has_new_names = True

    @property
    def is_dirty(self) -> bool:
        """Whether a sync has anything to do."""
        return bool(self._dirty) or self._has_new_names

    def start_sync(self) -> SequenceSync:
        """A sync of everything that is dirty; what is written from now on is dirty again."""
        starts = tuple(self._dirty)
        syncs = tuple(self._files.get(self._paths[start]).start_sync() for start in starts)
        task = SequenceSync(self, starts, syncs, self._has_new_names)
        self._dirty.clear()
        self._has_new_names = False
        return task

    def renew_dirty(self, task: SequenceSync) -> None:
        """What a failed sync was about is dirty again."""
        self._dirty |= {start: None for start in task.starts if start in self._paths}
        self._has_new_names |= task.has_new_names

    def sync_names(self) -> None:
        """The names of the files are durable."""
        self._files.disk.sync_folder(self.folder)

    @property
    def byte_count(self) -> ByteCount:
        """The bytes of all files."""
        return ByteCount(len(self.starts) * self.file_size)


class FileReader:
    """Reads a file by its path, so that no handle is kept."""

    def __init__(self, files: OpenFiles, path: str) -> None:
        self._files = files
        self._path = path

    def __call__(self, at: int, length: int) -> bytes:
        """The bytes from `at` on."""
        return self._files.get(self._path).read(at, length)
