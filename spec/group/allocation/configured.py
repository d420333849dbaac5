"""CONFIG: a member owns what it was told to own.

The view is not looked at, not even for emptiness, so nothing is promised about other members:
two may be told the same queue, and a queue may be told to nobody.
"""

from dataclasses import dataclass

from spec.group.allocation.strategy import View
from spec.values.message_queue import MessageQueue


@dataclass(frozen=True, slots=True)
class Configured:
    """A fixed list."""

    queues: tuple[MessageQueue, ...]

    @property
    def name(self) -> str:
        """As Apache reports it."""
        return "CONFIG"

    def allocate(self, view: View, member: str) -> tuple[MessageQueue, ...]:  # noqa: ARG002 - the list is fixed
        """The configured list, whoever asks.

        Clause: group.allocation.config-ignores-view
        """
        return self.queues
