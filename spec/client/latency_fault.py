"""The latency fault table: a slow broker is left alone for a while.

Off by default. When on, each send's latency decides how long its broker is passed over; a failed
send counts as a very slow one. The numbers of 5.x are much smaller than those of 4.9.x.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from spec.client.queue_choice import Choice, advance_counter, derive_position
from spec.values.units import Milliseconds


@dataclass(frozen=True, slots=True)
class FaultTable:
    """Thresholds in ascending order, the isolation that each brings, and what a failure counts as."""

    steps: tuple[tuple[int, int], ...]
    failure_ms: int


APACHE_4_9: Final = FaultTable(
    (
        (50, 0),
        (100, 0),
        (550, 30_000),
        (1000, 60_000),
        (2000, 120_000),
        (3000, 180_000),
        (15_000, 600_000),
    ),
    failure_ms=30_000,
)

APACHE_5: Final = FaultTable(
    ((50, 0), (100, 0), (550, 2000), (1800, 5000), (3000, 6000), (5000, 10_000), (15_000, 30_000)),
    failure_ms=10_000,
)


def derive_isolation_ms(latency_ms: int, *, has_failed: bool, table: FaultTable = APACHE_4_9) -> Milliseconds:
    """How long the broker of a send is passed over.

    Clause: client.producer.latency-table
    """
    counted_ms = table.failure_ms if has_failed else latency_ms
    return Milliseconds(max((pause for least, pause in table.steps if counted_ms >= least), default=0))


def is_available(isolated_until_ms: int | None, now_ms: int) -> bool:
    """Whether a broker may be chosen; one that was never slow always may.

    Clause: client.producer.isolation-ends
    """
    return isolated_until_ms is None or now_ms >= isolated_until_ms


def choose_available(brokers: Sequence[str], counter: int, is_usable: Callable[[str], bool]) -> Choice | None:
    """The first queue, from the next position on, whose broker is usable; None if none is.

    Clause: client.producer.isolation-ends
    """
    counter = advance_counter(counter)
    index = counter
    for _ in brokers:
        position = derive_position(index, len(brokers))
        if is_usable(brokers[position]):
            return Choice(position, counter)
        index = advance_counter(index)
    return None


class Fault(NamedTuple):
    """What the table knows of one broker."""

    broker: str
    latency_ms: int
    isolated_until_ms: int


def choose_least_bad(faults: Sequence[Fault], counter: int, now_ms: int) -> str | None:
    """A broker of the better half when none is usable, in turn; None if the table is empty.

    Usable brokers are better than isolated ones, then the lower latency counts, then the earlier end
    of the isolation. Apache shuffles first; here the order of `faults` decides what is equal.

    Clause: client.producer.least-bad
    """
    ordered = sorted(
        faults,
        key=lambda fault: (
            not is_available(fault.isolated_until_ms, now_ms),
            fault.latency_ms,
            fault.isolated_until_ms,
        ),
    )
    if not ordered:
        return None
    return ordered[derive_position(counter, max(1, len(ordered) // 2))].broker
