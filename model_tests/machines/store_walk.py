"""The store on a disk that crashes, fills up and fails: seeded walks, for volume.

`python -m model_tests.machines.store_walk --walks 20000 --first 0` walks on and prints figures.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from model_tests.machines.store_actions import ACTIONS, StoreActions
from model_tests.machines.store_machine import TINY, AsyncStoreMachine, SyncStoreMachine
from model_tests.simulation.crash_image import FAILURES
from model_tests.simulation.history import count_exercised
from refimpl.store.settings import StoreSettings
from spec.store.flush import FlushMode

T = TypeVar("T")

STEPS = 120
MODES = {
    FlushMode.ASYNC: AsyncStoreMachine.settings_in_use,
    FlushMode.SYNC: SyncStoreMachine.settings_in_use,
}


class SeededChoice:
    """A seed chooses."""

    def __init__(self, random: Random) -> None:
        self._random = random

    def pick(self, choices: Sequence[T]) -> T:
        return self._random.choice(choices)

    def subset(self, count: int) -> set[int]:
        share = self._random.random()
        return {number for number in range(count) if self._random.random() < share}


@dataclass(slots=True)
class WalkFigures:
    """What many walks came to."""

    steps: int = 0
    exercised: Counter[str] = field(default_factory=Counter)
    answers: Counter[object] = field(default_factory=Counter)
    failures: dict[int, str] = field(default_factory=dict)
    """Seed to what went wrong."""


def walk(seed: int, settings: StoreSettings, figures: WalkFigures, steps: int = STEPS) -> list[str]:
    """The actions of one walk, up to the first failure; it is noted under the seed."""
    random = Random(seed)
    state = StoreActions(seed, random.choice((512, 512, 128)), settings)
    choose, done = SeededChoice(random), list[str]()
    try:
        for _ in range(steps):
            possible = {name: weight for name, (weight, is_now) in ACTIONS.items() if is_now(state)}
            [name] = random.choices(list(possible), list(possible.values()))
            done.append(name)
            getattr(state, name)(choose)
            state.check_step()
    except FAILURES as failure:
        figures.failures[seed] = f"{type(failure).__name__}: {failure}"[:600]
    figures.steps += len(done)
    figures.answers.update(state.answers)
    if state.player.history:
        figures.exercised.update(count_exercised(state.player.history.finish()))
    return done


def run_walks(mode: FlushMode, walks: int, first: int = 0, settings: StoreSettings = TINY) -> WalkFigures:
    """The figures of so many walks from a seed on."""
    figures = WalkFigures()
    for seed in range(first, first + walks):
        walk(seed, MODES[mode] if settings is TINY else settings, figures)
    return figures


def main() -> int:
    """Walk as long as asked; 1 if something was found."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--walks", type=int, default=1_000)
    parser.add_argument("--first", type=int, default=0)
    arguments = parser.parse_args()
    is_broken = False
    for mode in FlushMode:
        began = time.perf_counter()
        figures = run_walks(mode, arguments.walks, arguments.first)
        seconds = time.perf_counter() - began
        rules = ", ".join(f"{name} {count}" for name, count in sorted(figures.exercised.items()))
        line = f"{mode.name}: {arguments.walks} walks, {figures.steps} steps, {seconds:.0f} s; {rules}"
        sys.stdout.write(line + "\n")
        for seed, failure in figures.failures.items():
            sys.stdout.write(f"  seed {seed}: {failure}\n")
        is_broken |= bool(figures.failures)
    return int(is_broken)


if __name__ == "__main__":
    sys.exit(main())
