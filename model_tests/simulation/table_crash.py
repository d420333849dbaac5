"""Every disk that a crash may leave while a table is saved: one of the tables that were saved is there."""

from random import Random

from model_tests.simulation.crash_image import (
    FAILURES,
    Budget,
    Figures,
    WatchedDisk,
    choose_subsets,
    derive_fingerprint,
)
from model_tests.simulation.scene import Clock
from model_tests.simulation.table import ConfigLedger
from spec.layout.safe_write import WriteOrder


def run_table_path(budget: Budget, order: WriteOrder = WriteOrder.REFERENCE) -> Figures:
    """What was found when every crash during four saves was tried, the first of them of a new file."""
    disk = WatchedDisk(1, clock=Clock())
    tables, figures, random = ConfigLedger(disk, order), Figures(), Random(1)
    seen: set[int] = set()

    def try_moment() -> None:
        count = len(disk.pending())
        figures.moments += 1
        figures.largest = max(figures.largest, count)
        figures.exhausted += count <= budget.limit
        for chosen in choose_subsets(count, budget, random):
            figures.subsets += 1
            image = disk.image(chosen)
            mark = hash((len(tables.possible), derive_fingerprint(image.root)))
            if mark not in seen:
                seen.add(mark)
                figures.images += 1
                try:
                    tables.check(image)
                except FAILURES as failure:
                    figures.violations.append(f"{type(failure).__name__}: {failure}"[:2_000])

    disk.before_sync = try_moment
    for number in range(4):
        tables.save(number)
    disk.before_sync = None
    try_moment()
    return figures
