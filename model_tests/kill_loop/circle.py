"""The circle: write, kill, look; then write on in what the kill left."""

import time
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from model_tests.kill_loop.executioner import draw_moment, run_writer
from model_tests.kill_loop.inspection import inspect_folder
from model_tests.kill_loop.ledger import Ledger
from model_tests.kill_loop.report import Opened
from model_tests.kill_loop.writer import Promise
from spec.store.flush import FlushMode


class Figures(NamedTuple):
    """What became of some kills."""

    seed: int
    kills: int
    kills_while_opening: int
    acknowledged: int
    read: int
    lost: tuple[str, ...]
    wrong: tuple[str, ...]
    seconds: float

    def sentence(self) -> str:
        """The closing line."""
        return (
            f"kill loop: seed {self.seed}, {self.kills} kills ({self.kills_while_opening} while opening), "
            f"{self.acknowledged} acknowledged, {len(self.lost)} lost, {len(self.wrong)} otherwise wrong, "
            f"{self.read} messages read, {self.seconds:.1f} seconds"
        )


def run_circle(
    folder: Path,
    kills: int,
    seed: int,
    promise: Promise = Promise.KEPT,
    tell: Callable[[Figures], None] = lambda _: None,
) -> Figures:
    """The figures of so many kills in one folder; `tell` hears those of each kill so far."""
    random, ledger, began = Random(seed), Ledger(), time.monotonic()
    figures = Figures(seed, 0, 0, 0, 0, (), (), 0.0)
    for number in range(kills):
        mode = random.choice(tuple(FlushMode))
        reports = run_writer(folder / "store", seed * 1_000_000 + number, mode, draw_moment(random), promise)
        twice = ledger.add(reports)
        lost, wrong, read = inspect_folder(folder / "store", folder / "copy", ledger)
        opened = any(isinstance(report, Opened) for report in reports)
        figures = Figures(
            seed,
            number + 1,
            figures.kills_while_opening + (not opened),
            ledger.count,
            figures.read + read,
            figures.lost + lost,
            figures.wrong + tuple(twice) + wrong,
            time.monotonic() - began,
        )
        tell(figures)
        if lost or wrong:
            # What is lost stays lost: further kills would say the same again.
            break
    return figures
