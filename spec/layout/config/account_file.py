"""The account file, Apache's `plain_acl.yml`: who may do what, written by an operator.

Apache ignores keys that it does not know, so a misspelt key is a right that nobody has, or a
restriction that nobody obeys. The reference refuses the file, says which entry is wrong and what is
expected there, and never shows a secret.
"""

from collections.abc import Mapping
from typing import Final, NoReturn

from spec.broker.account import AccountEntry, AccountTable, check_table
from spec.broker.topic import DataVersion
from spec.layout.config.yaml_text import YamlNode, encode_yaml, parse_yaml
from spec.rejection import Rejection

_WHITE: Final = "globalWhiteRemoteAddresses"
_ACCOUNTS: Final = "accounts"
_VERSION: Final = "dataVersion"

_ACCESS_KEY: Final = "accessKey"
_SECRET_KEY: Final = "secretKey"  # noqa: S105 - the name of a key, not a secret
_WHITE_ONE: Final = "whiteRemoteAddress"
_ADMIN: Final = "admin"
_TOPIC_DEFAULT: Final = "defaultTopicPerm"
_GROUP_DEFAULT: Final = "defaultGroupPerm"
_TOPICS: Final = "topicPerms"
_GROUPS: Final = "groupPerms"

_ACCOUNT_KEYS: Final = (
    *(_ACCESS_KEY, _SECRET_KEY, _WHITE_ONE, _ADMIN, _TOPIC_DEFAULT, _GROUP_DEFAULT, _TOPICS, _GROUPS),
)


def _refuse(where: str, expected: str) -> NoReturn:
    raise Rejection("broker.access.account-file", 0, f"{where}: expected {expected}")


def _map_of(node: YamlNode, where: str, keys: tuple[str, ...]) -> Mapping[str, YamlNode]:
    if not isinstance(node, dict):
        _refuse(where, f"a map with some of {', '.join(keys)}")
    for key in node:
        if key not in keys:
            _refuse(f"{where}: key {key[:40]!r}", f"one of {', '.join(keys)}")
    return node


def _list_of(node: YamlNode, where: str) -> list[YamlNode]:
    if node is None:
        return []
    if not isinstance(node, list):
        _refuse(where, "a list, each item behind a dash")
    return node


def _text_of(node: YamlNode, where: str, default: str | None = None) -> str:
    if node is None and default is not None:
        return default
    if not isinstance(node, str):
        _refuse(where, "a text")
    return node


def _texts_of(node: YamlNode, where: str) -> tuple[str, ...]:
    items = _list_of(node, where)
    return tuple(_text_of(item, f"{where}[{index}]") for index, item in enumerate(items))


def _flag_of(node: YamlNode, where: str) -> bool:
    text = _text_of(node, where, "false")
    if text.lower() not in ("true", "false"):
        _refuse(where, "true or false")
    return text.lower() == "true"


def _number_of(node: YamlNode, where: str) -> int:
    text = _text_of(node, where, "0")
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(2**63))):
        _refuse(where, "a whole number")
    return int(text)


def _decode_account(node: YamlNode, where: str) -> AccountEntry:
    members = _map_of(node, where, _ACCOUNT_KEYS)
    name = members.get(_ACCESS_KEY)
    if not isinstance(name, str):
        _refuse(f"{where}: {_ACCESS_KEY}", "a text")
    where = f"{where} ({_ACCESS_KEY} {name[:80]!r})"
    return AccountEntry(
        name,
        _text_of(members.get(_SECRET_KEY), f"{where}: {_SECRET_KEY}"),
        _text_of(members.get(_WHITE_ONE), f"{where}: {_WHITE_ONE}", ""),
        _flag_of(members.get(_ADMIN), f"{where}: {_ADMIN}"),
        _text_of(members.get(_TOPIC_DEFAULT), f"{where}: {_TOPIC_DEFAULT}", "DENY"),
        _text_of(members.get(_GROUP_DEFAULT), f"{where}: {_GROUP_DEFAULT}", "DENY"),
        _texts_of(members.get(_TOPICS), f"{where}: {_TOPICS}"),
        _texts_of(members.get(_GROUPS), f"{where}: {_GROUPS}"),
    )


def _decode_version(node: YamlNode) -> DataVersion:
    items = _list_of(node, _VERSION)
    if not items:
        return DataVersion()
    members = _map_of(items[0], f"{_VERSION}[0]", ("counter", "timestamp"))
    counter = _number_of(members.get("counter"), f"{_VERSION}[0]: counter")
    return DataVersion(_number_of(members.get("timestamp"), f"{_VERSION}[0]: timestamp"), counter)


def decode_account_file(data: bytes) -> AccountTable:
    """The accounts in the file; a Rejection says which line or entry is wrong, and what is expected.

    Clauses: broker.access.account-file, broker.access.entry-is-legal
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise Rejection("broker.access.account-file", error.start, "expected a text in UTF-8") from None
    tree = parse_yaml(text)
    root = _map_of({} if tree is None else tree, "the file", (_WHITE, _ACCOUNTS, _VERSION))
    accounts = enumerate(_list_of(root.get(_ACCOUNTS), _ACCOUNTS))
    entries = tuple(_decode_account(node, f"{_ACCOUNTS}[{index}]") for index, node in accounts)
    version = _decode_version(root.get(_VERSION))
    return check_table(AccountTable(_texts_of(root.get(_WHITE), _WHITE), entries, version))


def _encode_account(entry: AccountEntry) -> YamlNode:
    return {
        _ACCESS_KEY: entry.access_key,
        _SECRET_KEY: entry.secret_key,
        _WHITE_ONE: entry.white_remote_address or None,
        _ADMIN: "true" if entry.is_admin else "false",
        _TOPIC_DEFAULT: entry.default_topic_permission,
        _GROUP_DEFAULT: entry.default_group_permission,
        _TOPICS: list(entry.topic_permissions),
        _GROUPS: list(entry.group_permissions),
    }


def encode_account_file(table: AccountTable) -> bytes:
    """The file that reads back as the same accounts, here and at an Apache broker.

    Clause: broker.access.account-file
    """
    version = table.version
    tree: YamlNode = {
        _WHITE: list(table.white_remote_addresses),
        _ACCOUNTS: [_encode_account(entry) for entry in table.entries],
        _VERSION: [{"counter": version.counter, "timestamp": version.timestamp_ms}],
    }
    return encode_yaml(tree).encode()
