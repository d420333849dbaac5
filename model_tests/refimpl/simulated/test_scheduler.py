"""One clock for everything."""

from functools import partial

from refimpl.agenda import NEVER
from refimpl.simulated.scheduler import Scheduler


def test_events_happen_in_the_order_of_time_and_then_of_entry() -> None:
    scheduler = Scheduler(100)
    happened: list[tuple[int, str]] = []

    def note(name: str, now_ms: int) -> None:
        happened.append((now_ms, name))

    scheduler.at(130, partial(note, "c"))
    scheduler.at(120, partial(note, "a"))
    scheduler.after(30, partial(note, "d"))
    scheduler.after(20, partial(note, "b"))
    scheduler.run_until(200)
    assert happened == [(120, "a"), (120, "b"), (130, "c"), (130, "d")]
    assert (scheduler.now_ms, scheduler.next_ms) == (200, NEVER)


def test_what_is_entered_for_the_past_happens_now() -> None:
    scheduler = Scheduler(100)
    times: list[int] = []
    scheduler.at(7, times.append)
    scheduler.run_until(100)
    assert times == [100]


def test_an_event_may_enter_another_for_the_same_moment() -> None:
    scheduler = Scheduler(0)
    times: list[int] = []
    scheduler.at(5, lambda _: scheduler.after(0, times.append))
    scheduler.run_until(5)
    assert times == [5]


def test_waiting_ends_with_what_is_waited_for_or_at_the_limit() -> None:
    scheduler = Scheduler(0)
    times: list[int] = []
    for time_ms in (10, 20, 30):
        scheduler.at(time_ms, times.append)
    assert scheduler.run_while(lambda: len(times) < 2, 100)
    assert (scheduler.now_ms, times) == (20, [10, 20])
    assert not scheduler.run_while(lambda: len(times) < 3, 29)
    assert (scheduler.now_ms, times) == (29, [10, 20])
    assert scheduler.run_while(lambda: len(times) < 3, 30)
    assert (scheduler.now_ms, times) == (30, [10, 20, 30])
