"""`python -m model_tests.simulation`: every crash on every write path, and the figures.

Up to 16 pending changes are tried in all subsets, beyond that as many as `--samples` says. The
same paths are walked once more with a check switched off, where violations must be found.
"""

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

from rich.console import Console
from rich.table import Table

from model_tests.simulation.crash_image import Budget, Figures
from model_tests.simulation.crash_path import PATHS, run_path
from model_tests.simulation.self_test import BLUNDERS
from model_tests.simulation.table_crash import run_table_path
from spec.store.flush import FlushMode

LIMIT = 16
"""So many pending changes have 65,536 subsets: all of them are tried."""


def _run_store(name: str, mode: FlushMode, budget: Budget) -> Figures:
    return run_path(PATHS[name], mode, budget)


def _list_runs(budget: Budget) -> dict[tuple[str, str], Callable[[], Figures]]:
    runs: dict[tuple[str, str], Callable[[], Figures]] = {
        (name, mode.name.lower()): partial(_run_store, name, mode, budget)
        for name in PATHS
        for mode in FlushMode
    }
    runs["safe write of a table", ""] = partial(run_table_path, budget)
    return runs


def main() -> int:
    """0 if no image shows a violation, and every blunder was noticed."""
    parser = argparse.ArgumentParser(prog="python -m model_tests.simulation")
    parser.add_argument("--samples", type=int, default=1_000, help="subsets where there are too many for all")
    parser.add_argument("--jobs", type=int, default=2, help="processes at once")
    chosen = parser.parse_args()
    runs = _list_runs(Budget(LIMIT, chosen.samples))
    table = Table(
        "write path", "flush", "moments", "all subsets", "most pending", "subsets", "images", "violations"
    )
    total = Figures()
    with ProcessPoolExecutor(chosen.jobs) as executor:
        results = [executor.submit(run) for run in runs.values()]
        blunders = {name: executor.submit(blunder) for name, blunder in BLUNDERS.items()}
        for (name, mode), result in zip(runs, results, strict=True):
            figures = result.result()
            total.add(figures)
            table.add_row(name, mode, *map(str, figures.row()))
        noticed = {name: len(result.result().violations) for name, result in blunders.items()}
    Console(width=110).print(table)
    sys.stdout.write(
        f"{total.images} crash images of {total.subsets} subsets: {len(total.violations)} violations\n"
    )
    for violation in total.violations[:5]:
        sys.stdout.write(f"  {violation}\n")
    for name, count in noticed.items():
        sys.stdout.write(
            f"{name}: {count} violations, as there must be\n" if count else f"{name}: NOT NOTICED\n"
        )
    return int(bool(total.violations) or not all(noticed.values()))


if __name__ == "__main__":
    sys.exit(main())
