"""AVG_BY_CIRCLE: queues are dealt out one by one, like cards."""

from dataclasses import dataclass

from spec.group.allocation.strategy import View, derive_member_index
from spec.values.message_queue import MessageQueue


def derive_circle_positions(queue_count: int, member_count: int, index: int) -> range:
    """The positions dealt to the member at `index`: every `member_count`-th, from its own.

    Clause: group.allocation.circle-deals
    """
    return range(index, queue_count, member_count)


@dataclass(frozen=True, slots=True)
class Circle:
    """Dealing in turn, so that the queues of one broker spread over the members."""

    @property
    def name(self) -> str:
        """As Apache reports it."""
        return "AVG_BY_CIRCLE"

    def allocate(self, view: View, member: str) -> tuple[MessageQueue, ...]:
        """The queues dealt to the member.

        Clauses: group.allocation.circle-deals, group.allocation.partition, group.allocation.balance
        """
        index = derive_member_index(view, member)
        if index is None:
            return ()
        positions = derive_circle_positions(len(view.queues), len(view.members), index)
        return tuple(view.queues[position] for position in positions)
