"""Access control before every handler: who is believed, what they may do, what they are told."""

from collections import Counter
from typing import Final

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE, BrokerWorld, Client
from model_tests.refimpl.broker.captured import CAPTURES, captured_frames
from model_tests.refimpl.broker.test_account_store import write
from refimpl.broker.access_guard import AccessGuard, derive_address
from refimpl.broker.account_store import AccountStore
from refimpl.broker.broker import Broker
from refimpl.broker.settings import BrokerSettings
from refimpl.effect import Severity
from refimpl.remoting.calls import derive_request
from refimpl.remoting.request import Reply, Request
from refimpl.simulated.world import World
from spec.broker.access import PUBLISH, SUBSCRIBE, Account
from spec.broker.account import KnownAccount
from spec.broker.admission import Trust
from spec.group.consumption import ConsumeType, MessageModel
from spec.group.start_position import StartPolicy
from spec.override import override
from spec.values.host import Host, host_of
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset
from spec.wire.body.heartbeat import ConsumerData, HeartbeatData
from spec.wire.body.subscription import SubscriptionRecord
from spec.wire.code import LaterRequestCode, RequestCode
from spec.wire.frame import Frame
from spec.wire.header.client import ConsumerGroupHeader, SendBackHeader, UnregisterClientHeader
from spec.wire.header.codec import CustomHeader
from spec.wire.header.offset import QueryConsumerOffsetHeader, UpdateConsumerOffsetHeader
from spec.wire.header.pull import PullMessageHeader, QueryMessageHeader
from spec.wire.header.send import SendMessageHeader
from spec.wire.header.table import REQUEST_HEADERS
from spec.wire.signature import sign_fields

PEER: Final = host_of("10.0.0.9", 4711)
ALL: Final = PUBLISH | SUBSCRIBE
OPEN: Final = Account(default_topic_permission=ALL, default_group_permission=ALL)
EMPTY_FILE: Final = b"accounts:\n"


class Door:
    """A guard with one account, `ak` and `sk` as in the captures."""

    def __init__(self, account: Account = OPEN, white: tuple[str, ...] = (), own_white: str = "") -> None:
        disk = World(1).add_disk("b")
        file = disk.create("config/plain_acl.yml", len(EMPTY_FILE))
        file.write(0, EMPTY_FILE)
        self.notes: list[tuple[Severity, str]] = []
        accounts = AccountStore(disk, "config/plain_acl.yml", self.note)
        accounts.trust = Trust(white, {"ak": KnownAccount("sk", own_white, account)})
        self.guard = AccessGuard(accounts, self.note)

    def note(self, severity: Severity, text: str) -> None:
        self.notes.append((severity, text))

    def ask(self, frame: Frame, peer: Host = PEER) -> Reply | None:
        return self.guard.check(Request(1, peer, frame, 0))


def signed(code: int, header: CustomHeader | None = None, body: bytes = b"", secret: str = "sk") -> Frame:
    fields = {} if header is None else REQUEST_HEADERS[code].encode(header)
    return derive_request(code, 1, sign_fields(fields, body, "ak", secret), body, is_oneway=False)


def refusal(reason: str) -> Reply:
    return Reply(1, f"org.apache.rocketmq.acl.common.AclException: {reason}")


def send_to(topic: str) -> SendMessageHeader:
    return SendMessageHeader("p", topic, "TBW102", 4, QueueId(0), 0, Milliseconds(0), 0)


@pytest.mark.clause("broker.access.identity")
def test_every_signed_request_of_a_real_client_passes_and_none_passes_with_another_secret() -> None:
    door = Door()
    outcomes = Counter[str]()
    for path in sorted(CAPTURES.glob("*.jsonl")):
        for frame in captured_frames(path.stem):
            fields = frame.extension_fields or {}
            reply = door.ask(frame)
            match fields.get("AccessKey"):
                case "ak":
                    assert reply is None, path.name
                    spoilt = frame._replace(body=frame.body + b" ")
                    assert door.ask(spoilt) == refusal("Check signature failed for accessKey=ak")
                    outcomes["passed"] += 1
                case None:
                    assert reply == refusal("No accessKey is configured")
                    outcomes["unsigned"] += 1
                case other:
                    assert (other, reply) == ("", refusal("No acl config for "))
                    outcomes["empty key"] += 1
    assert outcomes == {"passed": 52, "unsigned": 37, "empty key": 103}


