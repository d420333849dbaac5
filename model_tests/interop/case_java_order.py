"""An ordered group of Java clients of which one is killed: the other goes on where that one stood.

A killed member says nothing, so the broker gives its queues away only when their lease ends.
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Final, NamedTuple

from model_tests.interop.java_event import Received
from model_tests.interop.java_group import SHARED_QUEUES, wait_committed, wait_settled
from model_tests.interop.java_peer import JavaClient, JavaPeer
from model_tests.interop.native_broker import create_topic
from model_tests.interop.target import Target
from spec.broker.lock_lease import LEASE_MS

pytest_plugins = ["model_tests.interop.java_fixture"]

RENEWAL_MS: Final = 1000
"""How often members renew their locks here."""
LATE_MS: Final = 15_000
"""How long after the lease's end the queues may still stand: a rebalance, an offset query, a pull."""


class Crash(NamedTuple):
    """A group before one of its members is killed."""

    topic: str
    group: str
    producer: JavaPeer
    survivor: JavaPeer
    victim: JavaPeer
    victim_share: set[int]


def prepare_crash(client: JavaClient, target: Target) -> Crash:
    """Two members share the queues, and both receive."""
    topic, group = client.name("Ordered"), client.name("ordering")
    create_topic(target, topic, SHARED_QUEUES)
    survivor, victim = (
        client.start("push", group=group, topic=topic, orderly="true", pause_ms=1) for _ in range(2)
    )
    _, victim_share = wait_settled([survivor, victim], topic)
    producer = client.start("produce", group=client.name("order_feeding"), way="stream", topic=topic)
    for member in (survivor, victim):
        member.wait_events(Received, 40)
    return Crash(topic, group, producer, survivor, victim, victim_share)


def find_jump(received: Iterable[Received]) -> Received | None:
    """The first message beyond the next one of its queue; earlier ones may come again."""
    next_offsets: dict[int, int] = defaultdict(int)
    for event in received:
        if event.queue_offset > next_offsets[event.queue_id]:
            return event
        next_offsets[event.queue_id] = max(next_offsets[event.queue_id], event.queue_offset + 1)
    return None


def derive_taken(crash: Crash) -> list[Received]:
    """What the survivor received from the queues that were the victim's."""
    return [event for event in crash.survivor.received if event.queue_id in crash.victim_share]


def check_crash(crash: Crash, target: Target) -> None:
    """The survivor took the queues over when their lease ended, and received everything in order."""
    survivor, victim = crash.survivor, crash.victim
    survivor.wait_until(lambda: derive_taken(crash), (LEASE_MS + LATE_MS) / 1000)
    waited_ms = derive_taken(crash)[0].at_ms - victim.received[-1].at_ms
    crash.producer.stop()
    sent = {(event.queue_id, event.queue_offset) for event in crash.producer.sent}
    survivor.wait_until(
        lambda: (
            sent <= {(event.queue_id, event.queue_offset) for event in (*victim.received, *survivor.received)}
        )
    )
    survivor.stop()
    wait_committed(target, crash.group, crash.topic, SHARED_QUEUES)
    assert find_jump([*victim.received, *survivor.received]) is None
    assert LEASE_MS - 2 * RENEWAL_MS < waited_ms < LEASE_MS + LATE_MS


def test_the_other_member_goes_on_in_order_once_the_lease_of_a_killed_one_is_over(
    both_java: tuple[JavaClient, ...], target: Target
) -> None:
    crashes = [prepare_crash(client, target) for client in both_java]
    for crash in crashes:
        crash.victim.kill()
    for crash in crashes:
        check_crash(crash, target)
