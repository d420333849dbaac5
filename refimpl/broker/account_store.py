"""The accounts that count now: read at the start, read again when their file has changed.

An operator edits the file while the broker runs. What cannot be read does not count, and the
accounts from before go on: a slip must neither lock everybody out nor let anybody in. A broker that
has never read its file does not start.
"""

from typing import NamedTuple

from refimpl.broker.config_table import Note
from refimpl.effect import Severity
from refimpl.ports import Disk, DiskError, sync_file
from spec.broker.account import AccountTable
from spec.broker.admission import Trust
from spec.broker.topic import advance_version
from spec.layout.config.account_file import decode_account_file, encode_account_file
from spec.layout.safe_write import Role
from spec.rejection import Rejection


class _Look(NamedTuple):
    """What a folder says of a file; two equal looks saw the same content, as far as can be known."""

    size: int
    modified_ms: int


class AccountStore:
    """One account file."""

    def __init__(self, disk: Disk, path: str, note: Note) -> None:
        """The accounts in the file; a Rejection or DiskError says why there are none."""
        self._disk = disk
        self.path = path
        self._note = note
        self._seen = self._look()
        try:
            self.table = self._read()
        except Rejection as refusal:
            reason = f"{path}: {refusal.reason}; correct it, or start without access control"
            raise Rejection(refusal.clause, refusal.position, reason) from None
        self.trust = self._derive_trust()

    def look(self, now_ms: int) -> None:  # noqa: ARG002 - the agenda hands it over
        """If the file has changed, its accounts count, or a note says why they do not.

        Clause: broker.access.bad-file-changes-nothing
        """
        try:
            seen = self._look()
            if seen == self._seen:
                return
            self._seen = seen
            table = self._read()
        except (Rejection, DiskError) as refusal:
            reason = refusal.reason if isinstance(refusal, Rejection) else str(refusal)
            self._note(Severity.ERROR, f"{self.path}: {reason}; the accounts from before go on counting")
            return
        self._set(table)
        self._note(Severity.INFO, f"{self.path}: {len(table.entries)} accounts count from now on")

    def replace(self, table: AccountTable, now_ms: int) -> None:
        """The accounts are as given, here and in the file, as one more version of it.

        Clause: store.config.durable-write
        """
        changed = AccountTable(
            table.white_remote_addresses, table.entries, advance_version(table.version, now_ms)
        )
        self._write(encode_account_file(changed))
        self._seen = self._look()
        self._set(changed)

    def _set(self, table: AccountTable) -> None:
        self.table = table
        self.trust = self._derive_trust()

    def _derive_trust(self) -> Trust:
        return Trust(self.table.white_remote_addresses, self.table.derive_known())

    def _look(self) -> _Look | None:
        folder, _, name = self.path.rpartition("/")
        entries = self._disk.list_folder(folder)
        return next((_Look(one.size, one.modified_ms) for one in entries if one.name == name), None)

    def _read(self) -> AccountTable:
        file = self._disk.open(self.path)
        try:
            return decode_account_file(file.read(0, file.size))
        finally:
            file.close()

    def _write(self, content: bytes) -> None:
        temporary = self.path + Role.TEMPORARY.value
        if self._disk.has(temporary):
            self._disk.remove(temporary)
        file = self._disk.create(temporary, len(content))
        try:
            file.write(0, content)
            sync_file(file)
        finally:
            file.close()
        self._disk.rename(temporary, self.path)
        self._disk.sync_folder(self.path.rpartition("/")[0])
