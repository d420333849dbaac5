"""Reading files that others may be changing.

A live broker deletes old files, and a copy of a running store is never of one moment. A file that
is gone when it is opened, or shorter than the directory said, is therefore an answer and not an
accident: what is missing reads as nothing, and the reader is told once.
"""

from collections.abc import Iterator
from typing import Final

from refimpl.ports import Disk, DiskError, DiskReason
from refimpl.store_check.finding import Findings, Severity

BLOCK_SIZE: Final = 1024 * 1024
"""How much is read at once; a decision."""

_ZEROS: Final = bytes(BLOCK_SIZE)
_LIVE_CLAUSE: Final = "recovery.load.file-size"


class Source:
    """The files of a store; what cannot be read becomes a note, one a file."""

    def __init__(self, disk: Disk, findings: Findings) -> None:
        """Read from `disk`."""
        self.disk = disk
        self.findings = findings
        self._reported: set[str] = set()
        self.bytes_read = 0

    def report_change(self, path: str, at: int, reason: str) -> None:
        """It is known, once, that a file changed while it was read."""
        if path not in self._reported:
            self._reported.add(path)
            self.findings.add(Severity.NOTE, path, at, _LIVE_CLAUSE, reason)

    def has_changed(self, path: str) -> bool:
        """Whether part of the file could not be read."""
        return path in self._reported

    def read(self, path: str, at: int, length: int) -> bytes:
        """The bytes from `at` on, fewer where the file ends, none when the file is gone.

        A disk that fails is not an answer: its error goes to whoever asked for the check.
        """
        try:
            file = self.disk.open(path)
        except DiskError as error:
            if error.reason is not DiskReason.MISSING:
                raise
            self.report_change(path, at, "the file was there when the check began and is gone")
            return b""
        try:
            data = file.read(at, length)
        finally:
            file.close()
        self.bytes_read += len(data)
        return data

    def read_exactly(self, path: str, at: int, length: int) -> bytes | None:
        """All bytes that were asked for, or None and a note when the file has become shorter."""
        data = self.read(path, at, length)
        if len(data) == length:
            return data
        self.report_change(path, at + len(data), "the file became shorter while it was read")
        return None

    def iter_blocks(self, path: str, at: int, end: int) -> Iterator[tuple[int, bytes]]:
        """The bytes of a span, block by block, as far as they are there."""
        while at < end:
            data = self.read(path, at, min(BLOCK_SIZE, end - at))
            if not data:
                return
            yield at, data
            at += len(data)

    def find_written(self, path: str, at: int, end: int) -> int | None:
        """The first byte of the span that is not zero."""
        for start, data in self.iter_blocks(path, at, end):
            if data != _ZEROS[: len(data)]:
                return start + len(data) - len(data.lstrip(b"\0"))
        return None
