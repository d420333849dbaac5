"""Java clients that fetch: lite pull with subscribed and with assigned queues, and the older pull consumer.

Lite pull of 5.3.3 fetches with a request of its own (361), which Apache 4.9 does not know; Apache 5.3.3 does,
and behaves as demanded here (`--apache-version 5.3.3`).
"""

from collections import Counter

import pytest

from model_tests.interop.java_event import Polled, Pulled, Received
from model_tests.interop.java_group import derive_bodies, wait_committed
from model_tests.interop.java_peer import JavaClient, JavaPeer
from model_tests.interop.java_store import place_of_received, place_of_sent
from model_tests.interop.native_broker import QUEUES, create_topic, fill_queues, read_committed
from model_tests.interop.target import Target

pytest_plugins = ["model_tests.interop.java_fixture"]


@pytest.fixture
def lite(java: JavaClient, target: Target, pytestconfig: pytest.Config) -> JavaClient:
    """A client whose lite pull consumer the target understands."""
    apache: str = pytestconfig.getoption("--apache-version")
    if target.name == "apache" and apache.startswith("4.") and not java.version.startswith("4."):
        pytest.skip(f"inconclusive: Apache {apache} does not know the request of lite pull {java.version}")
    return java


def poll(consumer: JavaPeer, count: int) -> list[Received]:
    """What one order to poll gave; it waits for so many messages, and may bring more."""
    done, seen = len(consumer.events(Polled)), len(consumer.received)
    consumer.tell(f"poll {count}")
    consumer.wait_events(Polled, done + 1)
    return consumer.received[seen:]


def test_a_lite_pull_consumer_goes_on_where_it_committed(lite: JavaClient, target: Target) -> None:
    topic, group = lite.name("Polled"), lite.name("polling")
    create_topic(target, topic)
    early = fill_queues(target, topic, "early", 3)
    consumer = lite.start("lite-pull", group=group, topic=topic)
    assert Counter(event.body for event in poll(consumer, 12)) == Counter(early)
    consumer.tell("commit")
    consumer.wait_happened("committed")
    wait_committed(target, group, topic)
    consumer.stop()

    late = fill_queues(target, topic, "late", 1)
    again = lite.start("lite-pull", group=group, topic=topic)
    assert Counter(event.body for event in poll(again, 4)) == Counter(late)
    again.stop()


def test_a_lite_pull_consumer_that_seeks_polls_the_queue_from_there(lite: JavaClient, target: Target) -> None:
    topic = lite.name("Sought")
    create_topic(target, topic)
    fill_queues(target, topic, "first", 5)
    consumer = lite.start("lite-pull", group=lite.name("seeking"), topic=topic)
    assert len(poll(consumer, 20)) == 20
    consumer.tell("seek 2 3")
    consumer.wait_happened("sought")
    again = poll(consumer, 2)
    assert [(event.queue_id, event.queue_offset, event.body) for event in again] == [
        (2, 3, "first-2-3"),
        (2, 4, "first-2-4"),
    ]
    consumer.stop()


def test_a_lite_pull_consumer_polls_and_commits_only_the_queues_assigned_to_it(
    lite: JavaClient, target: Target
) -> None:
    topic, group = lite.name("Assigned"), lite.name("assigning")
    create_topic(target, topic)
    fill_queues(target, topic, "some", 4)
    consumer = lite.start("lite-pull", group=group, topic=topic, queues="1,3")
    polled = poll(consumer, 8)
    consumer.tell("commit")
    consumer.wait_happened("committed")
    consumer.stop()
    assert sorted((event.queue_id, event.queue_offset) for event in polled) == [
        (queue_id, offset) for queue_id in (1, 3) for offset in range(4)
    ]
    committed = read_committed(target, group, topic)
    assert {queue_id: committed[queue_id] for queue_id in (1, 3)} == {1: 4, 3: 4}


def test_a_pull_consumer_reads_each_queue_to_its_end_and_commits_it(java: JavaClient, target: Target) -> None:
    topic, group = java.name("Pulled"), java.name("pulling")
    create_topic(target, topic)
    producer = java.run("produce", group=java.name("to_pull"), way="async", topic=topic, count=50)
    consumer = java.run("pull", group=group, topic=topic, batch=7)
    ends = Counter(sent.queue_id for sent in producer.sent)
    assert sorted(map(place_of_received, consumer.received)) == sorted(map(place_of_sent, producer.sent))
    assert {
        event.queue_id: (event.min_offset, event.max_offset, event.committed_offset)
        for event in consumer.events(Pulled)
    } == {queue_id: (0, ends[queue_id], ends[queue_id]) for queue_id in range(QUEUES)}


def test_a_pull_consumer_with_a_tag_is_led_past_the_others(java: JavaClient, target: Target) -> None:
    topic = java.name("PulledTag")
    create_topic(target, topic)
    producer = java.run(
        "produce", group=java.name("to_choose"), way="sync", topic=topic, count=30, tags="red,,blue"
    )
    consumer = java.run("pull", group=java.name("chosen"), topic=topic, expression="blue || green", batch=5)
    wanted = [sent for number, sent in enumerate(producer.sent) if number % 3 == 2]
    assert derive_bodies(consumer.received) == derive_bodies(wanted)
    assert sorted(map(place_of_received, consumer.received)) == sorted(map(place_of_sent, wanted))
