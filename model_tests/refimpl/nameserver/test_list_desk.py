"""What there is: 106, 206, 224, 304 and 311 to 313."""

import pytest

from model_tests.refimpl.nameserver.office import MASTER, OTHER, SLAVE, Broker, Office, reply, topic
from spec.wire.code import RequestCode

REMOTE = Broker("broker-r", "127.0.0.1:40911", cluster="R", connection=4)


def crowded() -> Office:
    office = Office()
    office.register(REMOTE, topic("T", flag=2), topic("R1"))
    office.register(OTHER, topic("T", flag=1), topic("both", flag=3))
    office.register(SLAVE)
    office.register(MASTER, topic("T"), topic("sub", flag=2), topic("unit", flag=1))
    return office


def test_all_brokers_by_name_and_all_names_by_cluster() -> None:
    assert crowded().ask(RequestCode.GET_BROKER_CLUSTER_INFO) == reply(
        body=b'{"brokerAddrTable":{'
        b'"broker-a":{"brokerAddrs":{0:"127.0.0.1:10911",1:"127.0.0.1:20911"},"brokerName":"broker-a","cluster":"C"},'
        b'"broker-b":{"brokerAddrs":{0:"127.0.0.1:30911"},"brokerName":"broker-b","cluster":"C"},'
        b'"broker-r":{"brokerAddrs":{0:"127.0.0.1:40911"},"brokerName":"broker-r","cluster":"R"}},'
        b'"clusterAddrTable":{"C":["broker-a","broker-b"],"R":["broker-r"]}}'
    )


def test_all_topics_each_once() -> None:
    listed = crowded().ask(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER)
    assert listed == reply(body=b'{"topicList":["R1","T","both","sub","unit"]}')


def test_the_topics_of_a_cluster() -> None:
    office = crowded()
    ask = RequestCode.GET_TOPICS_BY_CLUSTER
    assert office.ask(ask, {"cluster": "R"}) == reply(body=b'{"topicList":["R1","T"]}')
    assert office.ask(ask, {"cluster": "C"}) == reply(body=b'{"topicList":["T","both","sub","unit"]}')
    assert office.ask(ask, {"cluster": "X"}) == reply(body=b'{"topicList":[]}')


@pytest.mark.clause("nameserver.topic-list.system-topics")
def test_the_topics_named_after_clusters_and_brokers() -> None:
    ask = RequestCode.GET_SYSTEM_TOPIC_LIST_FROM_NS
    names = b'["C","R","broker-a","broker-b","broker-r"]'
    assert crowded().ask(ask) == reply(body=b'{"brokerAddr":"127.0.0.1:10911","topicList":%s}' % names)
    assert Office().ask(ask) == reply(body=b'{"topicList":[]}')


@pytest.mark.clause("nameserver.topic-list.unit-flags")
def test_the_topics_of_units_by_the_flags_behind_the_first_name() -> None:
    office = crowded()
    assert [office.ask(code) for code in (311, 312, 313)] == [
        reply(body=b'{"topicList":["both","unit"]}'),
        reply(body=b'{"topicList":["both","sub"]}'),
        reply(body=b'{"topicList":["sub"]}'),
    ]


def test_lists_follow_when_a_broker_leaves() -> None:
    office = crowded()
    office.farewell(REMOTE)
    assert office.ask(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER) == reply(
        body=b'{"topicList":["T","both","sub","unit"]}'
    )
    assert office.ask(RequestCode.GET_TOPICS_BY_CLUSTER, {"cluster": "R"}) == reply(body=b'{"topicList":[]}')


def test_a_broker_that_changes_its_cluster_is_in_the_new_one_only() -> None:
    office = crowded()
    office.register(Broker("broker-r", "127.0.0.1:40911", cluster="C", connection=4))
    assert b'"clusterAddrTable":{"C":["broker-a","broker-b","broker-r"]}' in office.clusters()
