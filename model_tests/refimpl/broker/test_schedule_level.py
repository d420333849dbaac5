"""One delay level, driven by hand: clocks that jump, errors that nobody foresaw, batches."""

from random import Random

import pytest

from model_tests.refimpl.broker.broker_world import SMALL_STORE
from refimpl.broker.broker import Broker
from refimpl.broker.recorder import OBSERVED
from refimpl.broker.settings import BrokerSettings
from refimpl.effect import Finish, Note
from refimpl.history_log import HistoryLog
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.new_message import NewMessage
from spec.guarantees.judge import judge_history
from spec.history.declaration import Declaration
from spec.history.event import Event
from spec.history.kind import Kind
from spec.values.host import host_of
from spec.values.property import encode_properties
from spec.values.units import QueueId, QueueOffset

NOW = 1_700_000_000_000
HOST = host_of("127.0.0.1", 40_000)


class Hand:
    """A broker without a world: it is told the time, and its tasks end at once."""

    def __init__(self) -> None:
        self.disk = SimulatedDisk(1, clock=lambda: NOW)
        self.events: list[Event] = []
        self.notes: list[str] = []
        history = HistoryLog("run", Declaration(OBSERVED, durability="async"), self.events.append, NOW)
        settings = BrokerSettings(store=SMALL_STORE)
        self.core = Broker(settings, self.disk, Random(1), NOW, history=history)
        self.core.start(NOW)
        self.drive(NOW)

    def drive(self, now_ms: int) -> None:
        """The broker has done what is due."""
        self.core.on_time(now_ms)
        self.core.end_turn(now_ms)
        for effect in self.core.take_effects():
            if isinstance(effect, Finish):
                effect.task.finish()
                self.core.on_finished(effect.task, None, now_ms)
            elif isinstance(effect, Note):
                self.notes.append(effect.text)
        self.core.end_turn(now_ms)

    def put(self, level: int, body: bytes, now_ms: int) -> None:
        new = NewMessage("T", QueueId(0), body, HOST, HOST, encode_properties({"DELAY": str(level)}))
        self.core.parts.intake.put(new, now_ms, lambda *_: None)
        self.drive(now_ms)

    def bodies(self) -> list[bytes]:
        found = []
        queue = self.core.store.queue("T", 0)
        for offset in range(queue.max_offset):
            unit = queue.read_unit(offset)
            stored = None if unit is None else self.core.store.query.by_position(unit.position)
            found.append(b"" if stored is None else stored.body)
        return found

    def verdicts(self, now_ms: int) -> dict[str, str]:
        end = Event("run", len(self.events), now_ms, "recorder", Kind.END_OF_RUN)
        return {one.rule: one.verdict.value for one in judge_history([*self.events, end])}


@pytest.mark.clause("broker.schedule.not-before-due")
def test_a_message_comes_at_its_millisecond_and_not_before() -> None:
    hand = Hand()
    hand.put(2, b"x", NOW)
    for now_ms in (NOW + 1_000, NOW + 4_999):
        hand.drive(now_ms)
        assert hand.bodies() == []
    assert hand.core.deadline_ms == NOW + 5_000
    hand.drive(NOW + 5_000)
    assert hand.bodies() == [b"x"]


@pytest.mark.clause("broker.schedule.impossible-due-counts")
def test_after_the_clock_was_set_back_a_level_does_not_wait_for_the_old_time() -> None:
    hand = Hand()
    hand.drive(NOW + 1_000)
    hand.put(3, b"old clock", NOW + 2_000)
    back_ms = NOW - 3_600_000
    # A turn at the new time is enough: the planned look is an hour ahead.
    hand.drive(back_ms)
    hand.drive(back_ms + 1)
    assert hand.bodies() == [b"old clock"]
    assert hand.verdicts(back_ms + 1)["DLY-1"] == "held"


