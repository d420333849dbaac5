"""The fields by which accounts are managed, of 4.9.x: the operations 50 to 54.

Lists travel as texts joined by commas. The two answers name the broker, because tools ask all
brokers of a cluster and show the answers side by side.
"""

from spec.wire.header.codec import CustomHeader, wire_header


@wire_header
class ChangeAccountHeader(CustomHeader):
    """An account as it shall be; what is absent stays as it is."""

    access_key: str
    secret_key: str | None = None
    white_remote_address: str | None = None
    admin: bool = False
    default_topic_perm: str | None = None
    default_group_perm: str | None = None
    topic_perms: str | None = None
    group_perms: str | None = None


@wire_header
class DeleteAccountHeader(CustomHeader):
    """One account."""

    access_key: str


@wire_header
class ChangeWhiteListHeader(CustomHeader):
    """The addresses that everybody trusts; the file is of later 4.9 releases, which read several."""

    global_white_addrs: str
    acl_file_full_path: str | None = None


@wire_header
class AccountVersionResponseHeader(CustomHeader):
    """Which edition of its accounts a broker has, each version as JSON."""

    version: str
    broker_name: str
    broker_addr: str
    cluster_name: str
    all_acl_file_version: str | None = None
