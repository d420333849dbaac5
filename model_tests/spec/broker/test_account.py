from dataclasses import replace

import pytest

from spec.broker.access import DENY, PUBLISH, SUBSCRIBE, Account
from spec.broker.account import (
    AccountChange,
    AccountEntry,
    AccountTable,
    KnownAccount,
    change_entry,
    check_entry,
    check_table,
    split_permission,
)
from spec.rejection import Rejection

NO_PERMISSION = "is no permission: expected DENY, PUB, SUB, PUB|SUB, SUB|PUB, or `name=PUB`"
ENTRY = AccountEntry(
    "RocketMQ",
    "12345678",
    "10.0.0.*",
    is_admin=False,
    default_topic_permission="SUB",
    default_group_permission="PUB|SUB",
    topic_permissions=("T=PUB", " U = DENY"),
    group_permissions=("G=SUB",),
)


def test_an_account_has_its_groups_rights_under_their_retry_topics() -> None:
    account = Account(
        default_topic_permission=SUBSCRIBE,
        default_group_permission=PUBLISH | SUBSCRIBE,
        permissions={"T": PUBLISH, "U": DENY, "%RETRY%G": SUBSCRIBE},
    )
    known = KnownAccount("12345678", "10.0.0.*", account)
    assert ENTRY.derive_known() == known
    assert AccountTable((), (ENTRY,)).derive_known() == {"RocketMQ": known}
    assert AccountTable((), (ENTRY,)).find("RocketMQ") is ENTRY
    assert AccountTable((), (ENTRY,)).find("nobody") is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("T=PUB", ("T", PUBLISH)), ("T", ("T", DENY)), ("T=", ("T", DENY)), ("T=a=b", ("T", DENY))],
)
def test_a_named_permission_that_is_not_understood_denies(text: str, expected: tuple[str, int]) -> None:
    assert split_permission(text) == expected


@pytest.mark.clause("broker.access.secrets-stay")
def test_no_text_of_an_account_shows_its_secret() -> None:
    change = AccountChange("RocketMQ", is_admin=False, secret_key="12345678")
    for value in (ENTRY, ENTRY.derive_known(), AccountTable((), (ENTRY,)), change):
        assert "12345678" not in repr(value)


@pytest.mark.clause("broker.access.key-length")
@pytest.mark.parametrize(("key", "secret"), [("123456", "1234567"), ("1234567", "123456"), ("", "")])
def test_a_short_key_or_secret_is_refused(key: str, secret: str) -> None:
    assert check_entry(AccountEntry("1234567", "1234567")) == AccountEntry("1234567", "1234567")
    with pytest.raises(Rejection) as refused:
        check_entry(AccountEntry(key, secret))
    reason = f"accessKey {key!r}: it and its secretKey need 7 characters at least"
    assert refused.value == Rejection("broker.access.key-length", 0, reason)


@pytest.mark.clause("broker.access.entry-is-legal")
@pytest.mark.parametrize(
    ("entry", "what"),
    [
        (
            replace(ENTRY, white_remote_address="10.0.0"),
            "whiteRemoteAddress '10.0.0' is no address or pattern",
        ),
        (replace(ENTRY, default_topic_permission="pub"), f"'pub' {NO_PERMISSION}"),
        (replace(ENTRY, default_group_permission=""), f"'' {NO_PERMISSION}"),
        (replace(ENTRY, topic_permissions=("T=PUB", "T")), f"'T' {NO_PERMISSION}"),
        (replace(ENTRY, topic_permissions=("=PUB",)), f"'=PUB' {NO_PERMISSION}"),
        (replace(ENTRY, group_permissions=("G=ANY",)), f"'G=ANY' {NO_PERMISSION}"),
    ],
)
def test_what_cannot_be_understood_is_refused_with_what_is_expected(entry: AccountEntry, what: str) -> None:
    assert check_entry(ENTRY) == ENTRY
    with pytest.raises(Rejection) as refused:
        check_entry(entry)
    assert refused.value == Rejection("broker.access.entry-is-legal", 0, f"accessKey 'RocketMQ': {what}")


@pytest.mark.clause("broker.access.change-keeps-the-rest")
def test_a_change_replaces_what_it_names() -> None:
    nothing = AccountChange("RocketMQ", is_admin=False)
    assert change_entry(ENTRY, nothing) == ENTRY
    empty = AccountChange(
        "RocketMQ",
        secret_key="",
        white_remote_address="",
        is_admin=False,
        default_topic_permission="",
        default_group_permission="",
        topic_permissions=(),
        group_permissions=(),
    )
    assert change_entry(ENTRY, empty) == replace(
        ENTRY, white_remote_address="", topic_permissions=(), group_permissions=()
    )
    whole = AccountChange(
        "RocketMQ",
        secret_key="87654321",
        white_remote_address="*",
        is_admin=True,
        default_topic_permission="PUB",
        default_group_permission="SUB",
        topic_permissions=("V=SUB",),
        group_permissions=("H=PUB",),
    )
    expected = AccountEntry(
        "RocketMQ",
        "87654321",
        "*",
        is_admin=True,
        default_topic_permission="PUB",
        default_group_permission="SUB",
        topic_permissions=("V=SUB",),
        group_permissions=("H=PUB",),
    )
    assert change_entry(ENTRY, whole) == expected
    assert change_entry(None, whole) == expected
    with pytest.raises(Rejection, match="need 7 characters at least"):
        change_entry(None, nothing)


@pytest.mark.clause("broker.access.entry-is-legal")
def test_a_table_is_refused_for_one_bad_address_account_or_double_key() -> None:
    good = AccountTable(("*", "10.0.0.1"), (ENTRY,))
    assert check_table(good) == good
    twice = "accessKey 'RocketMQ' stands twice"
    nowhere = "globalWhiteRemoteAddresses: 'nowhere' is no address or pattern"
    for bad, reason in (
        (replace(good, entries=(ENTRY, ENTRY)), twice),
        (replace(good, white_remote_addresses=("nowhere",)), nowhere),
    ):
        with pytest.raises(Rejection) as refused:
            check_table(bad)
        assert refused.value == Rejection("broker.access.entry-is-legal", 0, reason)
    with pytest.raises(Rejection, match="need 7 characters"):
        check_table(replace(good, entries=(replace(ENTRY, secret_key=""),)))
