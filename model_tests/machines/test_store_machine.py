"""The store keeps its promises over any order of appends, flushes, faults and crashes."""

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from model_tests.machines.store_machine import AsyncStoreMachine, StoreMachine, SyncStoreMachine
from spec.broker.pull_outcome import PullStatus
from spec.broker.send import PutStatus

ANSWERS = {
    PullStatus.FOUND,
    PullStatus.OFFSET_TOO_SMALL,
    PullStatus.OFFSET_OVERFLOW_ONE,
    PullStatus.OFFSET_OVERFLOW_BADLY,
    PullStatus.NO_MESSAGE_IN_QUEUE,
    PutStatus.PUT_OK,
    PutStatus.SERVICE_NOT_AVAILABLE,
    PutStatus.UNKNOWN_ERROR,
}
"""Answers that a run must have met, or it was too tame."""


@pytest.mark.clause(
    "guarantee.sto.one-message-per-offset",
    "guarantee.sto.index-equals-log",
    "guarantee.sto.offset-assigned-once",
    "guarantee.sto.nothing-taken-back",
    "recovery.state.follows-from-log",
    "store.flush.acknowledged-is-stored",
    "store.flush.readable-is-durable",
    "store.config.durable-write",
)
@pytest.mark.parametrize("machine", [AsyncStoreMachine, SyncStoreMachine])
def test_store_keeps_its_promises(machine: type[StoreMachine]) -> None:
    machine.exercised.clear()
    machine.answers.clear()
    run_state_machine_as_test(machine, settings=settings(stateful_step_count=80))
    assert all(machine.exercised[rule] > 0 for rule in ("STO-1", "STO-2", "STO-3", "STO-4"))
    assert set(machine.answers) >= ANSWERS
