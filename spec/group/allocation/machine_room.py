"""MACHINE_ROOM: only queues of brokers in the configured rooms are shared at all.

A broker says where it stands by its name, `room@name`. Queues of other rooms, or of brokers
whose name has another form, belong to nobody. Of the rest each member takes the same number,
contiguously, and the first members one of the left-over queues each.
"""

from dataclasses import dataclass
from typing import Final

from spec.group.allocation.strategy import View, derive_member_index
from spec.values.message_queue import MessageQueue

_PART_COUNT: Final = 2


def derive_room_positions(queue_count: int, member_count: int, index: int) -> tuple[int, ...]:
    """The positions of the member at `index`: its equal part, then its left-over queue if any.

    Clause: group.allocation.machine-room-shares
    """
    share, remainder = divmod(queue_count, member_count)
    positions = tuple(range(index * share, index * share + share))
    return (*positions, member_count * share + index) if index < remainder else positions


def derive_broker_room(broker_name: str) -> str | None:
    """The room in `room@name`; None if the name has another form.

    Java's `split` forgets empty pieces at the end, so `room@name@` still has two parts and
    `room@` has one.
    """
    parts = broker_name.split("@")
    while parts and not parts[-1]:
        parts.pop()
    return parts[0] if len(parts) == _PART_COUNT else None


@dataclass(frozen=True, slots=True)
class MachineRoom:
    """Equal parts of the queues that stand in the rooms."""

    rooms: frozenset[str]

    @property
    def name(self) -> str:
        """As Apache reports it."""
        return "MACHINE_ROOM"

    def allocate(self, view: View, member: str) -> tuple[MessageQueue, ...]:
        """The member's part of the queues in the rooms.

        Clause: group.allocation.machine-room-shares
        """
        index = derive_member_index(view, member)
        if index is None:
            return ()
        local = [queue for queue in view.queues if derive_broker_room(queue.broker_name) in self.rooms]
        positions = derive_room_positions(len(local), len(view.members), index)
        return tuple(local[position] for position in positions)
