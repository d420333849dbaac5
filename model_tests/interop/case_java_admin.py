"""`mqadmin` of 4.9.8 and of 5.3.3: what it creates, finds, shows and deletes.

It is judged by what it prints, for it ends with 0 whatever happened. `topicStatus` and `consumerProgress`
of one group are only asked by 4.9.8: the tools of 5.3.3 first ask for the topic's settings with a request
(351) that no 4.9 broker knows.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import pytest

from model_tests.interop.java_admin import Admin, read_rows, read_values
from model_tests.interop.java_event import Happened, Received, Sent
from model_tests.interop.java_group import wait_committed
from model_tests.interop.java_peer import JavaClient
from model_tests.interop.native_broker import QUEUES, create_topic, fill_queues
from model_tests.interop.peer import BROKER_NAME, CLUSTER
from model_tests.interop.target import Target
from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import TopicConfig
from spec.wire.code import ResponseCode

pytest_plugins = ["model_tests.interop.java_fixture"]

BROKER_SETTINGS: Final[Mapping[str, str]] = {"brokerClusterName": CLUSTER, "brokerName": BROKER_NAME}
ONLY_TOOLS_4: Final = pytest.mark.parametrize("java", ["4.9.8"], indirect=True)


def address_of(target: Target) -> str:
    return f"127.0.0.1:{target.broker_port}"


def test_topics_and_groups_are_created_listed_and_deleted(
    java: JavaClient, admin: Admin, target: Target
) -> None:
    topic, group, address = java.name("Made"), java.name("made"), address_of(target)
    made_topic, made_group = admin.ask(
        f"updateTopic -t {topic} -c {CLUSTER} -r 4 -w 3", f"updateSubGroup -g {group} -c {CLUSTER} -r 5 -q 2"
    )
    assert made_topic.startswith(f"create topic to {address} success.\n")
    assert made_group.startswith(f"create subscription group to {address} success.\n")
    with target.connect() as client:
        assert client.topics().topic_config_table[topic] == TopicConfig(topic, 4, 3)
        assert client.groups().subscription_group_table[group] == GroupConfig(
            group,
            is_consume_from_minimum_enabled=False,
            is_broadcast_enabled=False,
            retry_queue_count=2,
            retry_limit=5,
        )

    listed, by_cluster, cluster, route = admin.ask(
        "topicList", "topicList -c", f"topicClusterList -t {topic}", f"topicRoute -t {topic}"
    )
    assert topic in listed.splitlines()
    assert (CLUSTER, topic) in read_rows(by_cluster, 3)
    assert cluster.split() == [CLUSTER]
    assert f'"brokerAddrs":{{0:"{address}"' in re.sub(r"\s", "", route)
    assert json.loads(route[route.index('"queueDatas"') + len('"queueDatas":') : route.rindex("}")]) == [
        {"brokerName": BROKER_NAME, "perm": 6, "readQueueNums": 4, "topicSysFlag": 0, "writeQueueNums": 3}
    ]

    gone_topic, gone_group = admin.ask(
        f"deleteTopic -t {topic} -c {CLUSTER}", f"deleteSubGroup -g {group} -c {CLUSTER}"
    )
    assert gone_topic.splitlines() == [
        f"delete topic [{topic}] from cluster [{CLUSTER}] success.",
        f"delete topic [{topic}] from NameServer success.",
    ]
    assert gone_group.splitlines()[0] == (
        f"delete subscription group [{group}] from broker [{address}] in cluster [{CLUSTER}] success."
    )
    assert admin.ask_refused(f"topicRoute -t {topic}") == ResponseCode.TOPIC_NOT_EXIST
    with target.connect() as client:
        assert topic not in client.topics().topic_config_table
        assert group not in client.groups().subscription_group_table


def test_connected_clients_are_shown_and_asked_how_they_are(
    java: JavaClient, admin: Admin, target: Target
) -> None:
    topic, group, senders = java.name("Watched"), java.name("watched"), java.name("senders")
    create_topic(target, topic)
    consumer = java.start("push", group=group, topic=topic)
    producer = java.start("produce", group=senders, way="stream", topic=topic)
    consumer.wait_events(Received, 20)
    version = f"V{java.version.replace('.', '_')}"
    consumer_id, producer_id = (peer.events(Happened)[0].client_id for peer in (consumer, producer))
    producers, consumers, status, groups = admin.ask(
        f"producerConnection -t {topic} -g {senders}",
        f"consumerConnection -g {group}",
        f"consumerStatus -g {group}",
        "consumerProgress",
    )
    producer.stop()
    consumer.stop()
    assert [line.split()[1::3] for line in producers.splitlines() if line.strip()] == [[producer_id, version]]
    (connected,) = read_rows(consumers, 4)
    assert (connected[0], *connected[2:]) == (consumer_id, "JAVA", version)
    subscribed = consumers.partition("Below is subscription:")[2]
    assert sorted(read_rows(subscribed, 2)) == [(f"%RETRY%{group}", "*"), (topic, "*")]
    assert read_values(consumers, ": ") == {
        "ConsumeType": "CONSUME_PASSIVELY",
        "MessageModel": "CLUSTERING",
        "ConsumeFromWhere": "CONSUME_FROM_FIRST_OFFSET",
    }
    assert [row[1:3] for row in read_rows(status, 4)] == [(consumer_id, version)]
    assert "Rebalance OK" in status
    assert [row[:5] for row in read_rows(groups, 7) if row[0] == group] == [
        (group, "1", version, "PUSH", "CLUSTERING")
    ]
    assert admin.ask_refused(f"consumerConnection -g {group}") == ResponseCode.CONSUMER_NOT_ONLINE


def test_the_cluster_and_its_broker_are_shown(admin: Admin, target: Target) -> None:
    address = address_of(target)
    with target.connect() as client:
        version = client.runtime_info()["brokerVersionDesc"]
    cluster, status, settings = admin.ask(
        "clusterList", f"brokerStatus -b {address}", f"getBrokerConfig -b {address}"
    )
    assert [row[:5] for row in read_rows(cluster, 6)] == [(CLUSTER, BROKER_NAME, "0", address, version)]
    shown = read_values(status, ": ")
    assert (shown["brokerVersionDesc"], shown["dispatchBehindBytes"]) == (version, "0")
    assert int(shown["commitLogMaxOffset"]) >= int(shown["commitLogMinOffset"]) == 0
    wanted = {
        "brokerClusterName": CLUSTER,
        "brokerName": BROKER_NAME,
        "brokerId": "0",
        "listenPort": str(target.broker_port),
    }
    assert {name: read_values(settings, " =  ").get(name) for name in wanted} == wanted


def read_body(printed: str) -> str:
    """The body, which the tools write into a file outside every folder of ours."""
    file = Path(read_values(printed, ": ")["Message Body Path"])
    body = file.read_text("utf-8")
    file.unlink()
    return body


def test_a_message_is_found_by_each_of_its_names(java: JavaClient, admin: Admin, target: Target) -> None:
    topic = java.name("Found")
    create_topic(target, topic)
    consumer = java.start("push", group=java.name("finding"), topic=topic)
    producer = java.run("produce", group=java.name("hiding"), way="sync", topic=topic, count=4, tags="red")
    consumer.wait_events(Received, 4)
    by_id, by_key, by_unique, by_place = producer.sent
    words = "" if java.version == "4.9.8" else f"-t {topic}"
    *shown, listed = admin.ask(
        f"queryMsgById -i {by_id.offset_message_id} {words}",
        f"queryMsgByUniqueKey -t {topic} -i {by_unique.message_id}",
        f"queryMsgByOffset -t {topic} -b {BROKER_NAME} -i {by_place.queue_id} -o {by_place.queue_offset}",
        f"queryMsgByKey -t {topic} -k key-{by_key.body}",
    )
    consumer.stop()
    for printed, sent in zip(shown, (by_id, by_unique, by_place), strict=True):
        check_shown(printed, sent, topic)
    assert read_rows(listed, 3) == [(by_key.message_id, str(by_key.queue_id), str(by_key.queue_offset))]


def check_shown(printed: str, sent: Sent, topic: str) -> None:
    """The message that was printed is the one that was sent."""
    values = read_values(printed, ": ")
    assert (values["Topic"], values["Tags"], values["Keys"]) == (topic, "[red]", f"[key-{sent.body}]")
    assert (values["Queue ID"], values["Queue Offset"]) == (str(sent.queue_id), str(sent.queue_offset))
    assert f"UNIQ_KEY={sent.message_id}" in values["Properties"]
    assert read_body(printed) == sent.body


@ONLY_TOOLS_4
def test_progress_is_shown_and_a_group_that_is_offline_is_taken_back(
    java: JavaClient, admin: Admin, target: Target
) -> None:
    topic, group = java.name("Progress"), java.name("progress")
    create_topic(target, topic)
    early = fill_queues(target, topic, "early", 5)
    consumer = java.start("push", group=group, topic=topic)
    consumer.wait_events(Received, len(early))
    consumer.stop()
    wait_committed(target, group, topic)
    late = fill_queues(target, topic, "late", 2)

    status, progress = admin.ask(f"topicStatus -t {topic}", f"consumerProgress -g {group}")
    assert [row[:4] for row in read_rows(status, 5)] == [
        (BROKER_NAME, str(queue_id), "0", "7") for queue_id in range(QUEUES)
    ]
    assert [row[:6] for row in read_rows(progress, 7) if row[0] == topic] == [
        (topic, BROKER_NAME, str(queue_id), "7", "5", "2") for queue_id in range(QUEUES)
    ]
    assert read_values(progress, ": ")["Diff Total"] == "8"

    (reset,) = admin.ask(f"resetOffsetByTime -t {topic} -g {group} -s 0")
    assert sorted(read_rows(reset, 6)) == [
        (BROKER_NAME, str(queue_id), "7", "5", "0", "0") for queue_id in range(QUEUES)
    ]
    (after,) = admin.ask(f"consumerProgress -g {group}")
    assert read_values(after, ": ")["Diff Total"] == "28"
    again = java.start("push", group=group, topic=topic)
    again.wait_events(Received, len(early | late))
    again.stop()
    assert sorted(event.body for event in again.received) == sorted(early | late)
