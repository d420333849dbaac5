"""What is delivered in a simulated world: the trace of a run, which its seed determines byte for byte."""

from enum import Enum
from typing import NamedTuple


class DeliveryKind(Enum):
    """What it is that reaches a node."""

    START = "start"
    CRASH = "crash"
    OPEN = "open"
    DATA = "data"
    CLOSE = "close"
    WAKE = "wake"
    FINISHED = "finished"


class Delivery(NamedTuple):
    """One thing that reached a node."""

    time_ms: int
    node: str
    kind: DeliveryKind
    connection: int = 0
    """Where it came from, in the node's own numbers; 0 for what no connection brings."""
    content: bytes = b""

    def encode(self) -> bytes:
        """One line of a trace."""
        return (
            f"{self.time_ms} {self.node} {self.kind.value} {self.connection} {self.content.hex()}\n".encode()
        )
