"""How the members of a group of Java clients share the queues of a topic, by what each of them says."""

import time
from collections import Counter
from collections.abc import Sequence
from typing import Final

from model_tests.interop.java_event import Allocated, Received, Sent
from model_tests.interop.java_peer import LOOK_AGAIN_SECONDS, WAIT_LIMIT_SECONDS, JavaPeer
from model_tests.interop.native_broker import QUEUES, read_committed, read_ends
from model_tests.interop.target import Target

SHARED_QUEUES: Final = 8
"""Of the topics that groups share: two members have four each, and three have two or three."""


def derive_share(member: JavaPeer, topic: str) -> set[int]:
    """The queues that the member says it has."""
    shares = [set(event.queue_ids) for event in member.events(Allocated) if event.topic == topic]
    return shares[-1] if shares else set()


def wait_settled(members: Sequence[JavaPeer], topic: str, queues: int = SHARED_QUEUES) -> list[set[int]]:
    """Each member has some queues, each queue has one member; the shares."""
    wanted = list(range(queues))
    until = time.monotonic() + WAIT_LIMIT_SECONDS
    while True:
        shares = [derive_share(member, topic) for member in members]
        if all(shares) and sorted(queue for share in shares for queue in share) == wanted:
            return shares
        assert time.monotonic() < until, f"not settled: {shares}"
        time.sleep(LOOK_AGAIN_SECONDS)


def derive_bodies(events: Sequence[Sent] | Sequence[Received]) -> set[str]:
    """Which messages, whoever received them and however often."""
    return {event.body for event in events}


def wait_received(members: Sequence[JavaPeer], bodies: set[str]) -> None:
    """Each of the messages was received by some member."""
    members[0].wait_until(
        lambda: bodies <= set().union(*(derive_bodies(member.received) for member in members))
    )


def count_received(members: Sequence[JavaPeer], bodies: set[str]) -> list[Counter[str]]:
    """How often each member received each of the messages."""
    return [Counter(event.body for event in member.received if event.body in bodies) for member in members]


def wait_committed(target: Target, group: str, topic: str, queues: int = QUEUES) -> None:
    """The group has committed the end of each queue that has a message."""
    ends = read_ends(target, topic, queues)
    until = time.monotonic() + WAIT_LIMIT_SECONDS
    while True:
        committed = read_committed(target, group, topic, queues)
        if all(committed[queue] == end for queue, end in ends.items()):
            return
        assert time.monotonic() < until, f"committed {committed} of {ends}"
        time.sleep(LOOK_AGAIN_SECONDS)