@pytest.mark.clause("broker.access.identity")
def test_a_wrong_secret_and_an_added_field_spoil_the_signature() -> None:
    door = Door()
    failed = refusal("Check signature failed for accessKey=ak")
    assert door.ask(signed(RequestCode.HEART_BEAT, None, b'{"clientID":"c"}')) is None
    assert door.ask(signed(RequestCode.HEART_BEAT, None, b'{"clientID":"c"}', secret="ks")) == failed
    frame = signed(RequestCode.GET_CONSUMER_LIST_BY_GROUP, ConsumerGroupHeader("g"))
    added = {**(frame.extension_fields or {}), "ns": "added later"}
    assert door.ask(frame._replace(extension_fields=added)) == failed


@pytest.mark.clause("broker.access.trusted-address-passes", "broker.access.white-list")
def test_trusted_addresses_pass_without_a_signature_whatever_they_ask() -> None:
    unsigned = derive_request(RequestCode.DELETE_TOPIC_IN_BROKER, 1, None, b"", is_oneway=False)
    door = Door(white=("10.0.1.*", "10.0.0.9"))
    assert door.ask(unsigned) is None
    assert door.ask(unsigned, host_of("10.0.2.1", 1)) == refusal("No accessKey is configured")
    named = derive_request(RequestCode.DELETE_TOPIC_IN_BROKER, 1, {"AccessKey": "ak"}, b"", is_oneway=False)
    unreadable = derive_request(RequestCode.HEART_BEAT, 1, None, b"{", is_oneway=False)
    assert door.ask(unreadable) is None  # its handler will say what is wrong
    door = Door(own_white="10.0.0.9")
    assert door.ask(named) is None
    assert door.ask(unsigned) == refusal("No accessKey is configured")


def test_an_ipv4_peer_on_an_ipv6_socket_has_its_ipv4_address() -> None:
    assert derive_address(host_of("::ffff:10.0.0.9", 1)) == "10.0.0.9"
    assert derive_address(host_of("::1", 1)) == "::1"
    assert derive_address(PEER) == "10.0.0.9"


@pytest.mark.clause("broker.access.admin-only", "broker.access.accounts-are-admin-only")
@pytest.mark.parametrize("code", [17, 25, 200, 207, 215, 50, 51, 52, 53, 54])
def test_only_an_administrator_may_change_the_broker_or_see_accounts(code: int) -> None:
    frame = signed(code, None)
    expected = refusal(f"Need admin permission for request code={code}, but accessKey=ak is not")
    assert Door().ask(frame) == expected
    assert Door(Account(is_admin=True)).ask(frame) is None


def heartbeat() -> bytes:
    part = ConsumerData(
        "G",
        ConsumeType.PUSH,
        MessageModel.CLUSTERING,
        StartPolicy.LAST_OFFSET,
        (SubscriptionRecord("T", "*"), SubscriptionRecord("%RETRY%G", "*")),
    )
    return HeartbeatData("c", (), (part,)).encode()


