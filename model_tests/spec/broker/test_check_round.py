"""Whole check rounds over a half topic and an operation topic, while producers decide in between."""

from dataclasses import dataclass, field, replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.transaction import (
    AGE_LIMIT_MS,
    CHECK_PERIOD_MS,
    OPERATION_BATCH,
    HalfState,
    Round,
    Step,
    advance_half_cursor,
    advance_operation_cursor,
    decide_check,
    derive_check_times,
    derive_deferred_properties,
    is_half_decided,
)


def step_by_ifs(half: HalfState, current: Round) -> str:  # noqa: C901, PLR0911 - a chain of checks is what is judged
    """One turn of the loop, written down once more from top to bottom."""
    if half.is_decided:
        return "SKIP"
    if half.check_times >= 15:
        return "GIVE_UP"
    age_ms = current.now_ms - half.born_at_ms
    if age_ms > 72 * 60 * 60 * 1000:
        return "GIVE_UP"
    if half.stored_at_ms >= current.started_at_ms:
        return "STOP"
    immunity_ms = 6000
    if half.immunity_ms is not None:
        immunity_ms = half.immunity_ms
        if age_ms < immunity_ms:
            return "DEFER"
    elif 0 <= age_ms < immunity_ms:
        return "STOP"
    newest_ms = current.newest_operation_born_ms
    if newest_ms is None:
        if age_ms > immunity_ms or age_ms <= -1:
            return "CHECK"
        return "STOP"
    if newest_ms - current.started_at_ms > 6000 or age_ms <= -1:
        return "CHECK"
    return "READ_ON"


@pytest.mark.clause(
    "broker.transaction.immunity",
    "broker.transaction.own-immunity",
    "broker.transaction.limits",
    "broker.transaction.check-needed",
)
def test_step_is_the_one_that_the_checks_give_around_every_boundary() -> None:
    started_ms = 10**9
    ages = [-7000, -1, 0, 1, 5999, 6000, 6001, 9999, 10_000, 10_001, AGE_LIMIT_MS, AGE_LIMIT_MS + 1]
    newest = [None, started_ms - 1, started_ms + 6000, started_ms + 6001]
    for age, stored, times, own, record, decided in product(
        ages, (-1, 0, 1), (0, 14, 15), (None, 0, 10_000), newest, (False, True)
    ):
        for late in (0, 2000):
            now_ms = started_ms + late
            half = HalfState(now_ms - age, started_ms + stored, times, own, decided)
            current = Round(started_ms, now_ms, record)
            assert decide_check(half, current).name == step_by_ifs(half, current)


@dataclass(frozen=True)
class Placed:
    """A half message at one place of the half topic."""

    message: int
    born_ms: int
    stored_ms: int
    times: int = 0
    immunity_ms: int | None = None
    told: int | None = None
    """The offset in the properties of a deferred copy."""


