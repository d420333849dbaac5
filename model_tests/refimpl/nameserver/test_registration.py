"""Brokers report: 103, 104 and 322."""

import zlib

import pytest

from model_tests.refimpl.nameserver.office import (
    MASTER,
    OTHER,
    SLAVE,
    START,
    Broker,
    Office,
    body_of,
    reply,
    topic,
)
from refimpl.nameserver.settings import NameServerSettings
from spec.broker.topic import DataVersion
from spec.history.event import ABSENT, Outcome
from spec.history.kind import Kind
from spec.wire.body.registration import encode_compressed
from spec.wire.body.topic import TopicConfigTable
from spec.wire.code import RequestCode

REGISTER = RequestCode.REGISTER_BROKER
V1, V2 = DataVersion(1, 1), DataVersion(2, 2)
WELCOME_OF_SLAVE = {"haServerAddr": "127.0.0.1:10911-ha", "masterAddr": "127.0.0.1:10911"}
QUEUE = b'{"brokerName":"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":%d,"writeQueueNums":4}'
ROUTE = (
    b'{"brokerDatas":[{"brokerAddrs":{%s},"brokerName":"broker-a","cluster":"C"}],'
    b'"filterServerTable":{},"queueDatas":[%s]}'
)


def route(addresses: bytes, flag: int = 0) -> bytes:
    return ROUTE % (addresses, QUEUE % flag)


def test_a_master_registers_and_its_topic_is_found() -> None:
    office = Office()
    assert office.register(MASTER, topic("T", flag=1)) == reply(fields={})
    assert office.route() == reply(body=route(b'0:"127.0.0.1:10911"', 1))
    assert (office.core.broker_count, office.core.topic_count) == (1, 1)


@pytest.mark.clause("wire.body.registration-forms", "wire.version.register-body")
def test_the_compressed_form_loses_the_flag_and_the_old_form_is_a_bare_table() -> None:
    body = body_of(topic("T", flag=1), version=V1)
    office = Office()
    fields = MASTER.fields(compressed="true")
    assert office.ask(REGISTER, fields, encode_compressed(body), connection=1) == reply(fields={})
    assert office.route() == reply(body=route(b'0:"127.0.0.1:10911"', 0))
    office = Office()
    bare = body.topic_config_serialize_wrapper.encode()
    assert TopicConfigTable.decode(bare) == body.topic_config_serialize_wrapper
    assert office.ask(REGISTER, MASTER.fields(), bare, version=36) == reply(fields={})
    assert office.route() == reply(body=route(b'0:"127.0.0.1:10911"', 1))


def test_a_registration_without_a_body_makes_the_broker_known() -> None:
    office = Office()
    assert office.ask(REGISTER, MASTER.fields()) == reply(fields={})
    assert office.clusters() == (
        b'{"brokerAddrTable":{"broker-a":{"brokerAddrs":{0:"127.0.0.1:10911"},"brokerName":"broker-a","cluster":"C"}},'
        b'"clusterAddrTable":{"C":["broker-a"]}}'
    )


@pytest.mark.clause("wire.body.registration-checksum")
def test_a_damaged_body_changes_nothing() -> None:
    office = Office()
    body = body_of(topic("T"), version=V1).encode()
    checksum = zlib.crc32(body) & 0x7FFFFFFF
    wrong = MASTER.fields(bodyCrc32=str(checksum - 1))
    assert office.ask(REGISTER, wrong, body) == reply(1, "crc32 not match")
    assert office.core.broker_count == 0
    assert office.ask(REGISTER, MASTER.fields(bodyCrc32=str(checksum)), body) == reply(fields={})


@pytest.mark.clause("wire.body.decompression-bound")
def test_a_body_that_inflates_beyond_the_limit_is_refused() -> None:
    office = Office(NameServerSettings(registration_limit=100))
    body = encode_compressed(body_of(*(topic(f"T{number}") for number in range(9)), version=V1))
    answer = office.ask(REGISTER, MASTER.fields(compressed="true"), body)
    assert (answer.code, answer.remark) == (
        1,
        "at 0: the stream holds more than 100 bytes [wire.body.decompression-bound]",
    )
    assert office.core.broker_count == 0


def test_a_missing_field_is_named() -> None:
    fields = MASTER.fields()
    del fields["haServerAddr"]
    assert Office().ask(REGISTER, fields) == reply(
        1, "at 0: haServerAddr: the field is missing [wire.header-fields.required]"
    )


