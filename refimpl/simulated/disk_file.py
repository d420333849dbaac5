"""An open file of a simulated disk."""

from refimpl.disk_path import check_range
from refimpl.ports import DiskError, DiskReason
from refimpl.simulated.medium import Medium
from refimpl.simulated.node import FileNode, SectorWrite, SizeChange
from spec.layout.record import ReadableBytes
from spec.values.units import ByteCount


class SimulatedSync:
    """A sync that reaches what was written before its start, whenever it finishes, if it ever does."""

    def __init__(self, medium: Medium, node: FileNode, path: str) -> None:
        self._medium = medium
        self._node = node
        self._path = path
        self._before = medium.next_serial()
        self._crashes_count = medium.crashes_count
        self._is_finished = False

    def finish(self) -> None:
        """What was written before the start is durable; after a crash there is nothing left to do."""
        if self._is_finished:
            raise ValueError(f"{self._path}: this sync was finished before")
        self._is_finished = True
        medium = self._medium
        if medium.crashes_count != self._crashes_count:
            return
        medium.check_writable(self._path)
        try:
            medium.check_failure("sync", self._path)
        except DiskError:
            if medium.forgets_after_failed_sync:
                self._node.forget(self._before)
            raise
        medium.syncs_count += 1
        if not medium.is_sync_ignored:
            self._node.make_durable(self._before)


class SimulatedFile:
    """A handle; dead after `close` and after a crash."""

    def __init__(self, medium: Medium, node: FileNode, path: str) -> None:
        self.path = path
        self.size = ByteCount(node.size)
        self._medium = medium
        self._node = node
        self._crashes_count = medium.crashes_count
        self._is_closed = False

    def read(self, at: int, length: int) -> bytes:
        """The bytes from `at` on, fewer where the file ends."""
        if at < 0 or length < 0:
            raise ValueError(f"{self.path}: {length} bytes at {at} cannot be read")
        self._check_alive()
        self._medium.check_failure("read", self.path)
        end = min(at + length, self.size, self._node.size)
        if at >= end:
            return b""
        size = self._medium.sector_size
        hole = bytes(size)
        first, last = at // size, (end - 1) // size
        data = b"".join(self._node.visible.get(sector) or hole for sector in range(first, last + 1))
        return data[at - first * size : end - first * size]

    def write(self, at: int, data: ReadableBytes) -> None:
        """The bytes stand at `at`; what does not fit on the disk is written as far as it fits."""
        check_range(self.path, self.size, at, len(data))
        self._check_alive()
        self._medium.check_writable(self.path)
        is_failing = self._medium.takes_failure("write")
        length = self._medium.random.randrange(len(data) + 1) if is_failing else len(data)
        self._write(at, bytes(data[:length]))
        if is_failing:
            raise DiskError(
                DiskReason.BROKEN, self.path, f"the write failed after {length} of {len(data)} bytes"
            )

    def _write(self, at: int, data: bytes) -> None:
        size, node = self._medium.sector_size, self._node
        call, position = self._medium.next_serial(), 0
        while position < len(data):
            sector, inside = divmod(at + position, size)
            piece = data[position : position + size - inside]
            position += len(piece)
            self._medium.check_space(node, sector)
            if len(piece) < size:
                old = node.visible.get(sector) or bytes(size)
                piece = old[:inside] + piece + old[inside + len(piece) :]
            self._change_sector(call, sector, piece)

    def zero_from(self, at: int) -> None:
        """Everything from `at` to the end is zero, without space being used for it."""
        check_range(self.path, self.size, at, 0)
        self._check_alive()
        self._medium.check_writable(self.path)
        self._medium.check_failure("write", self.path)
        size, call = self._medium.sector_size, self._medium.next_serial()
        first, inside = divmod(at, size)
        for sector in self._node.visible.numbers_from(first):
            old = self._node.visible.get(sector)
            is_partial = sector == first and inside > 0 and old is not None
            self._change_sector(call, sector, old[:inside].ljust(size, b"\0") if is_partial and old else None)

    def replace_content(self, content: bytes) -> None:
        """The file has exactly this content and length, as that of a lock file has."""
        if self._node.size != len(content):
            serial, now = self._medium.next_serial(), self._medium.now_ms()
            self._node.change(SizeChange(serial, serial, self.path, len(content), now))
            self.size = ByteCount(len(content))
        if self.read(0, len(content)) != content:
            self._write(0, content)

    def start_sync(self) -> SimulatedSync:
        """A sync of all that has been written up to now."""
        self._check_alive()
        self._medium.check_writable(self.path)
        return SimulatedSync(self._medium, self._node, self.path)

    def close(self) -> None:
        """The handle is given back; nothing is synced by that."""
        self._is_closed = True

    def _change_sector(self, call: int, sector: int, content: bytes | None) -> None:
        serial, now = self._medium.next_serial(), self._medium.now_ms()
        self._node.change(SectorWrite(serial, call, self._node.path, sector, content, now))

    def _check_alive(self) -> None:
        if self._is_closed:
            raise DiskError(DiskReason.BROKEN, self.path, "the file was closed")
        if self._medium.crashes_count != self._crashes_count:
            raise DiskError(DiskReason.BROKEN, self.path, "the disk has crashed since the file was opened")