PULL: Final = PullMessageHeader(
    "G", "T", QueueId(0), QueueOffset(0), 1, 0, QueueOffset(0), Milliseconds(0), 0
)
COMMIT: Final = UpdateConsumerOffsetHeader("G", "T", QueueId(0), QueueOffset(0))
QUERY: Final = QueryMessageHeader("T", "k", 1, Milliseconds(0), Milliseconds(1))
QUERY_OFFSET: Final = QueryConsumerOffsetHeader("g", "T", QueueId(0))
BACK: Final = SendBackHeader(CommitLogPosition(0), "G", 0, None, "T")
SHORT_BACK: Final = SendBackHeader(CommitLogPosition(0), "G", 0)
NEEDS: Final[list[tuple[int, CustomHeader | None, bytes, dict[str, int]]]] = [
    (RequestCode.SEND_MESSAGE, send_to("T"), b"x", {"T": PUBLISH}),
    (RequestCode.SEND_MESSAGE_V2, send_to("T"), b"x", {"T": PUBLISH}),
    (RequestCode.SEND_BATCH_MESSAGE, send_to("T"), b"x", {"T": PUBLISH}),
    (RequestCode.SEND_REPLY_MESSAGE, send_to("T"), b"x", {"T": PUBLISH}),
    (RequestCode.SEND_REPLY_MESSAGE_V2, send_to("T"), b"x", {"T": PUBLISH}),
    (RequestCode.SEND_MESSAGE_V2, send_to("%RETRY%G"), b"x", {"%RETRY%G": SUBSCRIBE}),
    (RequestCode.CONSUMER_SEND_MSG_BACK, BACK, b"", {"T": PUBLISH, "%RETRY%G": SUBSCRIBE}),
    (RequestCode.CONSUMER_SEND_MSG_BACK, SHORT_BACK, b"", {"%RETRY%G": SUBSCRIBE}),
    (RequestCode.PULL_MESSAGE, PULL, b"", {"T": SUBSCRIBE, "%RETRY%G": SUBSCRIBE}),
    (LaterRequestCode.LITE_PULL_MESSAGE, PULL, b"", {"T": SUBSCRIBE, "%RETRY%G": SUBSCRIBE}),
    (RequestCode.UPDATE_CONSUMER_OFFSET, COMMIT, b"", {"T": SUBSCRIBE, "%RETRY%G": SUBSCRIBE}),
    (RequestCode.QUERY_MESSAGE, QUERY, b"", {"T": SUBSCRIBE}),
    (RequestCode.HEART_BEAT, None, heartbeat(), {"T": SUBSCRIBE, "%RETRY%G": SUBSCRIBE}),
    (
        RequestCode.UNREGISTER_CLIENT,
        UnregisterClientHeader("c", "P", "G"),
        b"",
        {"%RETRY%G": SUBSCRIBE},
    ),
    (RequestCode.GET_CONSUMER_LIST_BY_GROUP, ConsumerGroupHeader("G"), b"", {"%RETRY%G": SUBSCRIBE}),
]


@pytest.mark.clause(
    "broker.access.needed-by-code", "broker.access.reply-is-checked", "broker.access.batch-is-checked"
)
@pytest.mark.parametrize(("code", "header", "body", "needed"), NEEDS)
def test_a_request_needs_every_right_that_its_content_asks_for(
    code: int, header: CustomHeader | None, body: bytes, needed: dict[str, int]
) -> None:
    frame = signed(code, header, body)
    assert Door(Account(permissions=needed)).ask(frame) is None
    for missing, right in needed.items():
        rest = {name: other for name, other in needed.items() if name != missing}
        assert Door(Account(permissions=rest)).ask(frame) == refusal(f"No default permission for {missing}")
        wrong = {**needed, missing: ALL & ~right}
        assert Door(Account(permissions=wrong)).ask(frame) == refusal(f"No default permission for {missing}")


@pytest.mark.clause("broker.access.needed-by-code")
@pytest.mark.parametrize(
    ("code", "header"),
    [
        (RequestCode.GET_MAX_OFFSET, None),
        (RequestCode.UNREGISTER_CLIENT, UnregisterClientHeader("c", "P")),
        (RequestCode.SEND_MESSAGE, send_to("RMQ_SYS_TRACE_TOPIC")),
        (RequestCode.SEND_REPLY_MESSAGE, send_to("DefaultCluster_REPLY_TOPIC")),
        (LaterRequestCode.POP_MESSAGE, None),
        (9_999, None),
    ],
)
def test_what_no_right_is_about_needs_a_signature_and_nothing_else(
    code: int, header: CustomHeader | None
) -> None:
    assert Door(Account()).ask(signed(code, header)) is None
    assert Door(Account()).ask(signed(code, header, secret="ks")) is not None


@pytest.mark.clause("broker.access.identity")
def test_what_a_stranger_wrote_is_not_read() -> None:
    unreadable = derive_request(RequestCode.HEART_BEAT, 1, None, b"{", is_oneway=False)
    assert Door().ask(unreadable) == refusal("No accessKey is configured")
    known = Door().ask(signed(RequestCode.HEART_BEAT, None, b"{"))
    assert known is not None
    assert (known.code, (known.remark or "").startswith(refusal("").remark or "")) == (1, True)


