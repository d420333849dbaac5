"""Admission: whom a broker believes, before it asks what they may do.

A request is believed if it comes from an address that everybody trusts, from one that its account
trusts, or if its signature is the one that the account's secret makes over all that arrived.

What is allowed: a request from a trusted address may do everything, as in Apache. An address is the
peer's own; a broker behind a proxy that trusts the proxy trusts everybody.
"""

from collections.abc import Mapping
from typing import NamedTuple

from spec.broker.access import Account, is_account_permitted, is_address_trusted
from spec.broker.account import KnownAccount
from spec.rejection import Rejection
from spec.wire.code import RequestCode
from spec.wire.signature import ACCESS_KEY, is_signature_valid


class Admitted(NamedTuple):
    """Who made a request."""

    access_key: str
    account: Account | None
    """None for a trusted address: it may do everything."""


_TRUSTED = Admitted("", None)


class Trust(NamedTuple):
    """Whom a broker believes."""

    addresses: tuple[str, ...]
    """Entries of the white list for everybody."""
    accounts: Mapping[str, KnownAccount]
    """By access key."""


def admit(trust: Trust, address: str, fields: Mapping[str, str], body: bytes) -> Admitted:
    """Whoever made the request; refused if nobody vouches for it.

    Clauses: broker.access.trusted-address-passes, broker.access.identity
    """
    if any(is_address_trusted(entry, address) for entry in trust.addresses):
        return _TRUSTED
    access_key = fields.get(ACCESS_KEY)
    if access_key is None:
        raise Rejection("broker.access.identity", 0, "No accessKey is configured")
    known = trust.accounts.get(access_key)
    if known is None:
        raise Rejection("broker.access.identity", 0, f"No acl config for {access_key[:80]}")
    if is_address_trusted(known.white_remote_address, address):
        return _TRUSTED
    if not is_signature_valid(fields, body, known.secret_key):
        raise Rejection(
            "broker.access.identity", 0, f"Check signature failed for accessKey={access_key[:80]}"
        )
    return Admitted(access_key, known.account)


def check_permissions(admitted: Admitted, code: RequestCode, needed: Mapping[str, int]) -> None:
    """The request may be carried out; refused if its account lacks a right, which is named.

    Clauses: broker.access.admin-only, broker.access.needed-by-code
    """
    account = admitted.account
    if account is None:
        return
    if not is_account_permitted(account, code, {}):
        who = f"accessKey={admitted.access_key[:80]}"
        reason = f"Need admin permission for request code={int(code)}, but {who} is not"
        raise Rejection("broker.access.admin-only", 0, reason)
    for resource, permission in needed.items():
        if not is_account_permitted(account, code, {resource: permission}):
            raise Rejection("broker.access.needed-by-code", 0, f"No default permission for {resource[:255]}")
