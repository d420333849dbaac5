"""The native and the JavaScript client consume: who receives what, how often, and what is committed of it."""

import time

from model_tests.interop.native_broker import (
    create_group,
    create_topic,
    fill_queues,
    has_committed,
    read_committed,
    read_ends,
    read_topic,
)
from model_tests.interop.native_driver import Client, Wanted
from model_tests.interop.native_group import (
    STRAGGLE_SECONDS,
    check_shared,
    derive_all,
    wait_all_reached,
    wait_consumed,
    wait_settled,
)
from model_tests.interop.native_place import offset_id_of, seen, seen_of
from model_tests.interop.target import Target
from spec.broker.schedule import DELAY_LEVELS
from spec.broker.subscription_group import GroupConfig
from spec.values import property as known
from spec.values.name import dead_letter_topic_of, retry_topic_of

pytest_plugins = ["model_tests.interop.native_fixture"]

LARGE = "large " * 1000


def test_members_share_the_queues_and_nothing_is_lost_when_one_joins_and_one_leaves(
    client: Client, target: Target
) -> None:
    topic, group = client.name("Shared"), client.name("sharing")
    create_topic(target, topic)
    first = client.join(group, topic)
    stream = client.stream(topic, "stream", pause_ms=5)
    wait_consumed([first], {"stream-100"})
    second = client.join(group, topic)
    shares = wait_settled(target, topic, [first, second], "probe")
    assert sorted(map(sorted, shares)) == [[0, 1], [2, 3]]
    check_shared([first, second], fill_queues(target, topic, "settled", 5), shares)
    first.stop()
    wait_consumed([second], fill_queues(target, topic, "left", 5))
    stream.stop()
    wait_consumed([first, second], {sent.body for sent in stream.sent})
    second.stop()
    ends = read_ends(target, topic)
    stored = read_topic(target, topic, sum(ends.values()))
    assert {seen_of(message, client.program) for message in stored} == set(
        map(seen, derive_all([first, second]))
    )
    assert read_committed(target, group, topic) == ends


def test_every_broadcasting_member_receives_everything_and_the_broker_keeps_no_offset(
    client: Client, target: Target
) -> None:
    topic, group = client.name("Broadcast"), client.name("broadcasting")
    create_topic(target, topic)
    members = [client.join(group, topic, model="broadcasting") for _ in range(2)]
    wait_all_reached(target, topic, members, "probe")
    bodies = fill_queues(target, topic, "all", 5)
    for member in members:
        wait_consumed([member], bodies)
        member.stop()
    stored = read_topic(target, topic, sum(read_ends(target, topic).values()))
    wanted = [seen_of(message, client.program) for message in stored if message.body.decode() in bodies]
    for member in members:
        assert sorted(seen(received) for received in member.received if received.body in bodies) == sorted(
            wanted
        )
    assert not has_committed(target, group, topic)


def test_a_member_receives_the_tags_that_it_names_and_no_others(client: Client, target: Target) -> None:
    topic = client.name("Tagged")
    create_topic(target, topic)
    # "Aa" and "BB" have one hash: what the broker lets through is compared again by the client.
    member = client.join(client.name("tagged"), topic, expression="red || Aa")
    lot = [Wanted(f"{tag}-{number}", tag) for number in range(5) for tag in ("red", "green", "Aa", "BB")]
    client.produce(topic, lot)
    member.wait_received(10)
    time.sleep(STRAGGLE_SECONDS)
    member.stop()
    wanted = [
        message
        for message in read_topic(target, topic, len(lot))
        if message.properties()[known.TAGS] in {"red", "Aa"}
    ]
    assert sorted(map(seen, member.received)) == sorted(
        seen_of(message, client.program) for message in wanted
    )


def test_a_delayed_message_comes_once_and_not_before_its_level_is_over(
    client: Client, target: Target
) -> None:
    topic = client.name("Delayed")
    create_topic(target, topic)
    member = client.join(client.name("delayed"), topic)
    client.produce(topic, [Wanted(f"level-{level}", "late", delay_level=level) for level in (1, 2)])
    member.wait_received(2)
    member.stop()
    stored = read_topic(target, topic, 2)
    assert sorted(map(seen, member.received)) == sorted(
        seen_of(message, client.program) for message in stored
    )
    waited_ms = {message.body: message.stored_at_ms - message.born_at_ms for message in stored}
    assert waited_ms.keys() == {b"level-1", b"level-2"}
    assert waited_ms[b"level-1"] >= DELAY_LEVELS[0]
    assert waited_ms[b"level-2"] >= DELAY_LEVELS[1]


def test_what_either_client_sends_the_other_receives_whole(
    client: Client, native: Client, node: Client, target: Target
) -> None:
    topic = client.name("Foreign")
    create_topic(target, topic)
    member = client.join(client.name("foreign"), topic)
    for producer in (native, node):
        word = producer.program.name
        producer.produce(
            topic, [Wanted(f"{word} grüßt 消息", "small", ("a", "b")), Wanted(word + LARGE, "large")]
        )
    member.wait_received(4)
    member.stop()
    stored = read_topic(target, topic, 4)
    assert sorted(map(seen, member.received)) == sorted(
        seen_of(message, client.program) for message in stored
    )
    assert max(len(message.body) for message in stored) < len(LARGE)


def check_retried(client: Client, target: Target, topic: str, dying: str, **options: int) -> None:
    """A failed message comes back after its delay; in the group that fails it again it is dead."""
    living = client.name("living")
    members = {
        living: client.join(living, topic, fail_times=1),
        dying: client.join(dying, topic, fail_times=2, **options),
    }
    client.produce(topic, [Wanted("once more", "red", ("key",))])
    (origin,) = read_topic(target, topic, 1)
    first = seen_of(origin, client.program)
    for group, member in members.items():
        member.wait_received(2)
        (again,) = read_topic(target, retry_topic_of(group), 1, queues=1)
        assert again.stored_at_ms - origin.stored_at_ms >= DELAY_LEVELS[2]
        assert again.properties()[known.ORIGIN_MESSAGE_ID] == offset_id_of(origin)
        second = seen_of(again, client.program)._replace(topic=topic)
        assert list(map(seen, member.received)) == [first, second]
        assert (second.body, second.reconsume_times) == (first.body, 1)
    (dead,) = read_topic(target, dead_letter_topic_of(dying), 1, queues=1)
    assert (dead.body, dead.reconsume_times) == (origin.body, 2)
    assert dead.properties()[known.ORIGIN_MESSAGE_ID] == offset_id_of(origin)
    for group, member in members.items():
        member.stop()
        assert read_committed(target, group, retry_topic_of(group), queues=1) == {0: 1}
        assert read_ends(target, dead_letter_topic_of(group), queues=1) == ({0: 1} if group == dying else {})


def test_a_failed_message_comes_back_and_behind_the_limit_of_its_group_it_is_dead(
    native: Client, target: Target
) -> None:
    topic, group = native.name("Failed"), native.name("dying")
    create_topic(target, topic)
    create_group(target, GroupConfig(group, retry_limit=1))
    check_retried(native, target, topic, group)


def test_a_failed_message_comes_back_and_behind_the_limit_of_its_member_it_is_dead(
    node: Client, target: Target
) -> None:
    topic, group = node.name("Failed"), node.name("dying")
    create_topic(target, topic)
    check_retried(node, target, topic, group, retries=1)
