"""How a group shares the queues of a topic, seen from outside: who received what was put into which queue."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from model_tests.interop.native_broker import LOOK_AGAIN_SECONDS, QUEUES, fill_queues
from model_tests.interop.native_driver import Driver
from model_tests.interop.native_event import Received
from model_tests.interop.target import Target

SETTLE_LIMIT_SECONDS: Final = 40.0
"""Three rounds of the clients' rebalancing, which they do every ten seconds at the slowest, and some."""
PROBE_LIMIT_SECONDS: Final = 3.0
STRAGGLE_SECONDS: Final = 0.5
"""So long after the first delivery of a message, a second one to another member is waited for."""


def derive_all(members: Sequence[Driver]) -> list[Received]:
    """What the members received together, in the order of time."""
    together = [received for member in members for received in member.received]
    return sorted(together, key=lambda received: received.at_ms)


def derive_owners(members: Sequence[Driver], bodies: set[str]) -> dict[str, list[int]]:
    """Which members received each of the messages, by its body; a member that got it twice counts twice."""
    owners: dict[str, list[int]] = {body: [] for body in bodies}
    for number, member in enumerate(members):
        for received in member.received:
            if received.body in bodies:
                owners[received.body].append(number)
    return owners


def derive_shares(members: Sequence[Driver], bodies: set[str]) -> list[set[int]]:
    """The queues from which each member received some of the messages."""
    return [
        {received.queue_id for received in member.received if received.body in bodies} for member in members
    ]


def is_consumed(members: Sequence[Driver], bodies: set[str], limit_seconds: float) -> bool:
    """Whether each of the messages was received by somebody within the limit."""
    until = time.monotonic() + limit_seconds
    while not all(derive_owners(members, bodies).values()):
        if time.monotonic() > until:
            return False
        time.sleep(LOOK_AGAIN_SECONDS)
    return True


def wait_consumed(
    members: Sequence[Driver], bodies: set[str], limit_seconds: float = SETTLE_LIMIT_SECONDS
) -> None:
    """Each of the messages was received by somebody."""
    if not is_consumed(members, bodies, limit_seconds):
        lost = sorted(body for body, owners in derive_owners(members, bodies).items() if not owners)
        raise AssertionError(
            f"{len(lost)} of {len(bodies)} were not received within {limit_seconds} s: {lost}"
        )


def wait_probed(target: Target, topic: str, word: str, is_so: Callable[[set[str]], bool]) -> None:
    """It is so of a round of probes, which are one message in each queue.

    A member does not say which queues it has, so they are probed until the answer is the one expected.
    """
    until = time.monotonic() + SETTLE_LIMIT_SECONDS
    number = 0
    while not is_so(fill_queues(target, topic, f"{word}.{number}", 1)):
        assert time.monotonic() < until, f"{topic} is not settled after {number} rounds of probes"
        number += 1


def wait_settled(target: Target, topic: str, members: Sequence[Driver], word: str) -> list[set[int]]:
    """Each queue is in the share of exactly one member, and each member has one; the shares."""
    shares: list[set[int]] = []

    def is_settled(probes: set[str]) -> bool:
        if not is_consumed(members, probes, PROBE_LIMIT_SECONDS):
            return False
        time.sleep(STRAGGLE_SECONDS)
        shares[:] = derive_shares(members, probes)
        is_once = all(len(owners) == 1 for owners in derive_owners(members, probes).values())
        return is_once and all(shares)

    wait_probed(target, topic, word, is_settled)
    return shares


def wait_all_reached(target: Target, topic: str, members: Sequence[Driver], word: str) -> None:
    """Each of the members, which broadcast, receives from every queue."""
    wait_probed(
        target,
        topic,
        word,
        lambda probes: all(is_consumed([member], probes, PROBE_LIMIT_SECONDS) for member in members),
    )


def check_shared(members: Sequence[Driver], bodies: set[str], shares: list[set[int]]) -> None:
    """The messages were each received once, by the member whose share the queue is, and by no other."""
    wait_consumed(members, bodies)
    time.sleep(STRAGGLE_SECONDS)
    owners = derive_owners(members, bodies)
    assert {body: len(found) for body, found in owners.items()} == dict.fromkeys(bodies, 1), owners
    assert derive_shares(members, bodies) == shares
    assert sorted(queue for share in shares for queue in share) == list(range(QUEUES)), shares
