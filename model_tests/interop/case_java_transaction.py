"""Transactions of the Java client: decided at once, decided when the broker asks, or by somebody else.

The broker is told to ask every second instead of every minute.
"""

from collections import Counter
from typing import Final

from model_tests.interop.java_event import Decided, Received, Sent
from model_tests.interop.java_peer import JavaClient
from model_tests.interop.native_broker import create_topic, read_topic
from model_tests.interop.target import Target
from spec.values import property as known

pytest_plugins = ["model_tests.interop.java_fixture"]

BROKER_SETTINGS: Final = {"transactionCheckInterval": "1000", "transactionTimeOut": "1000"}

COMMIT: Final = "COMMIT_MESSAGE"
ROLLBACK: Final = "ROLLBACK_MESSAGE"
UNKNOWN: Final = "UNKNOW"


def test_only_what_the_producer_committed_is_received_whether_at_once_or_when_asked(
    java: JavaClient, target: Target
) -> None:
    topic = java.name("Decided")
    create_topic(target, topic)
    consumer = java.start("push", group=java.name("deciding"), topic=topic)
    producer = java.start(
        "transact",
        group=java.name("decided"),
        topic=topic,
        count=8,
        first=f"{COMMIT},{ROLLBACK},{UNKNOWN},{UNKNOWN}",
        later=f"{UNKNOWN},{UNKNOWN},{COMMIT},{ROLLBACK}",
    )
    consumer.wait_events(Received, 4)
    producer.wait_until(lambda: len(derive_checked(producer.events(Decided))) == 4)
    stored = read_topic(target, topic, 4)
    producer.stop()
    consumer.stop()
    committed = Counter(f"message-{number}" for number in (0, 2, 4, 6))
    assert Counter(event.body for event in consumer.received) == committed
    assert Counter(message.body.decode() for message in stored) == committed
    assert [sent.status for sent in producer.sent] == ["SEND_OK"] * 8
    ids = {sent.body: sent.message_id for sent in producer.sent}
    assert {event.body: event.message_id for event in consumer.received} == {
        body: ids[body] for body in committed
    }
    checked = derive_checked(producer.events(Decided))
    assert {body: state for body, (state, _) in checked.items()} == {
        "message-2": COMMIT,
        "message-3": ROLLBACK,
        "message-6": COMMIT,
        "message-7": ROLLBACK,
    }


def derive_checked(events: list[Decided]) -> dict[str, tuple[str, int]]:
    """What the producer answered when it was asked, by the body, and how often it was asked."""
    return {event.body: (event.state, event.check_times) for event in events if event.event == "checked"}


def test_another_producer_of_the_group_is_asked_when_the_one_that_sent_is_gone(
    java: JavaClient, target: Target
) -> None:
    topic, group = java.name("Orphan"), java.name("orphans")
    create_topic(target, topic)
    sends = java.start("transact", group=group, topic=topic, count=2, first=UNKNOWN, later=UNKNOWN)
    sends.wait_events(Sent, 2)
    sends.kill()
    decides = java.start(
        "transact", group=group, topic=topic, count=1, body="own", first=COMMIT, later=COMMIT
    )
    stored = read_topic(target, topic, 3)
    decides.stop()
    assert {message.body.decode() for message in stored} == {"own-0", "message-0", "message-1"}
    assert {event.body for event in decides.events(Decided) if event.event == "checked"} == {
        "message-0",
        "message-1",
    }
    assert {message.properties()[known.PRODUCER_GROUP] for message in stored} == {group}
