"""Every disk that a crash may leave is recovered; with a check switched off, that is no longer so.

`make crashes` tries all subsets up to 16 pending changes; here the same paths go with fewer.
"""

import pytest

from model_tests.simulation.crash_image import Budget
from model_tests.simulation.crash_path import PATHS, run_path
from model_tests.simulation.self_test import BLUNDERS
from model_tests.simulation.table_crash import run_table_path
from spec.store.flush import FlushMode


@pytest.mark.clause(
    "guarantee.sto.one-message-per-offset",
    "guarantee.sto.offset-assigned-once",
    "guarantee.sto.nothing-taken-back",
    "recovery.state.follows-from-log",
    "recovery.log.torn-text",
    "store.flush.acknowledged-is-stored",
    "store.flush.readable-is-durable",
)
@pytest.mark.parametrize("mode", FlushMode)
@pytest.mark.parametrize("name", PATHS)
def test_every_crash_image_of_a_write_path_is_recovered(name: str, mode: FlushMode) -> None:
    figures = run_path(PATHS[name], mode, Budget(7, 40))
    assert (figures.violations, figures.images > 10) == ([], True)


@pytest.mark.clause("store.config.safe-write", "store.config.durable-write")
def test_every_crash_image_of_a_table_holds_a_table_that_was_saved() -> None:
    figures = run_table_path(Budget(10, 100))
    assert (figures.violations, figures.images > 10) == ([], True)


@pytest.mark.parametrize("name", BLUNDERS)
def test_a_switched_off_check_is_noticed(name: str) -> None:
    assert BLUNDERS[name]().violations
