"""Routes: 105, and what administrators do to them by 205, 216 and 327."""

import json
from pathlib import Path

import pytest

from model_tests.refimpl.nameserver.office import (
    MASTER,
    OPAQUE,
    OTHER,
    SLAVE,
    Broker,
    Office,
    body_of,
    reply,
    topic,
)
from model_tests.vectors import test_captured_requests
from refimpl.effect import Send
from refimpl.nameserver.settings import NameServerSettings
from spec.broker.topic import DataVersion
from spec.wire.code import RequestCode
from spec.wire.frame import Frame, decode_frame, encode_frame
from spec.wire.language import Language
from spec.wire.remoting_header import Serialization

CAPTURES = Path(test_captured_requests.__file__).parent / "captures"
ROUTE = RequestCode.GET_ROUTEINFO_BY_TOPIC
HINT = "create it, or check that a broker which has it registers here"
DIALECT = (
    b'{"brokerDatas":[{"brokerAddrs":{0:"127.0.0.1:10911",1:"127.0.0.1:20911"},"brokerName":"broker-a",'
    b'"cluster":"C"},{"brokerAddrs":{0:"127.0.0.1:30911"},"brokerName":"broker-b","cluster":"C"}],'
    b'"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,'
    b'"topicSysFlag":0,"writeQueueNums":4},{"brokerName":"broker-b","perm":4,"readQueueNums":8,'
    b'"topicSysFlag":0,"writeQueueNums":8}]}'
)
STANDARD = DIALECT.replace(b"{0:", b'{"0":').replace(b",1:", b',"1":')
REMOTE = Broker("broker-r", "127.0.0.1:40911", cluster="R", connection=4)


def spread() -> Office:
    """A topic behind two names, registered in the opposite order."""
    office = Office()
    office.register(OTHER, topic("T", count=8, permission=4))
    office.register(SLAVE, topic("T"))
    office.register(MASTER, topic("T"), topic("U"))
    return office


@pytest.mark.clause("nameserver.route.registered-brokers", "wire.version.standard-route-json")
@pytest.mark.parametrize(
    ("version", "fields", "body"),
    [
        (121, {}, DIALECT),
        (400, {}, DIALECT),
        (401, {}, STANDARD),
        (399, {"acceptStandardJsonOnly": "true"}, STANDARD),
        (399, {"acceptStandardJsonOnly": "false"}, DIALECT),
    ],
)
def test_a_route_has_all_names_in_order_in_the_spelling_that_the_client_reads(
    version: int, fields: dict[str, str], body: bytes
) -> None:
    assert spread().ask(ROUTE, {"topic": "T", **fields}, version=version) == reply(body=body)
    assert json.loads(STANDARD)["brokerDatas"][0]["brokerAddrs"] == {
        "0": "127.0.0.1:10911",
        "1": "127.0.0.1:20911",
    }


@pytest.mark.clause("nameserver.route.not-empty")
def test_a_topic_that_nobody_has_does_not_exist_and_the_answer_says_what_to_do() -> None:
    remark = "No topic route info in name server for the topic: X; " + HINT
    assert spread().route("X") == reply(17, remark)
    shown = Office().route("X" * 70_000).remark
    assert shown == f"No topic route info in name server for the topic: {'X' * 255}; {HINT}"


def test_a_request_in_binary_is_answered_in_binary() -> None:
    request = Frame(ROUTE, Language.CPP, 399, OPAQUE, 0, None, {"topic": "T"}, Serialization.ROCKETMQ)
    (effect,) = spread().feed(encode_frame(request))
    assert isinstance(effect, Send)
    answer = decode_frame(encode_frame(effect.frame))
    assert answer == reply(body=DIALECT)._replace(serialization=Serialization.ROCKETMQ)


def test_every_captured_route_request_has_the_answer_that_apache_gave() -> None:
    asked = 0
    for path in sorted(CAPTURES.glob("*.jsonl")):
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        requests = [row for row in rows if row["ev"] == "req" and row["code"] == ROUTE]
        answers = [row["code"] for row in rows if row["ev"] == "reply" and row["to"] == ROUTE]
        office = Office()
        known = {row["header"]["extFields"]["topic"] for row in requests}
        if 0 in answers:
            office.register(MASTER, *(topic(name) for name in sorted(known)))
        for row in requests:
            (effect,) = office.feed(bytes.fromhex(row["hex"]))
            assert isinstance(effect, Send)
            assert effect.frame.opaque == row["header"]["opaque"]
            assert effect.frame.code == (0 if 0 in answers else 17), path.name
            assert b'{"brokerAddrs":{0:' in effect.frame.body or effect.frame.code == 17
            asked += 1
    assert asked == 32


