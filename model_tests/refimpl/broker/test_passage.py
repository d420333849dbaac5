from collections.abc import Callable

from refimpl.broker.passage import Passage
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.commit_log import CommitLog
from refimpl.store.open_files import OpenFiles
from spec.values.units import CommitLogPosition, QueueOffset


def make_log() -> CommitLog:
    return CommitLog(OpenFiles(SimulatedDisk(1, clock=lambda: 0)), 1024)


def step_on(cursor: QueueOffset, why: str) -> QueueOffset:
    return QueueOffset(cursor + (why == "done"))


def make_passage(
    log: CommitLog | None = None, advance: Callable[[QueueOffset, str], QueueOffset] = step_on
) -> Passage[str]:
    return Passage(log or make_log(), QueueOffset(5), advance)


def test_the_cursor_passes_what_landed_in_the_order_of_the_queue() -> None:
    passage = make_passage()
    first, second, third = (passage.depart("done") for _ in range(3))
    assert [flight.offset for flight in (first, second, third)] == [5, 6, 7]
    passage.land(second)
    assert (passage.cursor, passage.next_offset, passage.count) == (5, 8, 3)
    passage.land(first)
    assert (passage.cursor, passage.next_offset, passage.count) == (7, 8, 1)
    passage.land(third)
    assert (passage.cursor, passage.next_offset, passage.count) == (8, 8, 0)


def test_the_safe_place_waits_until_the_log_is_on_disk() -> None:
    log = make_log()
    passage = make_passage(log)
    for end in (100, 200, 0):
        passage.land(passage.depart("done"), end)
    assert (passage.cursor, passage.safe) == (8, 5)
    log.flushed = CommitLogPosition(150)
    assert passage.safe == 6
    log.flushed = CommitLogPosition(200)
    assert passage.safe == 8


def test_what_is_rewound_is_under_way_no_more_and_lands_nowhere() -> None:
    passage = make_passage()
    first, second = passage.depart("done"), passage.depart("done")
    passage.rewind(6)
    assert (passage.next_offset, passage.count) == (6, 1)
    passage.land(second)
    assert passage.cursor == 5
    passage.land(first)
    assert passage.cursor == 6


def test_the_rule_decides_whether_a_landing_moves_the_cursor() -> None:
    passage = make_passage()
    passage.land(passage.depart("not yet"))
    assert (passage.cursor, passage.next_offset) == (5, 5)


def test_a_jump_forgets_what_was_under_way() -> None:
    passage = make_passage()
    old = passage.depart("done")
    passage.jump(QueueOffset(2))
    passage.land(old)
    assert (passage.cursor, passage.safe, passage.next_offset, passage.count) == (2, 2, 2, 0)
