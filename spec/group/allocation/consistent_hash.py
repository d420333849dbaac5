"""CONSISTENT_HASH: each member stands at several points of a ring, a queue belongs to the next point.

What it buys is stability. A member that joins takes queues only for itself, and a member that
leaves gives away only its own: nothing else moves. The price is balance, which is a matter of
luck with ten points a member.

A member's points are the hashes of `id-0`, `id-1` and so on. A point that is already taken is
overwritten by the later member. An id that is listed twice continues its numbering, counted by
the points it still holds. The hash is the first four bytes of MD5, as a number without sign; it
enters the kernels as an integer.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final, TypeVar

from spec.group.allocation.strategy import View, derive_member_index
from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue

VIRTUAL_NODE_COUNT: Final = 10
"""Apache's default number of points a member."""

_HASH_BYTES: Final = 4

Owner = TypeVar("Owner", int, str)


def derive_ring(points: Iterable[tuple[int, Owner]]) -> tuple[tuple[int, Owner], ...]:
    """The points in ascending order; of two equal hashes the later one stays.

    Clause: group.allocation.consistent-hash-ring
    """
    return tuple(sorted(dict(points).items()))


def derive_ring_owner(ring: tuple[tuple[int, Owner], ...], hash_value: int) -> Owner | None:
    """Who owns the hash: the first point at or after it, else the first of all; None on no ring.

    Clauses: group.allocation.consistent-hash-ring, group.allocation.consistent-hash-stability
    """
    if not ring:
        return None
    at = bisect_left(ring, hash_value, key=lambda point: point[0])
    return ring[at % len(ring)][1]


def derive_md5_point(text: str) -> int:
    """Where a text stands on Apache's ring, 0 to 2^32 - 1.

    Clause: group.allocation.consistent-hash-ring
    """
    digest = hashlib.md5(text.encode("utf-8", "replace"), usedforsecurity=False).digest()
    return int.from_bytes(digest[:_HASH_BYTES], "big")


@dataclass(frozen=True, slots=True)
class ConsistentHash:
    """Next point on a ring; the hash may be replaced, as in Apache."""

    virtual_node_count: int = VIRTUAL_NODE_COUNT
    hash_of: Callable[[str], int] = derive_md5_point

    def __post_init__(self) -> None:
        """A negative number of points is refused; zero points leave every queue to nobody."""
        if self.virtual_node_count < 0:
            reason = f"{self.virtual_node_count} points a member: expected 0 or more"
            raise Rejection("group.allocation.consistent-hash-ring", 0, reason)

    @property
    def name(self) -> str:
        """As Apache reports it."""
        return "CONSISTENT_HASH"

    def derive_points(self, members: tuple[str, ...]) -> dict[int, str]:
        """The points of all members, in the order in which the members are listed."""
        points: dict[int, str] = {}
        listed: set[str] = set()
        for member in members:
            first = sum(owner == member for owner in points.values()) if member in listed else 0
            listed.add(member)
            for number in range(first, first + self.virtual_node_count):
                points[self.hash_of(f"{member}-{number}")] = member
        return points

    def allocate(self, view: View, member: str) -> tuple[MessageQueue, ...]:
        """The queues whose next point on the ring is the member's.

        Clauses: group.allocation.consistent-hash-ring, group.allocation.partition
        """
        if derive_member_index(view, member) is None:
            return ()
        ring = derive_ring(self.derive_points(view.members).items())
        return tuple(q for q in view.queues if derive_ring_owner(ring, self.hash_of(str(q))) == member)