@dataclass
class World:
    """Both topics, both cursors, and what the producers know."""

    halves: list[Placed] = field(default_factory=list)
    records: list[tuple[int, int]] = field(default_factory=list)
    """Birth, and the half offset that is named."""
    half_cursor: int = 0
    record_cursor: int = 0
    known_place: dict[int, int] = field(default_factory=dict)
    decided: set[int] = field(default_factory=set)
    given_up: set[int] = field(default_factory=set)
    asked: list[int] = field(default_factory=list)
    now_ms: int = 10**9

    def prepare(self, age_ms: int, immunity_ms: int | None) -> None:
        message = len(self.known_place)
        self.known_place[message] = len(self.halves)
        self.halves.append(Placed(message, self.now_ms - age_ms, self.now_ms, 0, immunity_ms))

    def decide(self, message: int) -> None:
        if message not in self.decided and message in self.known_place:
            self.decided.add(message)
            self.records.append((self.now_ms, self.known_place[message]))

    def waiting(self) -> set[int]:
        return {half.message for half in self.halves[self.half_cursor :]}

    def append_copy(self, at: int, step: Step) -> None:
        half = self.halves[at]
        copy = replace(half, stored_ms=self.now_ms, times=derive_check_times(half.times, step))
        if step is Step.DEFER:
            properties = {} if half.told is None else {"TRAN_PREPARED_QUEUE_OFFSET": str(half.told)}
            kept = derive_deferred_properties(properties, at)
            copy = replace(copy, told=int(kept["TRAN_PREPARED_QUEUE_OFFSET"]))
        if step is Step.CHECK:
            self.asked.append(half.message)
            self.known_place[half.message] = len(self.halves)
        if step is Step.GIVE_UP:
            self.given_up.add(half.message)
        else:
            self.halves.append(copy)

    def run_round(self, stores: list[bool]) -> None:
        """One round at one reading of the clock; `stores` says of each append whether it was taken."""
        needed = {half.told for half in self.halves[self.half_cursor :]}
        named: dict[int, int] = {}
        finished: set[int] = set()
        read = self.record_cursor
        newest_ms: int | None = self.now_ms
        step: Step | None = Step.READ_ON
        while step is Step.READ_ON:
            batch = self.records[read : read + OPERATION_BATCH]
            for number, (_, offset) in enumerate(batch, read):
                if offset < self.half_cursor and offset not in needed:
                    finished.add(number)
                else:
                    named[offset] = number
            read += len(batch)
            newest_ms = batch[-1][0] if batch else None
            step = self.walk(named, finished, newest_ms, stores)
        self.record_cursor = advance_operation_cursor(self.record_cursor, frozenset(finished))

    def walk(
        self, named: dict[int, int], finished: set[int], newest_ms: int | None, stores: list[bool]
    ) -> Step | None:
        """Steps until the round needs more records or ends; the last step."""
        while self.half_cursor < len(self.halves):
            at = self.half_cursor
            half = self.halves[at]
            is_decided = is_half_decided(at, half.told, named.keys())
            state = HalfState(half.born_ms, half.stored_ms, half.times, half.immunity_ms, is_decided)
            step = decide_check(state, Round(self.now_ms, self.now_ms, newest_ms))
            needs_append = step in (Step.CHECK, Step.DEFER, Step.GIVE_UP)
            is_stored = needs_append and (stores.pop() if stores else True)
            if is_stored:
                self.append_copy(at, step)
            if step is Step.SKIP:
                finished.update(named[place] for place in (at, half.told) if place in named)
            self.half_cursor = advance_half_cursor(at, step, is_stored=is_stored)
            if self.half_cursor == at:
                return step
        return None


ACTIONS = st.one_of(
    st.tuples(
        st.just("prepare"),
        st.sampled_from([-500, 0, 3_000, 7_000]),
        st.sampled_from([None, 0, 100_000, 400_000]),
    ),
    st.tuples(st.just("decide"), st.integers(0, 8), st.none()),
)


@pytest.mark.clause(
    "broker.transaction.no-check-before-records",
    "broker.transaction.cursor-passes-nothing-open",
    "broker.transaction.operation-cursor",
    "broker.transaction.deferred-keeps-place",
    "broker.transaction.checks-counted",
)
@given(
    rounds=st.lists(st.lists(ACTIONS, max_size=6), max_size=8),
    stores=st.lists(st.booleans(), max_size=15),
)
def test_rounds_ask_about_no_decided_message_and_forget_no_open_one(
    rounds: list[list[tuple[str, int, int | None]]], stores: list[bool]
) -> None:
    world = World()
    for actions in [*rounds, *([[]] * 40)]:
        for kind, number, immunity_ms in actions:
            if kind == "prepare":
                world.prepare(number, immunity_ms)
            else:
                world.decide(number)
        world.now_ms += CHECK_PERIOD_MS
        world.asked.clear()
        world.run_round(stores)
        everybody = set(world.known_place)
        assert not set(world.asked) & world.decided
        assert len(world.asked) == len(set(world.asked))
        assert everybody == world.decided | world.given_up | world.waiting()
        assert all(
            world.halves[offset].message not in world.waiting() or number >= world.record_cursor
            for number, (_, offset) in enumerate(world.records)
        )
    assert world.half_cursor == len(world.halves)
    assert world.record_cursor == len(world.records)
    assert world.decided | world.given_up == set(world.known_place)


@pytest.mark.clause("broker.transaction.no-check-before-records")
def test_round_reads_all_records_before_it_asks_about_the_first_open_message() -> None:
    world = World()
    for _ in range(100):
        world.prepare(7_000, None)
    for message in range(1, 100):
        world.decide(message)
    world.now_ms += CHECK_PERIOD_MS
    world.run_round([])
    assert world.asked == [0]
    assert (world.half_cursor, world.record_cursor) == (100, 99)


@pytest.mark.clause("broker.transaction.checks-counted")
def test_only_a_check_is_counted_in_the_reference_and_also_a_deferral_in_4_9() -> None:
    counted = {step.name: derive_check_times(3, step) for step in Step}
    assert counted == {"SKIP": 3, "GIVE_UP": 3, "STOP": 3, "DEFER": 3, "CHECK": 4, "READ_ON": 3}
    assert derive_check_times(3, Step.DEFER, counts_deferral=True) == 4
