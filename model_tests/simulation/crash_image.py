"""Every disk that a crash may leave: all subsets of what was pending, at every moment that matters.

Between two syncs, what is pending only grows, and a crash keeps any part of it. So the moments
just before each sync, and the last one, stand for all others. Up to a limit all subsets are tried,
beyond it as many as chance chooses. Different subsets often leave the same disk; each is tried once.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import compress, product
from random import Random
from typing import Final

from model_tests.simulation.ledger import Ledger
from model_tests.simulation.player import StorePlayer
from model_tests.simulation.scene import Clock, message, spell
from refimpl.ports import DiskError
from refimpl.simulated.disk import SimulatedDisk
from refimpl.simulated.node import FileNode, Folder
from refimpl.store.settings import StoreSettings
from spec.override import override
from spec.rejection import Rejection

FAILURES: Final = (AssertionError, Rejection, DiskError, LookupError, ValueError, TypeError)
"""How a store shows that it did not come back: it refuses to start, breaks, or says something else."""


class WatchedDisk(SimulatedDisk):
    """A disk that tells somebody before each sync."""

    before_sync: Callable[[], None] | None = None

    @override
    def check_failure(self, kind: str, path: str) -> None:
        if kind == "sync" and self.before_sync is not None:
            self.before_sync()
        super().check_failure(kind, path)


@dataclass(slots=True)
class Figures:
    """What was tried."""

    moments: int = 0
    largest: int = 0
    """The most changes that were pending at once."""
    exhausted: int = 0
    """Moments of which all subsets were tried."""
    subsets: int = 0
    images: int = 0
    """Different disks among them: each was opened."""
    violations: list[str] = field(default_factory=list)

    def add(self, other: "Figures") -> None:
        """What was tried elsewhere counts too."""
        self.moments += other.moments
        self.largest = max(self.largest, other.largest)
        self.exhausted += other.exhausted
        self.subsets += other.subsets
        self.images += other.images
        self.violations += other.violations

    def row(self) -> tuple[int, ...]:
        """The figures of a line in a table."""
        violations = len(self.violations)
        return self.moments, self.exhausted, self.largest, self.subsets, self.images, violations


@dataclass(frozen=True, slots=True)
class Budget:
    """How much is tried at one moment."""

    limit: int
    """So many pending changes are tried in all subsets."""
    samples: int
    """As many subsets are chosen where there are more."""


def choose_subsets(count: int, budget: Budget, random: Random) -> Iterator[tuple[int, ...]]:
    """All subsets of so many things, or some, among them nothing and everything."""
    if count <= budget.limit:
        for chosen in product((False, True), repeat=count):
            yield tuple(compress(range(count), chosen))
        return
    yield ()
    yield tuple(range(count))
    for _ in range(budget.samples):
        share = random.random()
        yield tuple(number for number in range(count) if random.random() < share)


def derive_fingerprint(folder: Folder) -> tuple[object, ...]:
    """What two equal disks have in common."""
    found: list[object] = []
    for name, node in sorted(folder.visible.items()):
        if isinstance(node, FileNode):
            sectors = {number: node.visible.get(number) for number in node.visible.numbers_from(0)}
            found.append((name, node.size, tuple(sectors.items())))
        else:
            found.append((name, derive_fingerprint(node)))
    return tuple(found)


class CrashImages:
    """Tries the images of one disk, at one moment after the other."""

    def __init__(
        self, disk: WatchedDisk, settings: StoreSettings, clock: Clock, budget: Budget, seed: int = 1
    ) -> None:
        self._disk = disk
        self._settings = settings
        self._clock = clock
        self._budget = budget
        self._random = Random(seed)
        self._seen: set[int] = set()
        self.figures = Figures()

    def watch(self, ledger: Ledger) -> None:
        """From now on every moment before a sync is tried."""
        self._disk.before_sync = lambda: self.try_moment(ledger)

    def stop(self, ledger: Ledger) -> Figures:
        """The last moment is tried too; the figures of all."""
        self._disk.before_sync = None
        self.try_moment(ledger)
        return self.figures

    def try_moment(self, ledger: Ledger) -> None:
        """All disks that a crash at this moment may leave."""
        pending = [
            number for number, change in enumerate(self._disk.pending()) if not _is_lock(spell(change))
        ]
        figures = self.figures
        figures.moments += 1
        figures.largest = max(figures.largest, len(pending))
        figures.exhausted += len(pending) <= self._budget.limit
        for chosen in choose_subsets(len(pending), self._budget, self._random):
            figures.subsets += 1
            kept = [pending[number] for number in chosen]
            image = self._disk.image(kept)
            mark = hash((ledger.safe_end, len(ledger.entries), derive_fingerprint(image.root)))
            if mark not in self._seen:
                self._seen.add(mark)
                figures.images += 1
                self._try_image(image, ledger, kept)

    def _try_image(self, image: SimulatedDisk, ledger: Ledger, kept: list[int]) -> None:
        try:
            player = StorePlayer(image, self._settings, self._clock, ledger.copy(), may_lose=True)
            if self.figures.images % 8 == 0:
                live_on(player)
        except FAILURES as failure:
            lost = [spell(change) for n, change in enumerate(self._disk.pending()) if n not in kept]
            self.figures.violations.append(f"{type(failure).__name__}: {failure}; lost were {lost}"[:2_000])


def live_on(player: StorePlayer) -> None:
    """The recovered store takes messages, and none of them is lost in a second crash."""
    player.append(message(b"after the crash", properties="KEYS\1after\2"))
    player.flush()
    player.append(message(b"lost again"))
    player.check()
    player.crash(())


def _is_lock(change: str) -> bool:
    """Whether the change is of the lock file: its content is written anew at every start."""
    return " lock" in change
