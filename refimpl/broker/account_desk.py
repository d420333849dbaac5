"""Accounts that administrators show and change: the operations 50 to 54 of AdminBrokerProcessor.

Who may ask is for the guard to say, which is there whenever there are accounts. Secrets come in and
never go out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from refimpl.broker.account_store import AccountStore
from refimpl.broker.settings import BrokerSettings
from refimpl.ports import DiskError
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from spec.broker.account import AccountChange, AccountEntry, AccountTable, change_entry, check_table
from spec.broker.topic import DataVersion
from spec.rejection import Rejection
from spec.wire.body.access import AccountList, AccountRecord
from spec.wire.body.record import RecordCodec
from spec.wire.code import AclResponseCode, RequestCode, ResponseCode
from spec.wire.fastjson import JsonKey, JsonTree, encode_fastjson
from spec.wire.header.access import (
    AccountVersionResponseHeader,
    ChangeAccountHeader,
    ChangeWhiteListHeader,
    DeleteAccountHeader,
)

_OFF: Final = "access control is off: this broker has no accounts (start it with an account file)"
_VERSION: Final = RecordCodec(DataVersion)


def split_list(text: str | None) -> tuple[str, ...] | None:
    """The items of a text joined by commas; None stays None, a blank text is an empty list."""
    return None if text is None else tuple(item.strip() for item in text.split(",") if item.strip())


class AccountDesk:
    """Shows and changes the accounts of one broker; without accounts it only says so."""

    def __init__(self, settings: BrokerSettings, accounts: AccountStore | None) -> None:
        self._settings = settings
        self._accounts = accounts

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.UPDATE_AND_CREATE_ACL_CONFIG: self._on_change,
            RequestCode.DELETE_ACL_CONFIG: self._on_delete,
            RequestCode.GET_BROKER_CLUSTER_ACL_INFO: self._on_version,
            RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG: self._on_white_list,
            RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG: self._on_list,
        }

    def _on_change(self, request: Request) -> Reply:
        """The account is as asked, and new if there was none.

        Clause: broker.access.change-keeps-the-rest
        """
        failed = AclResponseCode.UPDATE_AND_CREATE_ACL_CONFIG_FAILED
        if self._accounts is None:
            return Reply(failed, _OFF)
        header = request.header(ChangeAccountHeader)
        change = AccountChange(
            header.access_key,
            header.admin,
            header.secret_key,
            header.white_remote_address,
            header.default_topic_perm,
            header.default_group_perm,
            split_list(header.topic_perms),
            split_list(header.group_perms),
        )
        table = self._accounts.table
        known = table.find(header.access_key)
        try:
            changed = change_entry(known, change)
        except Rejection as refusal:
            return Reply(failed, refusal.reason)
        if known is None:
            entries = (*table.entries, changed)
        else:
            entries = tuple(changed if entry is known else entry for entry in table.entries)
        return self._replace(self._accounts, replace(table, entries=entries), failed, request.now_ms)

    def _on_delete(self, request: Request) -> Reply:
        """There is no such account any more."""
        failed = AclResponseCode.DELETE_ACL_CONFIG_FAILED
        if self._accounts is None:
            return Reply(failed, _OFF)
        access_key = request.header(DeleteAccountHeader).access_key
        table = self._accounts.table
        if table.find(access_key) is None:
            return Reply(failed, f"there is no account with accessKey {access_key[:80]!r}")
        entries = tuple(entry for entry in table.entries if entry.access_key != access_key)
        return self._replace(self._accounts, replace(table, entries=entries), failed, request.now_ms)

    def _on_white_list(self, request: Request) -> Reply:
        """Everybody trusts exactly these addresses."""
        failed = AclResponseCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG_FAILED
        if self._accounts is None:
            return Reply(failed, _OFF)
        header = request.header(ChangeWhiteListHeader)
        if header.acl_file_full_path and not header.acl_file_full_path.endswith(self._accounts.path):
            return Reply(failed, f"the accounts of this broker stand in {self._accounts.path} only")
        addresses = split_list(header.global_white_addrs) or ()
        table = replace(self._accounts.table, white_remote_addresses=addresses)
        return self._replace(self._accounts, table, failed, request.now_ms)

    def _replace(
        self, accounts: AccountStore, table: AccountTable, failed: AclResponseCode, now_ms: int
    ) -> Reply:
        """The accounts count and are on disk, or nothing has changed."""
        try:
            accounts.replace(check_table(table), now_ms)
        except Rejection as refusal:
            return Reply(failed, refusal.reason)
        except DiskError as error:
            return Reply(failed, str(error))
        return OK

    def _on_version(self, _: Request) -> Reply:
        """Which edition of its accounts this broker has."""
        if self._accounts is None:
            return refuse(ResponseCode.SYSTEM_ERROR, _OFF)
        edition = self._accounts.table.version
        files: dict[JsonKey, JsonTree] = {
            self._accounts.path: {"counter": edition.counter, "timestamp": edition.timestamp_ms}
        }
        settings = self._settings
        header = AccountVersionResponseHeader(
            _VERSION.encode(edition).decode(),
            settings.name,
            str(settings.host),
            settings.cluster,
            # Tools of later 4.9 releases read this table and fail without it.
            encode_fastjson(files).decode(),
        )
        return succeed(header)

    def _on_list(self, _: Request) -> Reply:
        """All accounts, without their secrets.

        Clause: broker.access.secrets-stay
        """
        if self._accounts is None:
            return refuse(ResponseCode.SYSTEM_ERROR, _OFF)
        table = self._accounts.table
        return succeed(body=AccountList(table.white_remote_addresses, tuple(map(_record_of, table.entries))))


def _record_of(entry: AccountEntry) -> AccountRecord:
    return AccountRecord(
        entry.access_key,
        None,
        entry.white_remote_address,
        entry.is_admin,
        entry.default_topic_permission,
        entry.default_group_permission,
        entry.topic_permissions,
        entry.group_permissions,
    )
