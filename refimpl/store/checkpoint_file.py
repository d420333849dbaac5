"""The checkpoint and the abort file: what a start goes by."""

from typing import Final

from refimpl.ports import Disk, DiskFile, sync_file
from spec.layout.checkpoint import CHECKPOINT_SIZE, Checkpoint, decode_checkpoint, encode_checkpoint
from spec.layout.directory import ABORT_FILE, CHECKPOINT_FILE
from spec.rejection import Rejection

_TIMES_SIZE: Final = 24
"""Three times of 8 bytes: within one sector, so a write of them is never torn."""


class CheckpointFile:
    """The one page; it has a handle of its own, because a flush writes it from another thread."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk
        self._file: DiskFile | None = None
        self.latest = Checkpoint()
        """What was written or read last."""

    def load(self) -> Rejection | None:
        """The times on disk count, none if they cannot be read: then everything is read again."""
        if not self._disk.has(CHECKPOINT_FILE):
            return None
        file = self._disk.open(CHECKPOINT_FILE)
        try:
            self.latest = decode_checkpoint(file.read(0, CHECKPOINT_SIZE))
        except Rejection as refusal:
            return refusal
        finally:
            file.close()
        return None

    def write(self, checkpoint: Checkpoint) -> None:
        """The times are on disk."""
        if self._file is None:
            self._file = self._open()
        self._file.write(0, encode_checkpoint(checkpoint)[:_TIMES_SIZE])
        sync_file(self._file)
        self.latest = checkpoint

    def _open(self) -> DiskFile:
        if self._disk.has(CHECKPOINT_FILE):
            file = self._disk.open(CHECKPOINT_FILE)
            if file.size == CHECKPOINT_SIZE:
                return file
            file.close()
            self._disk.remove(CHECKPOINT_FILE)
        file = self._disk.create(CHECKPOINT_FILE, CHECKPOINT_SIZE)
        sync_file(file)
        self._disk.sync_folder("")
        return file

    def close(self) -> None:
        """The handle is given back."""
        if self._file is not None:
            self._file.close()
            self._file = None


def write_abort(disk: Disk) -> None:
    """The abort file is on disk: whoever starts next knows that nobody stopped this store cleanly.

    Clause: recovery.start.abort-file
    """
    if not disk.has(ABORT_FILE):
        disk.create(ABORT_FILE, 0).close()
    disk.sync_folder("")


def remove_abort(disk: Disk) -> None:
    """The abort file is gone: the stop was clean.

    Clause: recovery.start.abort-file
    """
    if disk.has(ABORT_FILE):
        disk.remove(ABORT_FILE)
    disk.sync_folder("")