@pytest.mark.clause("nameserver.registration.slave-learns-master")
def test_a_slave_is_told_where_its_master_is_as_long_as_there_is_one() -> None:
    office = Office()
    assert office.register(SLAVE) == reply(fields={})
    assert office.register(MASTER) == reply(fields={})
    assert office.register(SLAVE) == reply(fields=WELCOME_OF_SLAVE)
    office.farewell(MASTER)
    assert office.register(SLAVE) == reply(fields={})


def test_the_answer_brings_the_order_configuration_of_all_topics() -> None:
    office = Office()
    office.put("ORDER_TOPIC_CONFIG", "U", "broker-a:8")
    office.put("ORDER_TOPIC_CONFIG", "T", "broker-a:4")
    assert office.register(MASTER) == reply(fields={}, body=b'{"table":{"T":"broker-a:4","U":"broker-a:8"}}')


@pytest.mark.clause(
    "nameserver.registration.master-speaks-for-topics", "nameserver.registration.version-decides"
)
def test_topics_change_by_a_master_with_another_version_only() -> None:
    office = Office()
    office.register(MASTER, topic("T"), version=V2)
    office.register(SLAVE, topic("S"), version=V1)
    office.register(MASTER, topic("U"), version=V2)
    assert [office.has_route(name) for name in "TSU"] == [True, False, False]
    office.register(MASTER, topic("U"), version=V1)
    assert [office.has_route(name) for name in "TSU"] == [True, False, True]


@pytest.mark.clause("nameserver.registration.missing-topics-stay")
def test_a_single_topic_is_added_and_its_queues_replace_older_ones() -> None:
    office = Office()
    office.register(MASTER, topic("T"), topic("U"), version=V1)
    office.register(MASTER, topic("U", count=7), version=V2)
    assert office.has_route("T")
    assert b'"readQueueNums":7,"topicSysFlag":0,"writeQueueNums":7' in office.route("U").body
    assert office.core.topic_count == 2


@pytest.mark.clause("nameserver.registration.one-id-per-address", "nameserver.registration.version-decides")
def test_a_slave_that_becomes_master_brings_its_topics_though_its_version_is_known() -> None:
    office = Office()
    office.register(MASTER, topic("T"), version=V1)
    office.register(SLAVE, topic("T"), topic("U"), version=V2)
    promoted = SLAVE.as_id(0)
    office.register(promoted, topic("T"), topic("U"), version=V2)
    assert office.route("U") == reply(body=route(b'0:"127.0.0.1:20911"'))
    assert office.core.broker_count == 1


@pytest.mark.clause("nameserver.registration.farewell-removes-itself")
def test_the_late_farewell_of_the_old_master_removes_nothing() -> None:
    office = Office()
    office.register(MASTER, topic("T"))
    office.register(SLAVE.as_id(0), topic("T"))
    assert office.farewell(MASTER) == reply()
    assert office.route() == reply(body=route(b'0:"127.0.0.1:20911"'))
    office.farewell(SLAVE)
    assert office.has_route()
    office.farewell(SLAVE.as_id(0))
    assert not office.has_route()


def test_in_the_dialect_of_4_9_the_late_farewell_removes_the_new_master() -> None:
    office = Office(NameServerSettings(is_farewell_fenced=False))
    office.register(MASTER, topic("T"))
    office.register(SLAVE.as_id(0), topic("T"))
    assert office.farewell(MASTER) == reply()
    assert office.route().code == 17
    assert office.core.broker_count == 0


@pytest.mark.clause("nameserver.registration.empty-name-ends")
def test_the_last_farewell_ends_the_name_its_cluster_and_its_queues() -> None:
    office = Office()
    office.register(MASTER, topic("T"), topic("U"))
    office.register(SLAVE)
    office.register(OTHER, topic("T"))
    office.farewell(MASTER)
    assert office.has_route("U")
    office.farewell(SLAVE)
    assert [office.has_route(name) for name in "TU"] == [True, False]
    assert office.core.topic_count == 1
    office.farewell(OTHER)
    assert office.clusters() == b'{"brokerAddrTable":{},"clusterAddrTable":{}}'
    assert (office.core.broker_count, office.core.topic_count) == (0, 0)


def test_nothing_is_left_of_brokers_and_topics_that_are_gone() -> None:
    office = Office()
    for _ in range(2):
        office.register(MASTER, topic("T"), topic("U"))
        office.register(OTHER, topic("T"))
        office.ask(RequestCode.DELETE_TOPIC_IN_NAMESRV, {"topic": "U"})
        office.farewell(MASTER)
        office.close(3)
    left, fresh = office.core._registry, Office().core._registry
    assert vars(left.brokers) == vars(fresh.brokers)
    assert vars(left.routes) == vars(fresh.routes)


