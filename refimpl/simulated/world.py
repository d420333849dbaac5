"""A simulated world: machines, a network and scripted clients, all by one seed.

The same seed and the same script give the same run, byte for byte: nothing here asks a clock, a
thread or the system for chance. Each part draws from a stream of its own, so that a script that
starts one more machine does not change how long the others' frames take.
"""

from collections.abc import Callable
from itertools import count
from random import Random
from typing import Final

from refimpl.simulated.caller import Caller
from refimpl.simulated.delivery import Delivery
from refimpl.simulated.disk import SimulatedDisk
from refimpl.simulated.machine import CoreFactory, Machine, Surroundings, Told
from refimpl.simulated.network import Network
from refimpl.simulated.scheduler import Scheduler
from spec.values.host import Host

START_MS: Final = 1_700_000_000_000
LATENCIES_MS: Final = range(5)
"""How long a frame is on its way: what is sent at once to different ends may arrive in any order."""


class World:
    """Everything that there is; it stands still between two calls of `run_...`."""

    def __init__(
        self, seed: int, *, start_ms: int = START_MS, watch: Callable[[Delivery], None] | None = None
    ) -> None:
        self.seed = seed
        watch = watch or _ignore
        self.scheduler = Scheduler(start_ms)
        self.network = Network(self.scheduler, self._draw("network"), LATENCIES_MS, watch)
        self.notes: list[Told] = []
        """What the cores told whoever runs them."""
        self.machines: dict[str, Machine] = {}
        self.disks: dict[str, SimulatedDisk] = {}
        self._callers = count(1)
        self._surroundings = Surroundings(
            self.scheduler, self.network, self._draw("tasks"), watch, self.notes.append
        )

    def _draw(self, part: str) -> Random:
        return Random(f"{self.seed} {part}")  # noqa: S311 - chance, not a secret

    @property
    def now_ms(self) -> int:
        """The time."""
        return self.scheduler.now_ms

    def add_disk(self, node: str) -> SimulatedDisk:
        """The disk of a node, which crashes with it."""
        disk = SimulatedDisk(self._draw(f"disk of {node}"), clock=lambda: self.scheduler.now_ms)
        self.disks[node] = disk
        return disk

    def start(self, node: str, host: Host, factory: CoreFactory) -> Machine:
        """A new node runs and can be reached at the host."""
        if node in self.machines:
            raise ValueError(f"there is a {node} already; restart it")
        machine = self.machines[node] = Machine(node, host, self._surroundings)
        machine.start(factory)
        return machine

    def crash(self, node: str) -> None:
        """The node is gone with its connections, and its disk has what was synced, the rest by chance."""
        self.machines[node].crash()
        if node in self.disks:
            self.disks[node].crash_randomly()

    def restart(self, node: str, factory: CoreFactory) -> None:
        """The node runs again, with what its disk has."""
        self.machines[node].start(factory)

    def connect(self, host: Host) -> Caller:
        """A scripted client that is connected to the host, if anybody listens there."""
        name = f"caller-{next(self._callers)}"
        return Caller(name, self.scheduler, self.network, str(host))

    def run_for(self, duration_ms: int) -> None:
        """So much time has passed."""
        self.scheduler.run_until(self.scheduler.now_ms + duration_ms)


def _ignore(_: Delivery) -> None:
    """Nobody watches."""
