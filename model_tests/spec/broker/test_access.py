import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.access import (
    ANY,
    DENY,
    PUBLISH,
    SUBSCRIBE,
    Account,
    derive_needed_permissions,
    is_account_permitted,
    is_address_trusted,
    is_permitted,
    parse_permission,
)
from spec.wire.code import RequestCode


@pytest.mark.clause("broker.access.unknown-text-denies")
def test_permission_texts() -> None:
    texts = ("PUB", " SUB ", "PUB|SUB", "SUB|PUB", "DENY", "pub", "PUB|", "", None)
    both = PUBLISH | SUBSCRIBE
    assert [parse_permission(text) for text in texts] == [PUBLISH, SUBSCRIBE, both, both, *[DENY] * 5]


@pytest.mark.clause("broker.access.denial-wins")
def test_denial_outweighs_and_any_is_met_by_either() -> None:
    assert [is_permitted(PUBLISH, owned) for owned in (0, PUBLISH, SUBSCRIBE, PUBLISH | DENY)] == [
        False,
        True,
        False,
        False,
    ]
    assert [is_permitted(ANY, owned) for owned in (0, PUBLISH, SUBSCRIBE, DENY)] == [False, True, True, False]


@pytest.mark.clause("broker.access.needed-by-code", "broker.access.batch-is-checked")
@pytest.mark.parametrize(
    ("code", "topic_right", "group_right"),
    [
        (RequestCode.SEND_MESSAGE, PUBLISH, None),
        (RequestCode.SEND_MESSAGE_V2, PUBLISH, None),
        (RequestCode.SEND_BATCH_MESSAGE, PUBLISH, None),
        (RequestCode.CONSUMER_SEND_MSG_BACK, PUBLISH, SUBSCRIBE),
        (RequestCode.PULL_MESSAGE, SUBSCRIBE, SUBSCRIBE),
        (RequestCode.QUERY_MESSAGE, SUBSCRIBE, None),
        (RequestCode.HEART_BEAT, SUBSCRIBE, SUBSCRIBE),
        (RequestCode.UPDATE_CONSUMER_OFFSET, SUBSCRIBE, SUBSCRIBE),
        (RequestCode.UNREGISTER_CLIENT, None, SUBSCRIBE),
        (RequestCode.GET_CONSUMER_LIST_BY_GROUP, None, SUBSCRIBE),
        (RequestCode.GET_MAX_OFFSET, None, None),
    ],
)
def test_needed_rights_by_request(
    code: RequestCode, topic_right: int | None, group_right: int | None
) -> None:
    rights = {"T": topic_right, "%RETRY%G": group_right}
    expected = {name: right for name, right in rights.items() if right is not None}
    assert derive_needed_permissions(code, ("T",), ("G",)) == expected


@pytest.mark.clause("broker.access.batch-is-checked")
def test_4_9_3_lets_a_batch_pass() -> None:
    assert derive_needed_permissions(RequestCode.SEND_BATCH_MESSAGE, ("T",), (), checks_batch=False) == {}


@pytest.mark.clause("broker.access.retry-send-is-subscribing")
def test_a_consumer_that_sends_to_its_retry_topic_needs_what_it_needs_to_consume() -> None:
    needed = derive_needed_permissions(RequestCode.SEND_MESSAGE_V2, ("%RETRY%G",), ())
    assert needed == {"%RETRY%G": SUBSCRIBE}


@pytest.mark.clause("broker.access.trace-is-open")
def test_traces_are_taken_from_every_account() -> None:
    assert derive_needed_permissions(RequestCode.SEND_MESSAGE, ("RMQ_SYS_TRACE_TOPIC",), ()) == {}
    needed = derive_needed_permissions(RequestCode.PULL_MESSAGE, ("RMQ_SYS_TRACE_TOPIC",), ())
    assert needed == {"RMQ_SYS_TRACE_TOPIC": SUBSCRIBE}


@pytest.mark.clause("broker.access.reply-is-checked")
@pytest.mark.parametrize("code", [RequestCode.SEND_REPLY_MESSAGE, RequestCode.SEND_REPLY_MESSAGE_V2])
def test_a_reply_needs_nothing_for_the_reply_topic_and_the_right_to_publish_elsewhere(
    code: RequestCode,
) -> None:
    assert derive_needed_permissions(code, ("C_REPLY_TOPIC",), ()) == {}
    assert derive_needed_permissions(code, ("T",), ()) == {"T": PUBLISH}
    needed = derive_needed_permissions(RequestCode.SEND_MESSAGE, ("C_REPLY_TOPIC",), ())
    assert needed == {"C_REPLY_TOPIC": PUBLISH}


