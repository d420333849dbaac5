"""The native client consumes in order, which takes locks at the broker; and it pulls."""

import time

from model_tests.interop.native_broker import (
    QUEUES,
    create_topic,
    fill_queues,
    has_committed,
    read_committed,
    read_ends,
    read_topic,
    wait_committed,
)
from model_tests.interop.native_driver import Client, Driver, Wanted
from model_tests.interop.native_group import derive_all, wait_consumed, wait_settled
from model_tests.interop.native_place import seen, seen_of
from model_tests.interop.target import Target
from spec.broker.lock_lease import LEASE_MS
from spec.values import property as known

pytest_plugins = ["model_tests.interop.native_fixture"]

TAKE_OVER_LIMIT_SECONDS = LEASE_MS / 1000 + 25
"""A lease, a round of asking for locks, and some."""


def send_shards(native: Client, topic: str, word: str, count: int) -> set[str]:
    """So many messages of each of six shards were sent in the order of the shard; their bodies."""
    shards = [
        Wanted(f"{word}-{shard}-{number}", shard=str(shard)) for number in range(count) for shard in range(6)
    ]
    native.produce(topic, shards, way="orderly")
    return {wanted.body for wanted in shards}


def test_each_queue_is_consumed_in_order_by_one_member_and_by_the_next_when_the_lease_is_over(
    native: Client, target: Target
) -> None:
    topics = {how: native.name(f"Orderly-{how}") for how in ("left", "crashed")}
    members: dict[str, list[Driver]] = {}
    started_ms: dict[str, int] = {}
    shares: dict[str, list[set[int]]] = {}
    for how, topic in topics.items():
        create_topic(target, topic)
        started_ms[how] = time.time_ns() // 1_000_000
        members[how] = [native.join(f"{topic}-group", topic, listener="orderly") for _ in range(2)]
        shares[how] = wait_settled(target, topic, members[how], "probe")
        assert sorted(map(sorted, shares[how])) == [[0, 1], [2, 3]]
        wait_consumed(members[how], send_shards(native, topic, "both", 5))
    # Whoever leaves gives back some of its locks at best: that is how the client ends.
    members["left"][0].stop()
    wait_committed(target, f"{topics['crashed']}-group", topics["crashed"])  # or some come once more
    members["crashed"][0].kill()
    for how, topic in topics.items():
        rest = send_shards(native, topic, "rest", 5)
        wait_consumed(members[how], rest, TAKE_OVER_LIMIT_SECONDS)
        members[how][1].stop()
        ends = read_ends(target, topic)
        stored = read_topic(target, topic, sum(ends.values()))
        received = sorted(derive_all(members[how]), key=lambda one: one.queue_id)  # in each: by time
        assert list(map(seen, received)) == [seen_of(message, native.program) for message in stored]
        assert read_committed(target, f"{topic}-group", topic) == ends
    taken_over = [one for one in members["crashed"][1].received if one.queue_id in shares["crashed"][0]]
    assert min(one.at_ms for one in taken_over) > started_ms["crashed"] + LEASE_MS


def test_a_pull_consumer_reads_every_queue_to_its_end_and_commits_nothing(
    native: Client, target: Target
) -> None:
    topic, group = native.name("Pulled"), native.name("pulling")
    create_topic(target, topic)
    fill_queues(target, topic, "red", 40, properties={known.TAGS: "red"})
    fill_queues(target, topic, "blue", 40, properties={known.TAGS: "blue"})
    stored = read_topic(target, topic, 80 * QUEUES)
    for expression, tags in (("*", {"red", "blue"}), ("blue", {"blue"})):
        pulled = native.run("pull", group=group, topic=topic, expression=expression).received
        wanted = [message for message in stored if message.properties()[known.TAGS] in tags]
        assert list(map(seen, pulled)) == [seen_of(message, native.program) for message in wanted]
    assert not has_committed(target, group, topic)
