"""MACHINE_ROOM_NEARBY: queues stay in their room while somebody there is alive.

The queues of a room are shared, by an inner strategy, among the members of that room. The queues
of a room without members are shared among all members, room by room. Every queue is therefore
shared exactly once, and all who take part in one sharing know the same participants: whatever
the inner strategy promises for one view, this one promises for the whole.

Where a queue or a member stands is asked of two functions; one that does not know is an error,
because a guess would be a different view.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from spec.group.allocation.strategy import Strategy, View, derive_member_index
from spec.rejection import Rejection
from spec.values.java_text import utf16_key
from spec.values.message_queue import MessageQueue

Room = TypeVar("Room", int, bytes)
Share = tuple[tuple[int, ...], tuple[int, ...]]
"""Positions of queues, and the positions of the members among whom they are shared."""


def derive_shares(queue_rooms: Sequence[Room], member_rooms: Sequence[Room], index: int) -> tuple[Share, ...]:
    """The sharings in which the member at `index` takes part: its own room first, then empty rooms.

    Clause: group.allocation.nearby-rooms
    """
    own = member_rooms[index]
    neighbours = tuple(at for at, room in enumerate(member_rooms) if room == own)
    shares = [(_positions(queue_rooms, own), neighbours)]
    everyone = tuple(range(len(member_rooms)))
    abandoned = sorted(set(queue_rooms) - set(member_rooms))
    shares.extend((_positions(queue_rooms, room), everyone) for room in abandoned)
    return tuple((queues, members) for queues, members in shares if queues)


def _positions(queue_rooms: Sequence[Room], wanted: Room) -> tuple[int, ...]:
    return tuple(at for at, room in enumerate(queue_rooms) if room == wanted)


def _room_key(room: str | None, position: int, what: str) -> bytes:
    if not room:
        raise Rejection("group.allocation.nearby-rooms", position, f"no machine room is known for {what}")
    return utf16_key(room)


@dataclass(frozen=True, slots=True)
class Nearby:
    """Sharing inside each room, by another strategy."""

    inner: Strategy
    room_of_queue: Callable[[MessageQueue], str | None]
    room_of_member: Callable[[str], str | None]

    @property
    def name(self) -> str:
        """As Apache reports it: with the name of the inner strategy behind a dash."""
        return f"MACHINE_ROOM_NEARBY-{self.inner.name}"

    def allocate(self, view: View, member: str) -> tuple[MessageQueue, ...]:
        """The member's shares, its own room's first, then those of rooms without members.

        Clause: group.allocation.nearby-rooms
        """
        index = derive_member_index(view, member)
        if index is None:
            return ()
        queue_rooms = [_room_key(self.room_of_queue(q), at, str(q)) for at, q in enumerate(view.queues)]
        member_rooms = [_room_key(self.room_of_member(m), at, m) for at, m in enumerate(view.members)]
        owned: list[MessageQueue] = []
        for queues, members in derive_shares(queue_rooms, member_rooms, index):
            part = View(tuple(view.queues[at] for at in queues), tuple(view.members[at] for at in members))
            owned.extend(self.inner.allocate(part, member))
        return tuple(owned)
