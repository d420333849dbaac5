"""Accounts shown and changed by administrators: the operations 50 to 54."""

import json

import pytest

from model_tests.refimpl.broker.test_account_store import PATH, Office
from refimpl.broker.account_desk import AccountDesk
from refimpl.broker.account_store import AccountStore
from refimpl.broker.settings import BrokerSettings
from refimpl.remoting.calls import derive_request
from refimpl.remoting.request import OK, Reply, Request
from spec.broker.account import AccountEntry
from spec.broker.topic import DataVersion
from spec.values.host import host_of
from spec.wire.code import RequestCode
from spec.wire.header.access import ChangeAccountHeader, ChangeWhiteListHeader, DeleteAccountHeader
from spec.wire.header.codec import CustomHeader
from spec.wire.header.table import REQUEST_HEADERS, RESPONSE_HEADERS

CHANGE = RequestCode.UPDATE_AND_CREATE_ACL_CONFIG
DELETE = RequestCode.DELETE_ACL_CONFIG
WHITE = RequestCode.UPDATE_GLOBAL_WHITE_ADDRS_CONFIG
VERSION = RequestCode.GET_BROKER_CLUSTER_ACL_INFO
LIST = RequestCode.GET_BROKER_CLUSTER_ACL_CONFIG
KNOWN = AccountEntry("RocketMQ", "12345678")
EXPECTED = "expected DENY, PUB, SUB, PUB|SUB, SUB|PUB, or `name=PUB`"
OFF = "access control is off: this broker has no accounts (start it with an account file)"


def ask(accounts: AccountStore | None, code: RequestCode, header: CustomHeader | None = None) -> Reply | None:
    fields = None if header is None else REQUEST_HEADERS[code].encode(header)
    frame = derive_request(code, 1, fields, b"", is_oneway=False)
    desk = AccountDesk(BrokerSettings(), accounts)
    return desk.handlers()[code](Request(1, host_of("10.0.0.9", 1), frame, 99))


@pytest.mark.clause("broker.access.change-keeps-the-rest")
def test_a_change_names_what_is_new_and_keeps_the_rest_on_disk_too() -> None:
    office = Office()
    accounts = office.open()
    more = ChangeAccountHeader("RocketMQ", admin=True, topic_perms="T=PUB, U=SUB", white_remote_address="")
    assert ask(accounts, CHANGE, more) == OK
    assert ask(accounts, CHANGE, ChangeAccountHeader("another1", "87654321", default_topic_perm="SUB")) == OK
    assert ask(accounts, CHANGE, ChangeAccountHeader("RocketMQ", group_perms="", default_group_perm="")) == OK
    changed = AccountEntry("RocketMQ", "12345678", topic_permissions=("T=PUB", "U=SUB"))
    expected = (changed, AccountEntry("another1", "87654321", default_topic_permission="SUB"))
    assert accounts.table.entries == expected
    assert office.open().table.entries == expected
    assert office.open().table.version == DataVersion(99, 3)


@pytest.mark.clause("broker.access.key-length", "broker.access.entry-is-legal", "broker.access.secrets-stay")
@pytest.mark.parametrize(
    ("header", "reason"),
    [
        (
            ChangeAccountHeader("another1"),
            "accessKey 'another1': it and its secretKey need 7 characters at least",
        ),
        (
            ChangeAccountHeader("short", "12345678"),
            "accessKey 'short': it and its secretKey need 7 characters at least",
        ),
        (
            ChangeAccountHeader("RocketMQ", "hush-hush", white_remote_address="10.0.0.x"),
            "accessKey 'RocketMQ': whiteRemoteAddress '10.0.0.x' is no address or pattern",
        ),
        (
            ChangeAccountHeader("RocketMQ", "hush-hush", topic_perms="T=PUBLISH"),
            f"accessKey 'RocketMQ': 'T=PUBLISH' is no permission: {EXPECTED}",
        ),
    ],
)
def test_what_cannot_be_understood_is_refused_with_209_and_changes_nothing(
    header: ChangeAccountHeader, reason: str
) -> None:
    office = Office()
    accounts = office.open()
    assert ask(accounts, CHANGE, header) == Reply(209, reason)
    assert (accounts.table.entries, office.open().table.entries) == ((KNOWN,), (KNOWN,))


