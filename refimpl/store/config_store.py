"""The JSON files of a broker: read with their saved copy, replaced so that a crash loses neither.

The steps of a replacement come from `spec.layout.safe_write`; this module carries them out on a
disk. A file that cannot be read falls back to its saved copy, and whoever loads it is told.
"""

from typing import TypeVar

from refimpl.ports import Disk, sync_file
from spec.layout.config.config_file import ConfigFile
from spec.layout.directory import CONFIG_FOLDER
from spec.layout.safe_write import (
    Delete,
    Loaded,
    Rename,
    Role,
    Step,
    Sync,
    SyncDirectory,
    Write,
    WriteOrder,
    plan_write,
)
from spec.rejection import Rejection
from spec.wire.body.record import JsonRecord

TableT = TypeVar("TableT", bound=JsonRecord)


class ConfigStore:
    """The files of one folder."""

    def __init__(
        self, disk: Disk, folder: str = CONFIG_FOLDER, order: WriteOrder = WriteOrder.REFERENCE
    ) -> None:
        self._disk = disk
        self._folder = folder
        self._order = order

    def load(self, file: ConfigFile[TableT]) -> Loaded[TableT]:
        """The table that counts, where it came from, and what was wrong with the rest.

        Clauses: store.config.load-falls-back, store.config.unreadable-is-not-absent
        """
        return file.load(self._read(file.name, Role.MAIN), self._read(file.name, Role.BACKUP))

    def save(self, file: ConfigFile[TableT], table: TableT) -> None:
        """The table is on disk; what the file held before is its saved copy, if it could be read.

        Clauses: store.config.safe-write, store.config.durable-write
        """
        old = self._read(file.name, Role.MAIN)
        if old is not None and not _is_readable(file, old):
            # A damaged file must not take the place of the good copy beside it.
            old = None
        for step in plan_write(old, file.encode(table), order=self._order):
            self._carry_out(file.name, step)

    def _path(self, name: str, role: Role) -> str:
        return f"{self._folder}/{name}{role.value}"

    def _read(self, name: str, role: Role) -> bytes | None:
        path = self._path(name, role)
        if not self._disk.has(path):
            return None
        file = self._disk.open(path)
        try:
            return file.read(0, file.size)
        finally:
            file.close()

    def _carry_out(self, name: str, step: Step) -> None:
        match step:
            case Write(role, content):
                self._write(self._path(name, role), content)
            case Sync(role):
                handle = self._disk.open(self._path(name, role))
                sync_file(handle)
                handle.close()
            case Delete(role):
                self._disk.remove(self._path(name, role))
            case Rename(source, target):
                self._disk.rename(self._path(name, source), self._path(name, target))
            case SyncDirectory():
                self._disk.sync_folder(self._folder)

    def _write(self, path: str, content: bytes) -> None:
        if self._disk.has(path):
            self._disk.remove(path)
        handle = self._disk.create(path, len(content))
        handle.write(0, content)
        handle.close()


def _is_readable(file: ConfigFile[TableT], content: bytes) -> bool:
    try:
        file.decode(content)
    except Rejection:
        return False
    return bool(content)