@pytest.mark.clause("nameserver.route.registered-brokers")
def test_a_name_without_master_stays_in_the_route() -> None:
    office = spread()
    office.farewell(MASTER)
    assert office.route("U") == reply(
        body=b'{"brokerDatas":[{"brokerAddrs":{1:"127.0.0.1:20911"},"brokerName":"broker-a","cluster":"C"}],'
        b'"filterServerTable":{},"queueDatas":[{"brokerName":"broker-a","perm":6,"readQueueNums":4,'
        b'"topicSysFlag":0,"writeQueueNums":4}]}'
    )


def test_filter_servers_travel_with_their_broker_until_it_registers_without() -> None:
    office = spread()
    for servers, expected in ((("f:1", "f:2"), {MASTER.address: ["f:1", "f:2"]}), ((), {})):
        body = body_of(version=DataVersion(1, 1), servers=servers).encode()
        office.ask(RequestCode.REGISTER_BROKER, MASTER.fields(), body, connection=1)
        answer = office.ask(ROUTE, {"topic": "T"}, version=401)
        assert json.loads(answer.body)["filterServerTable"] == expected


def test_the_order_configuration_travels_only_where_it_is_enabled() -> None:
    for is_enabled in (False, True):
        office = Office(NameServerSettings(is_order_message_enabled=is_enabled))
        office.put("ORDER_TOPIC_CONFIG", "T", "broker-a:4")
        office.register(MASTER, topic("T"), topic("U"))
        found = [json.loads(office.ask(ROUTE, {"topic": name}, version=401).body) for name in "TU"]
        expected = "broker-a:4" if is_enabled else None
        assert [route.get("orderTopicConf") for route in found] == [expected, None]


def permissions(office: Office, name: str) -> list[int]:
    body = office.ask(ROUTE, {"topic": name}, version=401).body
    return [data["perm"] for data in json.loads(body)["queueDatas"]]


@pytest.mark.clause("nameserver.route.wipe-write", "nameserver.route.add-write")
def test_a_broker_is_closed_and_opened_for_producers_in_all_its_topics() -> None:
    office = spread()
    name = {"brokerName": "broker-a"}
    wiped = office.ask(RequestCode.WIPE_WRITE_PERM_OF_BROKER, name)
    assert wiped == reply(fields={"wipeTopicCount": "2"})
    assert [permissions(office, topic_name) for topic_name in "TU"] == [[4, 4], [4]]
    office.register(MASTER, topic("T"), topic("U"))
    assert permissions(office, "U") == [4]
    added = office.ask(RequestCode.ADD_WRITE_PERM_OF_BROKER, name)
    assert added == reply(fields={"addTopicCount": "2"})
    assert [permissions(office, topic_name) for topic_name in "TU"] == [[6, 4], [6]]
    unknown = office.ask(RequestCode.WIPE_WRITE_PERM_OF_BROKER, {"brokerName": "x"})
    assert unknown == reply(fields={"wipeTopicCount": "0"})


@pytest.mark.clause("nameserver.route.delete-topic")
def test_a_topic_is_deleted_everywhere_or_in_one_cluster() -> None:
    office = spread()
    office.register(REMOTE, topic("T"))
    delete = RequestCode.DELETE_TOPIC_IN_NAMESRV
    assert office.ask(delete, {"topic": "T", "clusterName": "C"}) == reply()
    assert permissions(office, "T") == [6]
    assert office.core.topic_count == 2
    assert office.ask(delete, {"topic": "T"}) == reply()
    assert not office.has_route("T")
    assert office.has_route("U")
    for fields in ({"topic": "T"}, {"topic": "U", "clusterName": "unknown"}):
        assert office.ask(delete, fields) == reply()
    assert office.has_route("U")


def test_a_deleted_topic_comes_back_with_the_next_version_that_has_it() -> None:
    office = spread()
    office.ask(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": "U"})
    office.register(MASTER, topic("U"))
    assert not office.has_route("U")
    office.register(MASTER, topic("U"), version=DataVersion(2, 2))
    assert office.has_route("U")
