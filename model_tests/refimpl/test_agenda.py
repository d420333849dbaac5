from refimpl.agenda import NEVER, Agenda


def test_actions_run_in_the_order_of_time_and_then_of_entry() -> None:
    agenda = Agenda()
    ran: list[tuple[str, int]] = []
    for name, time_ms in (("c", 5), ("a", 3), ("b", 3), ("late", 9)):
        agenda.at(time_ms, lambda now_ms, name=name: ran.append((name, now_ms)))  # type: ignore[misc] # bound early
    agenda.run_due(2)
    assert (ran, agenda.deadline_ms) == ([], 3)
    agenda.run_due(6)
    assert (ran, agenda.deadline_ms) == ([("a", 6), ("b", 6), ("c", 6)], 9)
    agenda.run_due(9)
    assert agenda.deadline_ms == NEVER


def test_what_is_done_from_time_to_time_goes_on_after_a_failure() -> None:
    agenda = Agenda()
    ran: list[int] = []

    def fail_once(now_ms: int) -> None:
        ran.append(now_ms)
        if len(ran) == 1:
            raise ValueError("once")

    agenda.every(10, 5, fail_once)
    try:
        agenda.run_due(10)
    except ValueError:
        ran.append(0)
    agenda.run_due(15)
    agenda.run_due(20)
    assert ran == [10, 0, 15, 20]


def test_a_clock_that_jumps_makes_a_periodic_action_run_once() -> None:
    agenda = Agenda()
    ran: list[int] = []
    agenda.every(10, 5, ran.append)
    agenda.run_due(1_000)
    assert (ran, agenda.deadline_ms) == ([1_000], 1_005)


def test_what_becomes_due_meanwhile_runs_in_the_same_call() -> None:
    agenda = Agenda()
    ran: list[str] = []

    def first(now_ms: int) -> None:
        ran.append("first")
        agenda.at(now_ms, lambda _: ran.append("second"))

    agenda.at(1, first)
    agenda.run_due(1)
    assert ran == ["first", "second"]
