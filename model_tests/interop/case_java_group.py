"""Groups of Java clients: members that come and go, broadcasting, tags, and messages that fail."""

from collections import Counter

from model_tests.interop.java_event import Received, Sent
from model_tests.interop.java_group import (
    SHARED_QUEUES,
    count_received,
    derive_bodies,
    derive_share,
    wait_committed,
    wait_received,
    wait_settled,
)
from model_tests.interop.java_peer import JavaClient
from model_tests.interop.native_broker import create_topic, read_topic
from model_tests.interop.target import Target
from spec.values import property as known
from spec.values.name import dead_letter_topic_of

pytest_plugins = ["model_tests.interop.java_fixture"]


def test_a_settled_group_shares_the_queues_and_loses_nothing_while_members_come_and_go(
    java: JavaClient, target: Target
) -> None:
    topic, group = java.name("Shared"), java.name("sharing")
    create_topic(target, topic, SHARED_QUEUES)
    producer = java.start("produce", group=java.name("feeding"), way="stream", topic=topic)
    stays = java.start("push", group=group, topic=topic)
    stays.wait_events(Received, 20)
    leaves = java.start("push", group=group, topic=topic)
    shares = wait_settled([stays, leaves], topic)

    before = derive_bodies(producer.sent)
    producer.wait_events(Sent, len(before) + 80)
    while_settled = {sent.body: sent.queue_id for sent in producer.sent if sent.body not in before}
    wait_received([stays, leaves], set(while_settled))
    assert count_received([stays, leaves], set(while_settled)) == [
        Counter(body for body, queue in while_settled.items() if queue in share) for share in shares
    ]

    leaves.stop()
    assert wait_settled([stays], topic) == [set(range(SHARED_QUEUES))]
    producer.wait_events(Sent, len(producer.sent) + 40)
    producer.stop()
    wait_received([stays, leaves], derive_bodies(producer.sent))
    stays.stop()
    wait_committed(target, group, topic, SHARED_QUEUES)


def test_members_of_both_generations_share_the_queues_of_one_group(
    both_java: tuple[JavaClient, ...], target: Target
) -> None:
    topic, group = "Mixed", "mixing"
    create_topic(target, topic, SHARED_QUEUES)
    members = [client.start("push", group=group, topic=topic) for client in both_java]
    shares = wait_settled(members, topic)
    producer = both_java[0].run("produce", group="mixed_feeding", way="async", count=40, topic=topic)
    queue_of = {sent.body: sent.queue_id for sent in producer.sent}
    wait_received(members, set(queue_of))
    for member in members:
        member.stop()
    wait_committed(target, group, topic, SHARED_QUEUES)
    assert count_received(members, set(queue_of)) == [
        Counter(body for body, queue in queue_of.items() if queue in share) for share in shares
    ]


def test_each_member_of_a_broadcasting_group_receives_every_message_once(
    java: JavaClient, target: Target
) -> None:
    topic, group = java.name("Broadcast"), java.name("broadcasting")
    create_topic(target, topic)
    members = [
        java.start("push", group=group, topic=topic, broadcasting="true", instance=f"member-{number}")
        for number in range(2)
    ]
    for member in members:
        member.wait_happened("started")
    producer = java.run("produce", group=java.name("telling"), way="async", topic=topic, count=30)
    for member in members:
        member.wait_events(Received, 30)
        member.stop()
    bodies = derive_bodies(producer.sent)
    assert count_received(members, bodies) == [Counter(bodies)] * 2
    assert [derive_share(member, topic) for member in members] == [set(), set()]  # nothing was shared out
    with target.connect() as client:
        stored = client.consumer_offsets().offset_table
    assert not [key for key in stored if group in key]  # members keep their offsets themselves


def test_a_member_receives_only_its_tags_and_passes_the_others(java: JavaClient, target: Target) -> None:
    topic, group = java.name("Tagged"), java.name("choosing")
    create_topic(target, topic)
    consumer = java.start("push", group=group, topic=topic, expression="Aa || red")
    # Aa and BB have the same hash, so the broker cannot tell them apart, and the client must.
    mixed = java.run(
        "produce", group=java.name("tagging"), way="sync", topic=topic, count=40, tags="Aa,BB,red,,blue"
    )
    last = java.run(
        "produce", group=java.name("tagging"), way="sync", topic=topic, count=8, body="last", tags="red"
    )
    wanted = {sent.body for number, sent in enumerate(mixed.sent) if number % 5 in {0, 2}}
    wanted |= derive_bodies(last.sent)
    wait_received([consumer], wanted)
    consumer.stop()
    wait_committed(target, group, topic)
    assert Counter(event.body for event in consumer.received) == Counter(wanted)
    assert {event.tags for event in consumer.received} == {"Aa", "red"}


def test_a_message_that_failed_once_comes_back_under_its_own_topic_and_id(
    java: JavaClient, target: Target
) -> None:
    topic, group = java.name("Stumble"), java.name("stumbling")
    create_topic(target, topic)
    consumer = java.start("push", group=group, topic=topic, failing_body="message-1", failures=1)
    producer = java.run("produce", group=java.name("stumbled"), way="sync", topic=topic, count=3)
    received = consumer.wait_events(Received, 4)
    consumer.stop()
    wait_committed(target, group, topic)
    ids = {sent.body: sent.message_id for sent in producer.sent}
    first = [(f"message-{number}", 0, "later" if number == 1 else "success") for number in range(3)]
    assert sorted((event.body, event.reconsume_times, event.outcome) for event in received) == sorted(
        [*first, ("message-1", 1, "success")]
    )
    assert {(event.topic, event.message_id) for event in received} == {(topic, id_) for id_ in ids.values()}


def test_a_message_that_fails_too_often_is_kept_as_a_dead_letter_and_delays_no_other(
    java: JavaClient, target: Target
) -> None:
    topic, group = java.name("Poisoned"), java.name("poisoned")
    create_topic(target, topic)
    consumer = java.start("push", group=group, topic=topic, failing_body="message-0", max_reconsume_times=2)
    producer = java.run("produce", group=java.name("poisoning"), way="sync", topic=topic, count=4)
    consumer.wait_events(Received, 6)
    (dead,) = read_topic(target, dead_letter_topic_of(group), 1, 1)
    consumer.stop()
    wait_committed(target, group, topic)
    poison, *others = producer.sent
    assert [
        (event.reconsume_times, event.outcome) for event in consumer.received if event.body == poison.body
    ] == [(0, "later"), (1, "later"), (2, "later")]
    assert Counter(event.body for event in consumer.received if event.outcome == "success") == Counter(
        derive_bodies(others)
    )
    properties = dead.properties()
    assert (dead.body.decode(), dead.reconsume_times) == (poison.body, 3)
    assert {
        name: properties[name] for name in (known.UNIQUE_KEY, known.RETRY_TOPIC, known.ORIGIN_MESSAGE_ID)
    } == {
        known.UNIQUE_KEY: poison.message_id,
        known.RETRY_TOPIC: topic,
        known.ORIGIN_MESSAGE_ID: poison.offset_message_id,
    }