def test_a_level_that_fails_rests_for_ten_seconds_and_then_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    hand = Hand()
    hand.drive(NOW + 1_000)
    hand.put(1, b"x", NOW + 2_000)
    hand.put(2, b"y", NOW + 2_000)
    query = hand.core.store.query
    by_position = query.by_position

    def fail(position: int, size: int | None = None) -> None:
        raise ZeroDivisionError(position, size)

    monkeypatch.setattr(query, "by_position", fail)
    hand.drive(NOW + 3_000)
    monkeypatch.setattr(query, "by_position", by_position)
    assert [note for note in hand.notes if note.startswith("delay level 1, offset 0: ZeroDivisionError")]
    hand.drive(NOW + 7_000)
    assert hand.bodies() == [b"y"]
    hand.drive(NOW + 12_999)
    assert hand.bodies() == [b"y"]
    hand.drive(NOW + 13_000)
    assert hand.bodies() == [b"y", b"x"]


def test_a_batch_ends_and_the_next_one_has_a_turn_of_its_own() -> None:
    hand = Hand()
    hand.drive(NOW + 1_000)
    for number in range(80):
        hand.put(1, b"%d" % number, NOW + 2_000)
    counts = []
    for now_ms in (NOW + 3_000, NOW + 3_001, NOW + 3_002, NOW + 3_003):
        hand.drive(now_ms)
        counts.append(len(hand.bodies()))
    assert counts == [32, 64, 80, 80]


def test_an_append_that_fails_is_tried_again_and_delivered_once() -> None:
    hand = Hand()
    hand.drive(NOW + 1_000)
    hand.put(1, b"x", NOW + 2_000)
    hand.disk.fail_writes(1)
    hand.drive(NOW + 3_000)
    assert hand.bodies() == []
    hand.drive(NOW + 3_100)
    hand.drive(NOW + 3_200)
    assert hand.bodies() == [b"x"]
    assert [event.outcome.value for event in hand.events if event.kind is Kind.DELIVER] == ["fail", "ok"]


@pytest.mark.clause("broker.schedule.cursor-repaired-on-load")
def test_a_cursor_outside_its_queue_is_moved_into_it_while_the_level_runs() -> None:
    hand = Hand()
    hand.drive(NOW + 1_000)
    hand.put(1, b"x", NOW + 2_000)
    hand.drive(NOW + 3_000)
    hand.core.schedule._levels[1].passage.jump(QueueOffset(9))
    hand.put(1, b"y", NOW + 4_000)
    hand.drive(NOW + 5_000)
    assert hand.bodies() == [b"x", b"y"]
    assert any("the cursor is moved from 9 to 1" in note for note in hand.notes)


@pytest.mark.clause("broker.schedule.saved-cursor", "broker.schedule.cursor-never-passes-undelivered")
def test_a_cursor_is_safe_only_when_the_log_is_on_disk() -> None:
    hand = Hand()
    hand.drive(NOW + 1_000)
    hand.put(1, b"x", NOW + 2_000)
    hand.drive(NOW + 3_000)
    schedule = hand.core.schedule
    assert (schedule.progress[1], schedule.table().offset_table[1]) == ((1, 1), 0)
    hand.core.store.flush(NOW + 3_000, is_forced=True)
    assert schedule.table().offset_table[1] == 1


@pytest.mark.clause("broker.schedule.cursor-never-passes-undelivered")
def test_a_store_that_is_closed_to_writing_is_not_tried() -> None:
    hand = Hand()
    hand.drive(NOW + 1_000)
    hand.put(1, b"x", NOW + 2_000)
    hand.core.store.log.is_unsure = True
    hand.core.on_time(NOW + 3_000)
    hand.core.on_time(NOW + 3_100)
    assert [event for event in hand.events if event.kind is Kind.DELIVER] == []
    hand.core.store.log.is_unsure = False
    hand.drive(NOW + 3_200)
    assert hand.bodies() == [b"x"]


def test_a_look_that_was_planned_twice_happens_once(monkeypatch: pytest.MonkeyPatch) -> None:
    hand = Hand()
    hand.put(2, b"x", NOW)
    hand.drive(NOW + 1_000)
    level = hand.core.schedule._levels[2]
    for step_ms in range(10):
        level.plan(NOW + 2_000 + step_ms)
        hand.drive(NOW + 2_000 + step_ms)
    looks: list[int] = []

    def look(now_ms: int) -> None:
        looks.append(now_ms)

    monkeypatch.setattr(level, "_deliver_due", look)
    hand.drive(NOW + 5_000)
    assert looks == [NOW + 5_000]
