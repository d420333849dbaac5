"""Accounts: what an operator writes down, and how one account becomes another.

An account is an access key, the secret that signs with it, and what it may do: for all topics and
groups, and for those that are named. Permissions stand as texts, `PUB`, `SUB`, both or `DENY`,
and for a name as `name=text`.

Why it can fail: a slip of the pen must not open a door. Whatever cannot be understood is refused as a
whole, and the accounts from before go on counting; nothing that is refused is shown together with a
secret.

What is allowed: an account's own trusted addresses need no signature, just as those of everybody.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from spec.broker.access import DENY, Account, parse_permission
from spec.broker.topic import DataVersion
from spec.broker.white_list import is_entry_legal
from spec.rejection import Rejection
from spec.values.name import retry_topic_of

KEY_LENGTH: Final = 7
"""Apache asks for more than 6 characters, of access keys and of secrets."""

PERMISSION_TEXTS: Final = ("DENY", "PUB", "SUB", "PUB|SUB", "SUB|PUB")

_NO_CHANGES: Final = DataVersion()


@dataclass(frozen=True, slots=True)
class KnownAccount:
    """An account as the broker asks it at each request."""

    secret_key: str = field(repr=False)
    white_remote_address: str
    account: Account


@dataclass(frozen=True, slots=True)
class AccountEntry:
    """One account as it is written down."""

    access_key: str
    secret_key: str = field(repr=False)
    white_remote_address: str = ""
    is_admin: bool = False
    default_topic_permission: str = "DENY"
    default_group_permission: str = "DENY"
    topic_permissions: tuple[str, ...] = ()
    """Each `topic=text`."""
    group_permissions: tuple[str, ...] = ()
    """Each `group=text`."""

    def derive_known(self) -> KnownAccount:
        """The account as each request needs it; a group's right stands under its retry topic."""
        topics = dict(map(split_permission, self.topic_permissions))
        groups = dict(map(split_permission, self.group_permissions))
        account = Account(
            self.is_admin,
            parse_permission(self.default_topic_permission),
            parse_permission(self.default_group_permission),
            {**topics, **{retry_topic_of(group): permission for group, permission in groups.items()}},
        )
        return KnownAccount(self.secret_key, self.white_remote_address, account)


@dataclass(frozen=True, slots=True)
class AccountTable:
    """All accounts of a broker, and the addresses that need none."""

    white_remote_addresses: tuple[str, ...] = ()
    entries: tuple[AccountEntry, ...] = ()
    version: DataVersion = _NO_CHANGES

    def find(self, access_key: str) -> AccountEntry | None:
        """The account of this key."""
        return next((entry for entry in self.entries if entry.access_key == access_key), None)

    def derive_known(self) -> Mapping[str, KnownAccount]:
        """The accounts as each request needs them, by access key."""
        return {entry.access_key: entry.derive_known() for entry in self.entries}


def split_permission(text: str) -> tuple[str, int]:
    """The name and the right in `name=text`."""
    name, _, permission = text.partition("=")
    return name.strip(), parse_permission(permission) if permission else DENY


def check_entry(entry: AccountEntry) -> AccountEntry:
    """The account, if all that it says can be understood; a refusal never shows the secret.

    Clauses: broker.access.key-length, broker.access.entry-is-legal
    """
    name = entry.access_key[:80]
    if len(entry.access_key) < KEY_LENGTH or len(entry.secret_key) < KEY_LENGTH:
        reason = f"accessKey {name!r}: it and its secretKey need {KEY_LENGTH} characters at least"
        raise Rejection("broker.access.key-length", 0, reason)
    if not is_entry_legal(entry.white_remote_address):
        what = f"whiteRemoteAddress {entry.white_remote_address[:80]!r} is no address or pattern"
        raise Rejection("broker.access.entry-is-legal", 0, f"accessKey {name!r}: {what}")
    defaults = (entry.default_topic_permission, entry.default_group_permission)
    named = (*entry.topic_permissions, *entry.group_permissions)
    wrong = [text for text in defaults if text.strip() not in PERMISSION_TEXTS]
    wrong += [text for text in named if not _is_named_permission(text)]
    if wrong:
        what = f"{wrong[0][:80]!r} is no permission: expected {', '.join(PERMISSION_TEXTS)}, or `name=PUB`"
        raise Rejection("broker.access.entry-is-legal", 0, f"accessKey {name!r}: {what}")
    return entry


def _is_named_permission(text: str) -> bool:
    name, separator, permission = text.partition("=")
    return bool(name.strip()) and bool(separator) and permission.strip() in PERMISSION_TEXTS


@dataclass(frozen=True, slots=True)
class AccountChange:
    """What an administrator asks for; what is None stays as it is."""

    access_key: str
    is_admin: bool
    secret_key: str | None = field(default=None, repr=False)
    white_remote_address: str | None = None
    default_topic_permission: str | None = None
    default_group_permission: str | None = None
    topic_permissions: tuple[str, ...] | None = None
    group_permissions: tuple[str, ...] | None = None


def change_entry(known: AccountEntry | None, change: AccountChange) -> AccountEntry:
    """The account after the change; a new one needs its secret.

    An empty secret or default permission stays as it is; whether the account is an administrator is
    always said.

    Clause: broker.access.change-keeps-the-rest
    """
    entry = known or AccountEntry(change.access_key, "")
    white = change.white_remote_address
    topics, groups = change.topic_permissions, change.group_permissions
    return check_entry(
        replace(
            entry,
            secret_key=change.secret_key or entry.secret_key,
            white_remote_address=entry.white_remote_address if white is None else white,
            is_admin=change.is_admin,
            default_topic_permission=change.default_topic_permission or entry.default_topic_permission,
            default_group_permission=change.default_group_permission or entry.default_group_permission,
            topic_permissions=entry.topic_permissions if topics is None else topics,
            group_permissions=entry.group_permissions if groups is None else groups,
        )
    )


def check_table(table: AccountTable) -> AccountTable:
    """The table, if every account and address in it is legal and no key stands twice.

    Clauses: broker.access.key-length, broker.access.entry-is-legal
    """
    seen: set[str] = set()
    for address in table.white_remote_addresses:
        if not is_entry_legal(address):
            reason = f"globalWhiteRemoteAddresses: {address[:80]!r} is no address or pattern"
            raise Rejection("broker.access.entry-is-legal", 0, reason)
    for entry in table.entries:
        check_entry(entry)
        if entry.access_key in seen:
            raise Rejection(
                "broker.access.entry-is-legal", 0, f"accessKey {entry.access_key[:80]!r} stands twice"
            )
        seen.add(entry.access_key)
    return table