def test_an_account_is_deleted_once() -> None:
    office = Office()
    accounts = office.open()
    assert ask(accounts, DELETE, DeleteAccountHeader("RocketMQ")) == OK
    assert (accounts.table.entries, accounts.trust.accounts) == ((), {})
    assert office.open().table.entries == ()
    refused = Reply(210, "there is no account with accessKey 'RocketMQ'")
    assert ask(accounts, DELETE, DeleteAccountHeader("RocketMQ")) == refused


def white_list_after(accounts: AccountStore, addresses: str, path: str | None = None) -> tuple[str, ...]:
    assert ask(accounts, WHITE, ChangeWhiteListHeader(addresses, path)) == OK
    return accounts.trust.addresses


def test_the_white_list_is_replaced_or_refused_with_211() -> None:
    accounts = Office().open()
    assert white_list_after(accounts, "10.0.0.*, 192.168.0.1") == ("10.0.0.*", "192.168.0.1")
    assert white_list_after(accounts, "") == ()
    assert white_list_after(accounts, "10.0.0.*", "/opt/rocketmq/" + PATH) == ("10.0.0.*",)
    nowhere = Reply(211, "globalWhiteRemoteAddresses: 'nowhere' is no address or pattern")
    assert ask(accounts, WHITE, ChangeWhiteListHeader("10.0.0.1,nowhere")) == nowhere
    elsewhere = Reply(211, f"the accounts of this broker stand in {PATH} only")
    assert ask(accounts, WHITE, ChangeWhiteListHeader("10.0.0.1", "/opt/acl/other.yml")) == elsewhere
    assert accounts.trust.addresses == ("10.0.0.*",)


@pytest.mark.clause("broker.access.secrets-stay")
def test_accounts_are_listed_without_their_secrets_and_with_their_version() -> None:
    accounts = Office().open()
    ask(accounts, WHITE, ChangeWhiteListHeader("10.0.0.*"))
    listed = ask(accounts, LIST)
    assert listed is not None
    assert json.loads(listed.body) == {
        "globalWhiteAddrs": ["10.0.0.*"],
        "plainAccessConfigs": [
            {
                "accessKey": "RocketMQ",
                "admin": False,
                "defaultGroupPerm": "DENY",
                "defaultTopicPerm": "DENY",
                "groupPerms": [],
                "topicPerms": [],
                "whiteRemoteAddress": "",
            }
        ],
    }
    version = ask(accounts, VERSION)
    assert version is not None
    header = RESPONSE_HEADERS[VERSION].decode(version.fields)
    assert (version.code, RESPONSE_HEADERS[VERSION].encode(header)) == (
        0,
        {
            "version": '{"counter":1,"timestamp":99}',
            "brokerName": "broker-a",
            "brokerAddr": "127.0.0.1:10911",
            "clusterName": "DefaultCluster",
            "allAclFileVersion": '{"config/plain_acl.yml":{"counter":1,"timestamp":99}}',
        },
    )


@pytest.mark.parametrize(
    ("code", "header", "result"),
    [
        (CHANGE, ChangeAccountHeader("RocketMQ"), 209),
        (DELETE, DeleteAccountHeader("RocketMQ"), 210),
        (WHITE, ChangeWhiteListHeader("*"), 211),
        (VERSION, None, 1),
        (LIST, None, 1),
    ],
)
def test_without_access_control_every_operation_says_so(
    code: RequestCode, header: CustomHeader | None, result: int
) -> None:
    assert ask(None, code, header) == Reply(result, OFF)


def test_a_change_that_the_disk_refuses_is_answered_and_does_not_count() -> None:
    office = Office()
    accounts = office.open()
    office.disk.is_read_only = True
    refused = Reply(210, f"{PATH}.tmp: the disk cannot be written")
    assert ask(accounts, DELETE, DeleteAccountHeader("RocketMQ")) == refused
    assert (accounts.table.entries, set(accounts.trust.accounts)) == ((KNOWN,), {"RocketMQ"})
