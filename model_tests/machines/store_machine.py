"""The store on a disk that crashes, fills up and fails: the machine that shrinks what it finds."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import ClassVar, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from model_tests.machines.store_actions import ACTIONS, StoreActions
from model_tests.simulation.history import count_exercised
from model_tests.simulation.scene import ASYNC
from refimpl.store.settings import StoreSettings
from spec.override import override
from spec.store.flush import FlushMode

T = TypeVar("T")

TINY = replace(ASYNC, log_file_size=2_000, units_per_file=6, index_slots=8, index_entries=30)
"""Everything rolls after a few messages."""


class DrawnChoice:
    """Hypothesis chooses."""

    def __init__(self, data: st.DataObject) -> None:
        self._data = data

    def pick(self, choices: Sequence[T]) -> T:
        return self._data.draw(st.sampled_from(choices))

    def subset(self, count: int) -> set[int]:
        return self._data.draw(st.sets(st.sampled_from(range(count)))) if count else set()


class StoreMachine(RuleBasedStateMachine):
    """One store over many starts; the flush mode is the subclass's. Its rules are the actions."""

    settings_in_use: ClassVar[StoreSettings]
    exercised: ClassVar[Counter[str]]
    """How often each rule for stores came to bear, over all runs."""
    answers: ClassVar[Counter[object]]
    """What reads and appends were answered, over all runs."""

    @initialize(seed=st.integers(0, 2**16), sector_size=st.sampled_from([512, 128]))
    def begin(self, seed: int, sector_size: int) -> None:
        self.state = StoreActions(seed, sector_size, self.settings_in_use)

    @invariant()
    def queues_end_where_dispatch_is(self) -> None:
        self.state.check_step()

    @override
    def teardown(self) -> None:
        if hasattr(self, "state") and self.state.player.history:
            self.exercised.update(count_exercised(self.state.player.history.finish()))
            self.answers.update(self.state.answers)


def _rule_of(name: str, is_possible: Callable[[StoreActions], bool]) -> object:
    def act(self: StoreMachine, data: st.DataObject) -> None:
        getattr(self.state, name)(DrawnChoice(data))

    act.__name__ = act.__qualname__ = name
    return precondition(lambda self: is_possible(self.state))(rule(data=st.data())(act))


for _name, (_, _is_possible) in ACTIONS.items():
    setattr(StoreMachine, _name, _rule_of(_name, _is_possible))


class AsyncStoreMachine(StoreMachine):
    """Stored is what is written."""

    settings_in_use = TINY
    exercised: ClassVar = Counter()
    answers: ClassVar = Counter()


class SyncStoreMachine(StoreMachine):
    """Stored is what is on disk."""

    settings_in_use = replace(TINY, flush_mode=FlushMode.SYNC)
    exercised: ClassVar = Counter()
    answers: ClassVar = Counter()
