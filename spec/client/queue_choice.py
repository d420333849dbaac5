"""Which queue a producer writes to: the next one, and after a failure one of another broker.

A counter, started anywhere, goes up by one for each look; its absolute value modulo the number of
queues is the position. On a retry positions of the broker that just failed are passed over, for one
round; if there is no other broker, the next queue is taken as it comes.

The counter is a Java int and wraps. The absolute value of the lowest int is itself, so Apache
falls back to position 0 there.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple, TypeVar

INTEGER_MINIMUM: Final = -(2**31)
_MODULUS: Final = 2**32

Broker = TypeVar("Broker", int, str)


class Choice(NamedTuple):
    """The position, and the counter afterwards."""

    position: int
    counter: int


def advance_counter(counter: int) -> int:
    """One more, as a Java int."""
    return (counter + 1 - INTEGER_MINIMUM) % _MODULUS + INTEGER_MINIMUM


def derive_position(counter: int, queue_count: int) -> int:
    """The position that a counter stands for.

    Clause: client.producer.round-robin
    """
    return 0 if counter == INTEGER_MINIMUM else abs(counter) % queue_count


def choose_queue(brokers: Sequence[Broker], counter: int, failed: Broker | None = None) -> Choice:
    """The next queue; `brokers` names the broker of each queue, `failed` the one to pass over.

    Clauses: client.producer.round-robin, client.producer.retry-elsewhere
    """
    looks = len(brokers) if failed is not None else 0
    for _ in range(looks):
        counter = advance_counter(counter)
        position = derive_position(counter, len(brokers))
        if brokers[position] != failed:
            return Choice(position, counter)
    counter = advance_counter(counter)
    return Choice(derive_position(counter, len(brokers)), counter)
