"""The crash images with something switched off: a harness that finds nothing then, finds nothing ever."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Final

from model_tests.simulation.crash_image import Budget, Figures
from model_tests.simulation.crash_path import PATHS, run_path
from model_tests.simulation.table_crash import run_table_path
from refimpl.store.settings import StoreSettings
from spec.layout.safe_write import WriteOrder
from spec.recovery.log_walk import REFERENCE, TornText
from spec.store.flush import FlushMode

BUDGET: Final = Budget(9, 300)


def _without(settings: StoreSettings, **switched_off: object) -> StoreSettings:
    return replace(settings, scrutiny=REFERENCE._replace(**switched_off))  # type: ignore[arg-type]  # by name


def run_without_crc() -> Figures:
    """Recovery believes every body."""
    path = PATHS["roll of the log"]
    return run_path(path, FlushMode.SYNC, BUDGET, settings=_without(path.settings, check_crc=False))


def run_without_torn_text() -> Figures:
    """Recovery believes every text."""
    path = PATHS["append of large properties"]
    settings = _without(path.settings, torn_text=TornText.NO_RECORD)
    return run_path(path, FlushMode.SYNC, BUDGET, settings=settings)


def run_without_fsync(name: str) -> Figures:
    """The disk says that it synced, and did not."""
    return run_path(PATHS[name], FlushMode.SYNC, BUDGET, ignores_syncs=True)


BLUNDERS: Final[Mapping[str, Callable[[], Figures]]] = {
    "CRC switched off": run_without_crc,
    "torn texts not looked for": run_without_torn_text,
    "fsync switched off, append": partial(run_without_fsync, "append"),
    "fsync switched off, roll of the log": partial(run_without_fsync, "roll of the log"),
    "fsync switched off, retention": partial(run_without_fsync, "retention"),
    "fsync switched off, clean stop": partial(run_without_fsync, "clean stop"),
    "table written in Apache's order": partial(run_table_path, BUDGET, order=WriteOrder.APACHE),
}