def test_a_topic_goes_by_the_name_inside_its_configuration() -> None:
    office = Office()
    body = body_of(topic("T"), version=V1).encode().replace(b'{"T":', b'{"key":')
    office.ask(REGISTER, MASTER.fields(), body)
    assert [office.has_route(name) for name in ("T", "key")] == [True, False]


def test_a_broker_that_comes_back_brings_its_topics_again() -> None:
    office = Office()
    office.register(MASTER, topic("T"))
    office.farewell(MASTER)
    office.register(MASTER, topic("T"))
    assert office.has_route()


@pytest.mark.clause("nameserver.registration.version-query")
def test_a_version_query_tells_what_is_known_and_keeps_the_broker_alive() -> None:
    office = Office()
    ask = (RequestCode.QUERY_DATA_VERSION, MASTER.identity(), b'{"counter":1,"timestamp":1}')
    assert office.ask(*ask) == reply(fields={"changed": "true"})
    office.register(MASTER, topic("T"), version=V2)
    known = b'{"counter":2,"timestamp":2}'
    assert office.ask(*ask) == reply(fields={"changed": "true"}, body=known)
    office.pass_time(119_000)
    assert office.ask(ask[0], ask[1], known) == reply(fields={"changed": "false"}, body=known)
    office.pass_time(119_000)
    assert office.has_route()


def test_a_name_without_room_is_refused_and_changes_nothing() -> None:
    settings = NameServerSettings(broker_limit=2, topic_limit=2, filter_server_limit=1, text_limit=20)
    office = Office(settings)
    office.register(MASTER, topic("T"))
    office.register(OTHER)
    assert office.register(SLAVE) == reply(
        1, "2 brokers are registered (brokerLimit): no room for 127.0.0.1:20911"
    )
    topics = topic("T"), topic("U"), topic("V")
    assert office.register(MASTER, *topics, version=V2) == reply(
        1, "broker-a would bring 3 topics, over 2 (topicLimit)"
    )
    assert office.register(MASTER, topic("L" * 21), version=V2) == reply(
        1, "'LLLLLLLLLLLLLLLLLLLLL'... has 21 characters, at most 20 are taken (textLimit)"
    )
    two = body_of(version=V2, servers=("f:1", "f:2")).encode()
    assert office.ask(REGISTER, MASTER.fields(), two) == reply(
        1, "2 filter servers, at most 1 are kept (filterServerLimit)"
    )
    assert (office.core.broker_count, office.core.topic_count) == (2, 1)
    assert office.register(MASTER, topic("T"), topic("L" * 20), version=V2) == reply(fields={})


@pytest.mark.parametrize(
    ("broker", "remark"),
    [
        (Broker(name=""), "brokerName or brokerAddr is empty"),
        (Broker(broker_id=-2), "brokerId -2: expected 0 for a master, more for a slave"),
    ],
)
def test_a_broker_that_cannot_be_named_is_neither_registered_nor_forgotten(
    broker: Broker, remark: str
) -> None:
    office = Office()
    assert office.register(broker) == reply(1, remark)
    assert office.farewell(broker) == reply(1, remark)
    assert [event.kind for event in office.events] == [Kind.BEGIN, Kind.UP]


def test_the_history_tells_who_registered_moved_and_left() -> None:
    office = Office()
    office.register(MASTER, version=V1)
    office.register(SLAVE, version=V2)
    office.register(SLAVE.as_id(0), version=V2)
    office.farewell(MASTER)
    office.farewell(SLAVE.as_id(0))
    office.core.stop(START + 1)
    columns = ("time_ms", "kind", "status", "replica", "address", "version", "outcome", "cause")
    told = [tuple(getattr(event, column) for column in columns) for event in office.events[1:]]
    old, new = MASTER.address, SLAVE.address
    none = Outcome.NONE
    assert told == [
        (START, Kind.UP, "name-server", ABSENT, "", ABSENT, none, ""),
        (START, Kind.REGISTER, "", 0, old, 1, none, ""),
        (START, Kind.REGISTER, "", 1, new, 2, none, ""),
        (START, Kind.UNREGISTER, "", 1, new, ABSENT, Outcome.OK, "other-id"),
        (START, Kind.UNREGISTER, "", 0, old, ABSENT, Outcome.OK, "replaced"),
        (START, Kind.REGISTER, "", 0, new, 2, none, ""),
        (START, Kind.UNREGISTER, "", 0, old, ABSENT, Outcome.FAIL, "farewell"),
        (START, Kind.UNREGISTER, "", 0, new, ABSENT, Outcome.OK, "farewell"),
        (START + 1, Kind.DOWN, "graceful", ABSENT, "", ABSENT, none, ""),
    ]
    assert {event.broker for event in office.events if event.replica != ABSENT} == {"broker-a"}
