"""What a broker that was killed before it could record its last appends tells in its next life."""

from random import Random

import pytest

from model_tests.refimpl.broker.broker_world import NODE, SEEN, BrokerWorld
from refimpl.broker.broker import Broker
from refimpl.history_log import HistoryLog, LogMark
from spec.guarantees.judge import judge_history
from spec.guarantees.verdict import Verdict
from spec.history.declaration import Declaration
from spec.history.event import Event
from spec.history.kind import Kind
from spec.values.message import Message


def kill_and_start(world: BrokerWorld, mark: LogMark | None) -> list[Event]:
    """What the next life of the broker records; the disk has everything."""
    events: list[Event] = []
    log = HistoryLog(
        "run", Declaration(SEEN), events.append, world.world.now_ms, next_number=10_000, log_mark=mark
    )
    world.world.machines[NODE].crash()
    world.disk.unlock("lock")  # A process that is killed holds no lock, and takes nothing from the disk.
    broker = Broker(world.settings, world.disk, Random(1), world.world.now_ms, history=log)
    broker.start(world.world.now_ms)
    broker.shut(world.world.now_ms)
    return events


def filled() -> tuple[BrokerWorld, list[Event]]:
    world = BrokerWorld()
    client = world.connect()
    for number in range(4):
        client.send(Message("T", b"x" * 400_000, 0, {"UNIQ_KEY": f"U{number}", "TAGS": "A"}), 0)
    return world, world.kinds(Kind.APPEND)


def test_what_was_stored_and_not_recorded_is_recorded_before_the_recovery() -> None:
    world, appends = filled()
    events = kill_and_start(world, LogMark(appends[1].position, is_append=True))
    found = [event for event in events if event.kind in (Kind.APPEND, Kind.RECOVER)]
    assert [event.kind for event in found] == [Kind.APPEND, Kind.APPEND, Kind.RECOVER]
    assert list(map(timeless, found[:2])) == list(map(timeless, appends[2:]))


def timeless(event: Event) -> Event:
    return event._replace(sequence=0, time_ms=0)


def test_the_guarantees_hold_although_the_kill_came_before_the_record() -> None:
    world, appends = filled()
    recorded = [
        event
        for event in world.events
        if event.kind is not Kind.APPEND or event.position <= appends[1].position
    ]
    recorded = [event for event in recorded if event.kind is not Kind.DISPATCH or event.offset < 2]
    verdicts = {}
    for name, mark in (("told", LogMark(appends[1].position, is_append=True)), ("not told", None)):
        later = kill_and_start(world, mark)
        history = [
            *recorded,
            Event("run", 9_999, world.world.now_ms, NODE, Kind.DOWN, status="crash"),
            *later,
        ]
        judged = {one.rule: one.verdict for one in judge_history(history)}
        verdicts[name] = judged["STO-2"]
        world.world.machines[NODE].start(world._make)
    assert verdicts == {"told": Verdict.HELD, "not told": Verdict.VIOLATED}


@pytest.mark.parametrize("is_append", [True, False])
def test_at_the_end_of_a_recovered_log_the_next_message_is_not_recorded_yet(*, is_append: bool) -> None:
    world, appends = filled()
    events = kill_and_start(world, LogMark(appends[3].position, is_append=is_append))
    told = [event.message for event in events if event.kind is Kind.APPEND]
    assert told == ([] if is_append else ["U3"])


def test_a_history_that_begins_with_an_old_store_does_not_tell_the_past() -> None:
    world, _ = filled()
    assert [event for event in kill_and_start(world, None) if event.kind is Kind.APPEND] == []
