"""Groups of Java clients that are taken back to an instant while they are online."""

import time
from collections import Counter
from typing import Final, NamedTuple

from model_tests.interop.java_event import Reset
from model_tests.interop.java_group import count_received, wait_committed, wait_received, wait_settled
from model_tests.interop.java_peer import JavaClient, JavaPeer
from model_tests.interop.native_broker import QUEUES, create_topic, fill_queues
from model_tests.interop.target import Target

pytest_plugins = ["model_tests.interop.java_fixture"]

EARLY: Final = 5
LATE: Final = 3
PAUSE_SECONDS: Final = 1.0


class Online(NamedTuple):
    """A group that received what was sent before an instant, and what was sent after it."""

    client: JavaClient
    topic: str
    group: str
    members: list[JavaPeer]
    early: set[str]
    late: set[str]
    instant_ms: int


def prepare_reset(client: JavaClient, target: Target) -> Online:
    """Two members have received everything, and say so to the broker every second."""
    topic, group = client.name("Reset"), client.name("resetting")
    create_topic(target, topic)
    members = [client.start("push", group=group, topic=topic) for _ in range(2)]
    wait_settled(members, topic, QUEUES)
    early = fill_queues(target, topic, "early", EARLY)
    time.sleep(PAUSE_SECONDS)  # the broker chooses the message nearest to the instant, before or after it
    instant_ms = time.time_ns() // 1_000_000
    late = fill_queues(target, topic, "late", LATE)
    wait_received(members, early | late)
    return Online(client, topic, group, members, early, late, instant_ms)


def check_reset(online: Online, target: Target) -> None:
    """What is younger than the instant was received twice, the rest once; the group is at the end again."""
    members = online.members
    wanted = Counter(online.early | online.late) + Counter(online.late)
    members[0].wait_until(
        lambda: sum(map(Counter.total, count_received(members, online.late))) >= 2 * len(online.late)
    )
    for member in members:
        member.stop()
    wait_committed(target, online.group, online.topic)
    assert sum(count_received(members, set(wanted)), Counter()) == wanted


def test_members_that_are_online_receive_again_what_is_younger_than_the_instant_of_a_reset(
    both_java: tuple[JavaClient, ...], target: Target
) -> None:
    groups = [prepare_reset(client, target) for client in both_java]
    for online in groups:
        wait_committed(target, online.group, online.topic)
    resets = [
        online.client.start(
            "reset-offset", group=online.group, topic=online.topic, instant_ms=online.instant_ms
        )
        for online in groups
    ]
    for reset in resets:
        reset.finish()
        assert {event.queue_id: event.offset for event in reset.events(Reset)} == dict.fromkeys(
            range(QUEUES), EARLY
        )
    for online in groups:
        check_reset(online, target)
