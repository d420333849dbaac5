"""AVG: each member takes one contiguous slice, the first members one queue more.

With more members than queues the first members take one queue each and the others nothing.
Apache computes the start of an empty slice beyond the end of the list; the kernel keeps that
start, so the slice of a surplus member is empty and lies outside.
"""

from dataclasses import dataclass

from spec.group.allocation.strategy import View, derive_member_index
from spec.values.message_queue import MessageQueue


def derive_average_slice(queue_count: int, member_count: int, index: int) -> tuple[int, int]:
    """Start and end of the slice of the member at `index`; end equals start if it gets nothing.

    Clause: group.allocation.average-slices
    """
    share, remainder = divmod(queue_count, member_count)
    is_longer = index < remainder
    size = 1 if queue_count <= member_count else share + is_longer
    start = index * size if is_longer else index * size + remainder
    return start, start + max(0, min(size, queue_count - start))


@dataclass(frozen=True, slots=True)
class Averagely:
    """Contiguous slices; Apache's default."""

    @property
    def name(self) -> str:
        """As Apache reports it."""
        return "AVG"

    def allocate(self, view: View, member: str) -> tuple[MessageQueue, ...]:
        """The member's slice of the sorted queues.

        Clauses: group.allocation.average-slices, group.allocation.partition, group.allocation.balance
        """
        index = derive_member_index(view, member)
        if index is None:
            return ()
        start, end = derive_average_slice(len(view.queues), len(view.members), index)
        return view.queues[start:end]
