"""A message queue: the unit that is owned, locked, pulled and committed."""

from dataclasses import dataclass

from spec.override import override
from spec.values.java_text import utf16_key
from spec.values.units import QueueId


@dataclass(frozen=True, slots=True)
class MessageQueue:
    """One queue of a topic on one broker; equal when all three parts are equal."""

    topic: str
    broker_name: str
    queue_id: QueueId

    def sort_key(self) -> tuple[bytes, bytes, int]:
        """Apache's order: topic, then broker name, both by UTF-16 units, then queue id.

        Clause: group.order.queues
        """
        return (utf16_key(self.topic), utf16_key(self.broker_name), self.queue_id)

    def __lt__(self, other: "MessageQueue") -> bool:
        """Whether this queue comes first in Apache's order."""
        return self.sort_key() < other.sort_key()

    @override
    def __str__(self) -> str:
        """The text that Apache's consistent hashing hashes.

        Clause: group.allocation.consistent-hash-ring
        """
        return f"MessageQueue [topic={self.topic}, brokerName={self.broker_name}, queueId={self.queue_id}]"
