"""The accounts of a broker, as tools show them.

Apache sends the secrets along, to whoever may ask. The record can carry them, the reference never
fills them in.
"""

from spec.wire.body.record import JsonRecord, json_record


@json_record
class AccountRecord(JsonRecord):
    """One account."""

    access_key: str
    secret_key: str | None = None
    white_remote_address: str | None = None
    admin: bool = False
    default_topic_perm: str | None = None
    default_group_perm: str | None = None
    topic_perms: tuple[str, ...] | None = None
    group_perms: tuple[str, ...] | None = None


@json_record
class AccountList(JsonRecord):
    """All accounts, and the addresses that everybody trusts."""

    global_white_addrs: tuple[str, ...] = ()
    plain_access_configs: tuple[AccountRecord, ...] = ()