@pytest.mark.clause("broker.access.admin-only", "broker.access.accounts-are-admin-only")
def test_only_an_administrator_changes_the_broker() -> None:
    user = Account(default_topic_permission=PUBLISH | SUBSCRIBE)
    refused = {int(code) for code in RequestCode if not is_account_permitted(user, code, {})}
    assert refused == {17, 25, 50, 51, 52, 53, 54, 200, 207, 215}
    assert all(is_account_permitted(Account(is_admin=True), code, {"T": PUBLISH}) for code in RequestCode)


@pytest.mark.clause("broker.access.default-permission")
def test_unlisted_topics_and_groups_have_the_defaults() -> None:
    account = Account(
        default_topic_permission=DENY, default_group_permission=SUBSCRIBE, permissions={"T": SUBSCRIBE}
    )
    pull = RequestCode.PULL_MESSAGE
    assert is_account_permitted(account, pull, {"T": SUBSCRIBE, "%RETRY%G": SUBSCRIBE})
    assert not is_account_permitted(account, pull, {"U": SUBSCRIBE, "%RETRY%G": SUBSCRIBE})


@pytest.mark.clause("broker.access.default-permission")
def test_account_without_a_list_has_the_defaults_and_an_administrator_with_one_is_bound_by_it() -> None:
    needed = {"T": PUBLISH}
    accounts = (
        Account(),
        Account(default_topic_permission=PUBLISH),
        Account(is_admin=True),
        Account(is_admin=True, permissions={"T": SUBSCRIBE}),
        Account(is_admin=True, permissions={"T": PUBLISH}),
    )
    permitted = [is_account_permitted(account, RequestCode.SEND_MESSAGE, needed) for account in accounts]
    assert permitted == [False, True, True, False, True]


@pytest.mark.clause("broker.access.white-list")
@pytest.mark.parametrize(
    ("pattern", "address", "is_trusted"),
    [
        ("*", "10.0.0.1", True),
        ("*", "::1", True),
        ("*.*.*.*", "10.0.0.1", True),
        ("", "10.0.0.1", False),
        (" ", "10.0.0.1", False),
        ("10.0.0.1", "10.0.0.1", True),
        ("10.0.0.1", "10.0.0.11", False),
        ("10.0.0.1,10.0.0.2", "10.0.0.2", True),
        ("10.0.0.1,10.0.0.2", "10.0.0.3", False),
        ("10.0.0.{1,20}", "10.0.0.1", True),
        ("10.0.0.{1,20}", "10.0.0.20", True),
        ("10.0.0.{1,20}", "10.0.0.2", False),
        ("10.0.*.*", "10.0.7.9", True),
        ("10.0.*.*", "10.1.7.9", False),
        ("10.0.0.{12", "10.0.0.1", False),
        ("10.0.0.112}", "10.0.0.12", False),
        ("10.0.1-9.*", "10.0.0.1", False),
        ("10.0.1-9.*", "10.0.1.1", True),
        ("10.0.1-9.*", "10.0.9.1", True),
        ("10.0.1-9.*", "10.0.10.1", False),
        ("10.0.0.255", "10.0.0.255", True),
        ("10.0.0.0-0255", "10.0.0.255", False),
        ("10.0.0.x", "10.0.0.1", False),
        ("10.0.0", "10.0.0.1", False),
        ("10.0.0.1", "not an address", False),
        ("::1", "0:0:0:0:0:0:0:1", True),
        ("10.0.0.1,::1", "::1", True),
        ("10.0.0.1, 10.0.0.2", "10.0.0.2", True),
        ("::1", "::2", False),
        ("10.0.0.*", "::1", False),
    ],
)
def test_white_list_entries(pattern: str, address: str, *, is_trusted: bool) -> None:
    assert is_address_trusted(pattern, address) is is_trusted


@pytest.mark.clause("broker.access.white-list")
@given(pattern=st.text(max_size=20), address=st.text(max_size=20))
def test_any_texts_give_an_answer(pattern: str, address: str) -> None:
    assert is_address_trusted(pattern, address) in (True, False)