@pytest.mark.clause("broker.access.secrets-stay")
def test_refusals_are_told_once_a_round_and_never_with_a_secret() -> None:
    door = Door()
    door.guard.tell(0)
    assert door.notes == []
    for _ in range(3):
        door.ask(signed(RequestCode.GET_BROKER_CONFIG, None, secret="hush"))
    door.guard.tell(1)
    door.guard.tell(2)
    reason = "request 26 from 10.0.0.9:4711: Check signature failed for accessKey=ak"
    text = f"access control refused 3 requests, the last one was {reason}"
    assert door.notes == [(Severity.WARNING, text)]


FILE: Final = """globalWhiteRemoteAddresses:
- 10.10.10.10
accounts:
- accessKey: consumer1
  secretKey: secret-of-1
  defaultGroupPerm: SUB
  topicPerms:
  - T=SUB
"""


class GuardedWorld(BrokerWorld):
    """A broker whose store folder has an account file from the start."""

    def __init__(self) -> None:
        super().__init__(BrokerSettings(store=SMALL_STORE, account_file="config/plain_acl.yml"))

    @override
    def _make(self, now_ms: int) -> Broker:
        if not self.disk.has("config/plain_acl.yml"):
            write(self.disk, FILE.encode())
        return super()._make(now_ms)


def ask_as(
    client: Client, code: RequestCode, header: CustomHeader, body: bytes = b"", secret: str = "secret-of-1"
) -> tuple[int, str | None]:
    fields = sign_fields(REQUEST_HEADERS[code].encode(header), body, "consumer1", secret)
    client.caller.send(derive_request(code, 77, fields, body, is_oneway=False))
    answer = client.caller.await_reply(77)
    del client.caller.replies[77]
    return answer.code, answer.remark


@pytest.mark.clause("broker.access.identity", "broker.access.default-permission")
def test_a_broker_with_an_account_file_asks_before_every_handler() -> None:
    world = GuardedWorld()
    client = world.connect()
    start = "org.apache.rocketmq.acl.common.AclException: "
    unsigned = client.ask(RequestCode.QUERY_CONSUMER_OFFSET, QUERY_OFFSET)
    assert (unsigned.code, unsigned.remark) == (1, start + "No accessKey is configured")
    assert ask_as(client, RequestCode.QUERY_CONSUMER_OFFSET, QUERY_OFFSET) == (0, None)
    failed = (1, start + "Check signature failed for accessKey=consumer1")
    assert ask_as(client, RequestCode.QUERY_CONSUMER_OFFSET, QUERY_OFFSET, secret="wrong") == failed
    assert ask_as(client, RequestCode.UPDATE_CONSUMER_OFFSET, COMMIT) == (0, None)
    denied = (1, start + "No default permission for T")
    assert ask_as(client, RequestCode.SEND_MESSAGE_V2, send_to("T"), b"x") == denied
    assert world.broker.parts.topics.find("T") is None


@pytest.mark.clause("broker.access.bad-file-changes-nothing")
def test_a_broker_takes_a_changed_file_within_five_seconds_and_keeps_on_after_a_bad_one() -> None:
    world = GuardedWorld()
    client = world.connect()
    write(world.disk, FILE.replace("T=SUB", "T=PUB|SUB").encode())
    world.run_for(5_000)
    assert ask_as(client, RequestCode.SEND_MESSAGE_V2, send_to("T"), b"x") == (0, None)
    write(world.disk, b"accounts: none\n")
    world.run_for(5_000)
    assert ask_as(client, RequestCode.SEND_MESSAGE_V2, send_to("T"), b"x") == (0, None)
    reason = "config/plain_acl.yml: accounts: expected a list, each item behind a dash"
    texts = [told.note.text for told in world.world.notes if "plain_acl" in told.note.text]
    assert texts == [
        "config/plain_acl.yml: 1 accounts count from now on",
        f"{reason}; the accounts from before go on counting",
    ]
