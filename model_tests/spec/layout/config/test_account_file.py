import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.account import PERMISSION_TEXTS, AccountEntry, AccountTable
from spec.broker.topic import DataVersion
from spec.layout.config.account_file import decode_account_file, encode_account_file
from spec.rejection import Rejection

ACCOUNT_KEYS = ", ".join(
    [
        *("accessKey", "secretKey", "whiteRemoteAddress", "admin"),
        *("defaultTopicPerm", "defaultGroupPerm", "topicPerms", "groupPerms"),
    ]
)
BY_HAND = b"""# who may do what
globalWhiteRemoteAddresses:
  - 10.10.103.*
  - 192.168.0.*

accounts:
  - accessKey: RocketMQ
    secretKey: 12345678
    whiteRemoteAddress:
    admin: false
    defaultTopicPerm: DENY
    defaultGroupPerm: SUB
    topicPerms:
      - topicA=DENY
      - topicB=PUB|SUB
    groupPerms:
      # the group should convert to retry topic
      - groupA=DENY

  - accessKey: rocketmq2
    secretKey: "12345678"
    whiteRemoteAddress: 192.168.1.*
    # if it is admin, it could access all resources
    admin: true
"""
BY_A_TOOL = b"""globalWhiteRemoteAddresses:
- 10.10.103.*
- 192.168.0.*
accounts:
- accessKey: RocketMQ
  secretKey: '12345678'
  whiteRemoteAddress: null
  admin: false
  defaultTopicPerm: DENY
  defaultGroupPerm: SUB
  topicPerms:
  - topicA=DENY
  - topicB=PUB|SUB
  groupPerms:
  - groupA=DENY
- accessKey: rocketmq2
  secretKey: '12345678'
  whiteRemoteAddress: 192.168.1.*
  admin: true
dataVersion:
- counter: 3
  timestamp: 1600000000000
"""
TABLE = AccountTable(
    ("10.10.103.*", "192.168.0.*"),
    (
        AccountEntry(
            "RocketMQ",
            "12345678",
            "",
            is_admin=False,
            default_topic_permission="DENY",
            default_group_permission="SUB",
            topic_permissions=("topicA=DENY", "topicB=PUB|SUB"),
            group_permissions=("groupA=DENY",),
        ),
        AccountEntry("rocketmq2", "12345678", "192.168.1.*", is_admin=True),
    ),
)


@pytest.mark.clause("broker.access.account-file")
def test_the_file_is_read_whether_people_or_tools_wrote_it() -> None:
    assert decode_account_file(BY_HAND) == TABLE
    version = DataVersion(1_600_000_000_000, 3)
    assert decode_account_file(BY_A_TOOL) == AccountTable(
        TABLE.white_remote_addresses, TABLE.entries, version
    )
    assert decode_account_file(b"") == AccountTable()


@pytest.mark.clause("broker.access.account-file", "broker.access.secrets-stay")
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("accounts: x", "accounts: expected a list, each item behind a dash"),
        ("- x", "the file: expected a map with some of globalWhiteRemoteAddresses, accounts, dataVersion"),
        (
            "account: []",
            "the file: key 'account': expected one of globalWhiteRemoteAddresses, accounts, dataVersion",
        ),
        ("globalWhiteRemoteAddresses:\n- a: b", "globalWhiteRemoteAddresses[0]: expected a text"),
        ("accounts:\n- secretKey: hush-hush", "accounts[0]: accessKey: expected a text"),
        (
            "accounts:\n- accessKey: RocketMQ",
            "accounts[0] (accessKey 'RocketMQ'): secretKey: expected a text",
        ),
        (
            "accounts:\n- accessKey: RocketMQ\n  secretKey: [hush-hush]",
            "accounts[0] (accessKey 'RocketMQ'): secretKey: expected a text",
        ),
        (
            "accounts:\n- accessKey: RocketMQ\n  secretKey: hush-hush\n  admin: yes",
            "accounts[0] (accessKey 'RocketMQ'): admin: expected true or false",
        ),
        (
            "accounts:\n- accessKey: RocketMQ\n  secretKey: hush-hush\n  topicPerms:\n  - - T=PUB",
            "accounts[0] (accessKey 'RocketMQ'): topicPerms[0]: expected a text",
        ),
        (
            "accounts:\n- accessKey: RocketMQ\n  secretkey: hush-hush",
            f"accounts[0]: key 'secretkey': expected one of {ACCOUNT_KEYS}",
        ),
        ("dataVersion:\n- counter: x", "dataVersion[0]: counter: expected a whole number"),
    ],
)
def test_any_other_shape_is_refused_with_the_entry_and_never_with_a_secret(text: str, reason: str) -> None:
    with pytest.raises(Rejection) as refused:
        decode_account_file(text.encode())
    assert refused.value == Rejection("broker.access.account-file", 0, reason)


def test_a_file_that_is_no_text_is_refused_with_the_place() -> None:
    with pytest.raises(Rejection) as refused:
        decode_account_file(b"accounts: \xff")
    assert refused.value == Rejection("broker.access.account-file", 10, "expected a text in UTF-8")


NAMES = st.text(alphabet="abcXYZ019_-%|", min_size=1, max_size=8)
PERMISSIONS = st.lists(
    st.tuples(NAMES, st.sampled_from(PERMISSION_TEXTS)).map("=".join), max_size=3, unique=True
).map(tuple)
ENTRIES = st.builds(
    AccountEntry,
    st.text(alphabet="abcXYZ019:#'\" =", min_size=7, max_size=12),
    st.text(alphabet="abc019:#'\"\\ -*\u00e9", min_size=7, max_size=12),
    st.sampled_from(["", "*", "10.0.0.*", "10.0.0.1,::1", "10.0.0.{1,2}"]),
    st.booleans(),
    st.sampled_from(PERMISSION_TEXTS),
    st.sampled_from(PERMISSION_TEXTS),
    PERMISSIONS,
    PERMISSIONS,
)
TABLES = st.builds(
    AccountTable,
    st.lists(st.sampled_from(["*", "10.0.0.1", "10.0.1-9.*"]), max_size=2).map(tuple),
    st.lists(ENTRIES, max_size=3, unique_by=lambda entry: entry.access_key).map(tuple),
    st.builds(DataVersion, st.integers(0, 2**62), st.integers(0, 2**62)),
)


@pytest.mark.clause("broker.access.account-file")
@given(TABLES)
def test_every_table_is_read_back_from_its_file(table: AccountTable) -> None:
    assert decode_account_file(encode_account_file(table)) == table


def test_what_is_written_is_what_apache_reads() -> None:
    entry = AccountEntry("RocketMQ", "12345678", topic_permissions=("T=PUB|SUB",))
    expected = """globalWhiteRemoteAddresses:
  - '10.0.0.*'
accounts:
  - accessKey: RocketMQ
    secretKey: '12345678'
    whiteRemoteAddress:
    admin: false
    defaultTopicPerm: DENY
    defaultGroupPerm: DENY
    topicPerms:
      - T=PUB|SUB
    groupPerms: []
dataVersion:
  - counter: 2
    timestamp: 7
"""
    table = AccountTable(("10.0.0.*",), (entry,), DataVersion(7, 2))
    assert encode_account_file(table).decode() == expected
