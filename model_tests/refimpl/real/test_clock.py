"""The clock that cores are told: it never goes back, and never stands still."""

from itertools import pairwise

from refimpl.real.clock import Clock

MS = 1_000_000


class _Times:
    def __init__(self) -> None:
        self.wall = 1_000_000 * MS
        self.steady = 5 * MS

    def pass_ms(self, steady_ms: int, wall_ms: int | None = None) -> None:
        self.steady += steady_ms * MS
        self.wall += (steady_ms if wall_ms is None else wall_ms) * MS


def test_a_clock_follows_the_wall_clock_also_when_that_leaps_ahead() -> None:
    times = _Times()
    clock = Clock(lambda: times.wall, lambda: times.steady)
    assert clock.now_ms() == 1_000_000
    times.pass_ms(10)
    assert clock.now_ms() == 1_000_010
    times.pass_ms(10, 3_600_000)
    assert clock.now_ms() == 4_600_010


def test_a_clock_goes_on_slowly_until_a_wall_clock_that_went_back_has_caught_up() -> None:
    times = _Times()
    clock = Clock(lambda: times.wall, lambda: times.steady)
    clock.now_ms()
    times.pass_ms(0, -1_000)
    seen = [clock.now_ms()]
    for _ in range(30):
        times.pass_ms(100)
        seen.append(clock.now_ms())
    assert all(before <= after for before, after in pairwise(seen))
    assert seen[:3] == [1_000_000, 1_000_050, 1_000_100]
    # After two seconds at half speed, it is one second later on both clocks.
    assert seen[20] == 1_001_000
    assert seen[-1] == times.wall // MS


def test_a_clock_that_is_asked_often_loses_nothing_while_it_waits() -> None:
    times = _Times()
    clock = Clock(lambda: times.wall, lambda: times.steady)
    times.wall -= 10_000 * MS
    for _ in range(1_000):
        times.steady += MS // 10
        clock.now_ms()
    assert clock.now_ms() == 1_000_050
