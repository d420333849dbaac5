"""The official Java client sends in each of its ways; what it was told is what the broker holds."""

import time

from model_tests.interop.java_event import Received
from model_tests.interop.java_group import wait_settled
from model_tests.interop.java_peer import JavaClient
from model_tests.interop.java_store import ask_topic, place_of_received, place_of_sent, place_of_stored
from model_tests.interop.native_broker import QUEUES, create_topic
from model_tests.interop.target import Target
from spec.layout.stored_message import StoredMessage
from spec.values import property as known

pytest_plugins = ["model_tests.interop.java_fixture"]

ONE_WAY_LIMIT_SECONDS = 10.0
FIRST_DELAY_MS = 1000


def test_each_synchronous_send_stands_where_the_client_was_told(java: JavaClient, target: Target) -> None:
    topic = java.name("Sync")
    producer = java.run(
        "produce", group=java.name("sync"), way="sync", topic=topic, count=12, tags="red,blue"
    )
    stored = ask_topic(target, topic)  # which the first send created
    assert [sent.status for sent in producer.sent] == ["SEND_OK"] * 12
    assert sorted(map(place_of_sent, producer.sent)) == sorted(map(place_of_stored, stored))
    labels = {
        message.body.decode(): (message.properties()[known.TAGS], message.properties()[known.KEYS])
        for message in stored
    }
    assert labels == {
        f"message-{number}": (("red", "blue")[number % 2], f"key-message-{number}") for number in range(12)
    }


def test_each_asynchronous_send_stands_where_its_callback_was_told(java: JavaClient, target: Target) -> None:
    topic = java.name("Async")
    create_topic(target, topic)
    producer = java.run("produce", group=java.name("async"), way="async", topic=topic, count=60)
    assert [sent.status for sent in producer.sent] == ["SEND_OK"] * 60
    assert {sent.body for sent in producer.sent} == {f"message-{number}" for number in range(60)}
    stored = map(place_of_stored, ask_topic(target, topic))
    assert sorted(map(place_of_sent, producer.sent)) == sorted(stored)


def test_every_one_way_send_arrives_once_though_nothing_is_answered(java: JavaClient, target: Target) -> None:
    topic = java.name("OneWay")
    create_topic(target, topic, 2)
    producer = java.run("produce", group=java.name("one_way"), way="one-way", topic=topic, count=20)
    until = time.monotonic() + ONE_WAY_LIMIT_SECONDS
    while len(stored := ask_topic(target, topic)) < 20:
        assert time.monotonic() < until, stored
    places = map(place_of_stored, stored)
    assert sorted((sent.body, sent.message_id) for sent in producer.sent) == sorted(
        (place.body, place.message_id) for place in places
    )


def test_messages_of_a_batch_stand_one_behind_the_other_under_the_ids_told(
    java: JavaClient, target: Target
) -> None:
    topic = java.name("Batch")
    create_topic(target, topic)
    producer = java.run("produce", group=java.name("batch"), way="batch", topic=topic, count=7, tags="lot")
    (sent,) = producer.sent
    stored = ask_topic(target, topic)
    assert sent.status == "SEND_OK"
    assert [message.body.decode() for message in stored] == [f"message-{number}" for number in range(7)]
    ids = [derive_values(message, known.UNIQUE_KEY) for message in stored]
    assert [own for own, *_ in ids] == sent.message_id.split(",")
    # 5.3.3 gives the batch an id as well, and a broker joins the properties: the last one counts, in all.
    joined = {tuple(others) for _, *others in ids}
    assert [len(others) for others in joined] == [0 if java.version == "4.9.8" else 1]
    assert [(message.queue_id, message.queue_offset) for message in stored] == [
        (sent.queue_id, sent.queue_offset + number) for number in range(7)
    ]
    assert {message.properties()[known.TAGS] for message in stored} == {"lot"}


def derive_values(message: StoredMessage, name: str) -> list[str]:
    """All values of a property that may be written more than once."""
    entries = (entry.partition(known.NAME_END) for entry in message.property_text.split(known.ENTRY_END))
    return [value for key, _, value in entries if key == name]


def test_a_delayed_message_is_received_once_and_not_before_its_level_is_over(
    java: JavaClient, target: Target
) -> None:
    topic = java.name("Delay")
    create_topic(target, topic)
    consumer = java.start("push", group=java.name("delay"), topic=topic)
    wait_settled([consumer], topic, QUEUES)
    producer = java.run(
        "produce", group=java.name("delaying"), way="sync", topic=topic, count=3, delay_level=1, tags="late"
    )
    consumer.wait_events(Received, 3)
    consumer.stop()
    received = consumer.received
    assert sorted(message.body for message in received) == ["message-0", "message-1", "message-2"]
    assert {message.message_id for message in received} == {sent.message_id for sent in producer.sent}
    assert {(message.topic, message.tags, message.reconsume_times) for message in received} == {
        (topic, "late", 0)
    }
    early = [message for message in received if message.at_ms - message.born_ms < FIRST_DELAY_MS]
    assert early == []


def test_a_signed_client_is_served_by_a_broker_that_demands_no_signature(java: JavaClient) -> None:
    topic, keys = java.name("Signed"), {"access_key": "interop-user", "secret_key": "interop-secret"}
    consumer = java.start("push", group=java.name("signed"), topic=topic, **keys)
    producer = java.run(
        "produce", group=java.name("signing"), way="sync", topic=topic, count=4, tags="", **keys
    )
    consumer.wait_events(Received, 4)
    consumer.stop()
    assert sorted(map(place_of_received, consumer.received)) == sorted(map(place_of_sent, producer.sent))
