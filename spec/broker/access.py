"""Access control: which request needs which right, and who has it.

The promise: when access control is on, a request passes if it comes from a trusted address, or if
its signature is right and its account has every right that the request needs.

Why it can fail: rights are named for topics; a group's right is kept under its retry topic. A
request kind that is not in the table passes unchecked, and Apache 4.9.3 forgot batches: whoever
may do nothing else may still send one. The reference checks a batch like any other send.

So does it check replies, which Apache stores in any topic that they name, and keeps the operations on
accounts to administrators, which in Apache 4.9.3 any account may use to make itself one.

What is allowed: a refusal is answered as a system error (code 1) in 4.9.x. Traces are taken from
every account: a client that may do its work may say how it went.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from ipaddress import AddressValueError, IPv4Address, ip_address
from typing import Final

from spec.values.name import TRACE_TOPIC, is_reply_topic, is_retry_topic, retry_topic_of
from spec.wire.code import RequestCode

DENY: Final = 1
ANY: Final = 2
PUBLISH: Final = 4
SUBSCRIBE: Final = 8

ADMIN_CODES: Final = frozenset(
    {
        RequestCode.UPDATE_AND_CREATE_TOPIC,
        RequestCode.UPDATE_BROKER_CONFIG,
        RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP,
        RequestCode.DELETE_SUBSCRIPTIONGROUP,
        RequestCode.DELETE_TOPIC_IN_BROKER,
    }
)
"""The requests that only an administrator may make. Clause: broker.access.admin-only."""

ACCOUNT_CODES: Final = frozenset(
    {
        RequestCode.UPDATE_AND_CREATE_ACL_CONFIG,
        RequestCode.DELETE_ACL_CONFIG,
        RequestCode.GET_BROKER_CLUSTER_ACL_INFO,
        RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG,
        RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG,
    }
)
"""The requests about accounts themselves. Clause: broker.access.accounts-are-admin-only."""

_REPLYING: Final = frozenset({RequestCode.SEND_REPLY_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2})
_PUBLISHING: Final = _REPLYING | {
    RequestCode.SEND_MESSAGE,
    RequestCode.SEND_MESSAGE_V2,
    RequestCode.SEND_BATCH_MESSAGE,
    RequestCode.CONSUMER_SEND_MSG_BACK,
}
_READING: Final = frozenset(
    {
        RequestCode.PULL_MESSAGE,
        RequestCode.QUERY_MESSAGE,
        RequestCode.HEART_BEAT,
        RequestCode.UPDATE_CONSUMER_OFFSET,
    }
)
_FOR_GROUP: Final = frozenset(
    {
        RequestCode.PULL_MESSAGE,
        RequestCode.HEART_BEAT,
        RequestCode.UPDATE_CONSUMER_OFFSET,
        RequestCode.CONSUMER_SEND_MSG_BACK,
        RequestCode.UNREGISTER_CLIENT,
        RequestCode.GET_CONSUMER_LIST_BY_GROUP,
    }
)

_TEXTS: Final = {
    "PUB": PUBLISH,
    "SUB": SUBSCRIBE,
    "PUB|SUB": PUBLISH | SUBSCRIBE,
    "SUB|PUB": PUBLISH | SUBSCRIBE,
}


def parse_permission(text: str | None) -> int:
    """The right that a text grants; whatever is not understood grants nothing.

    Clause: broker.access.unknown-text-denies
    """
    return _TEXTS.get((text or "").strip(), DENY)


def is_permitted(needed: int, owned: int) -> bool:
    """Whether an owned right covers a needed one; a denial outweighs everything.

    Clause: broker.access.denial-wins
    """
    if owned & DENY:
        return False
    return bool(owned & (PUBLISH | SUBSCRIBE)) if needed & ANY else bool(owned & needed)


@dataclass(frozen=True, slots=True)
class Account:
    """What one access key may do."""

    is_admin: bool = False
    default_topic_permission: int = DENY
    default_group_permission: int = DENY
    permissions: Mapping[str, int] = field(default_factory=dict)
    """By topic; a group's stands under its retry topic."""


def _derive_needed_to_publish(code: RequestCode, topic: str) -> dict[str, int]:
    """What a send to one topic needs.

    Clauses: broker.access.retry-send-is-subscribing, broker.access.trace-is-open,
    broker.access.reply-is-checked
    """
    if topic == TRACE_TOPIC or (code in _REPLYING and is_reply_topic(topic)):
        return {}
    return {topic: SUBSCRIBE if is_retry_topic(topic) else PUBLISH}


def derive_needed_permissions(
    code: RequestCode, topics: tuple[str, ...], groups: tuple[str, ...], *, checks_batch: bool = True
) -> dict[str, int]:
    """The rights that a request needs, by resource.

    `topics` and `groups` are those that the request names (for a send-back: its origin topic).
    `checks_batch=False` is Apache 4.9.3, where a batch needs nothing.

    Clauses: broker.access.needed-by-code, broker.access.batch-is-checked
    """
    needed: dict[str, int] = {}
    if code in _PUBLISHING and (checks_batch or code is not RequestCode.SEND_BATCH_MESSAGE):
        for topic in topics:
            needed.update(_derive_needed_to_publish(code, topic))
    if code in _READING:
        needed.update(dict.fromkeys(topics, SUBSCRIBE))
    if code in _FOR_GROUP:
        needed.update({retry_topic_of(group): SUBSCRIBE for group in groups})
    return needed


def is_account_permitted(account: Account, code: RequestCode, needed: Mapping[str, int]) -> bool:
    """Whether an account has every right that a request needs.

    Clauses: broker.access.admin-only, broker.access.accounts-are-admin-only,
    broker.access.default-permission
    """
    if code in ADMIN_CODES | ACCOUNT_CODES and not account.is_admin:
        return False
    if account.is_admin and not account.permissions:
        return True
    for resource, permission in needed.items():
        default = (
            account.default_group_permission if is_retry_topic(resource) else account.default_topic_permission
        )
        if not is_permitted(permission, account.permissions.get(resource, default)):
            return False
    return True


def _is_part_match(pattern: str, part: int) -> bool:
    if pattern == "*":
        return True
    if pattern.startswith("{") and pattern.endswith("}"):
        return str(part) in (choice.strip() for choice in pattern[1:-1].split(","))
    low, dash, high = pattern.partition("-")
    numbers = (low, high if dash else low)
    if not all(number.isascii() and number.isdigit() and len(number) <= len("255") for number in numbers):
        return False
    return int(numbers[0]) <= part <= int(numbers[1])


def is_address_trusted(pattern: str, address: str) -> bool:
    """Whether an address is in a white list entry; a blank entry trusts nobody.

    An entry is `*`, an address, addresses joined by commas, or an IPv4 address whose parts may be
    `*`, a range `1-9`, or (the last part) a choice `{1,2}`.

    Clause: broker.access.white-list
    """
    entry = pattern.strip()
    if entry == "*":
        return True
    if "{" not in entry and ("," in entry or ":" in entry):
        return _is_listed(entry.split(","), address)
    try:
        parts = IPv4Address(address).packed
    except AddressValueError:
        return False
    patterns = entry.split(".")
    return len(patterns) == len(parts) and all(map(_is_part_match, patterns, parts))


def _is_listed(pieces: list[str], address: str) -> bool:
    try:
        wanted = ip_address(address)
    except ValueError:
        return False
    for piece in pieces:
        try:
            if ip_address(piece.strip()) == wanted:
                return True
        except ValueError:
            continue
    return False
