"""What folds know after given events, on their own."""

from hypothesis import given
from hypothesis import strategies as st

from spec.guarantees.fold.commit import Commits
from spec.guarantees.fold.custody import Custody, passed_over
from spec.guarantees.fold.disposal import Disposal
from spec.guarantees.fold.offset_set import OffsetSet
from spec.guarantees.fold.settling import Settling
from spec.guarantees.fold.tenure import Tenures
from spec.guarantees.fold.view import Views
from spec.guarantees.judge import Judge
from spec.guarantees.monitor import Fold, Folds, FoldType, Terms
from spec.history.declaration import Constants
from spec.history.kind import Kind
from spec.history.notation import parse_history

TERMS = Terms(Constants(), frozenset(), frozenset(), "sync", frozenset(Kind))


def fold_over(fold_type: type[FoldType], text: str, terms: Terms = TERMS) -> FoldType:
    folds = Folds(terms)
    wanted = folds.get(fold_type)
    for event in parse_history(text):
        for fold in folds.made.values():
            handler = fold.handlers().get(event.kind)
            if handler is not None:
                handler(event)
    return wanted


# Sets of offsets.

RANGES = st.lists(st.tuples(st.integers(0, 40), st.integers(0, 8)), max_size=12)


@given(RANGES)
def test_offset_set_equals_a_plain_set(ranges: list[tuple[int, int]]) -> None:
    offsets, plain = OffsetSet(), set[int]()
    for start, length in ranges:
        offsets.add_range(start, start + length)
        offsets.add(start + 50)
        plain |= {*range(start, start + length), start + 50}
    assert {n for n in range(100) if n in offsets} == plain
    assert {n for start, end in offsets.intervals() for n in range(start, end)} == plain
    assert bool(offsets) == bool(plain)
    for start in range(60):
        assert offsets.lowest_missing(start) == next(n for n in range(start, 200) if n not in plain)


@given(RANGES, st.integers(0, 60))
def test_cut_takes_everything_from_its_end_on(ranges: list[tuple[int, int]], end: int) -> None:
    offsets, plain = OffsetSet(), set[int]()
    for start, length in ranges:
        offsets.add_range(start, start + length)
        plain |= set(range(start, start + length))
    offsets.cut(end)
    assert {n for n in range(100) if n in offsets} == {n for n in plain if n < end}


@given(RANGES, st.integers(1, 4))
def test_coarser_set_keeps_everything_in_few_intervals(ranges: list[tuple[int, int]], limit: int) -> None:
    offsets, plain = OffsetSet(), set[int]()
    for start, length in ranges:
        offsets.add_range(start, start + length)
        plain |= set(range(start, start + length))
    before = offsets.intervals()
    offsets.coarsen(limit)
    assert all(n in offsets for n in plain)
    assert len(offsets.intervals()) == min(limit, len(before))
    assert offsets.intervals()[1:] == before[len(before) - len(offsets.intervals()) + 1 :]


# Tenures and views.


def test_tenures_end_by_disown_by_a_stop_and_by_a_new_start() -> None:
    tenures = fold_over(
        Tenures,
        """
        0s a own g T@x:0 tenure=1 offset=0 mode=concurrent
        0s a own g T@x:1 tenure=1 offset=0 mode=concurrent
        0s b own g T@x:2 tenure=1 offset=0 mode=concurrent
        1s a disown g T@x:0 tenure=1 cause=rebalance
        2s a down status=crash
        3s b up status=client
        """,
    )
    ends = {key[2][2]: tenure.disown.kind for key, tenure in tenures.latest.items() if tenure.disown}
    assert ends == {0: "disown", 1: "down", 2: "up"}
    assert [holders for holders in tenures.live.values() if holders] == []


def test_late_disown_of_an_older_tenure_changes_nothing() -> None:
    tenures = fold_over(
        Tenures,
        """
        0s a own g T@x:0 tenure=1 offset=0 mode=concurrent
        1s a own g T@x:0 tenure=2 offset=0 mode=concurrent
        2s a disown g T@x:0 tenure=1 cause=rebalance
        """,
    )
    (tenure,) = tenures.latest.values()
    assert (tenure.own.tenure, tenure.is_live) == (2, True)


def test_view_of_a_stopped_node_is_forgotten() -> None:
    text = """
    0s a view g topic=T members=b,a queues=x:1,x:0 strategy=AVG assigned=x:0
    0s b view g topic=T members=a,b queues=x:0,x:1 strategy=AVG assigned=x:1
    1s b down status=crash
    """
    views = fold_over(Views, text)
    assert [(key[0], inputs) for key, (_, inputs) in views.latest.items()] == [
        ("a", (("a", "b"), ("x:0", "x:1"), "AVG"))
    ]


# Custody.


def test_frontier_is_the_lowest_in_custody_or_the_cursor() -> None:
    begin = """
    0s a own g T@x:0 tenure=1 offset=5 mode=concurrent
    1s a pulled g T@x:0 tenure=1 offset=5 next=9 request=1 status=found offsets=6,8
    """
    first = "2s a end g T@x:0 tenure=1 offset=8 message=m attempt=0 request=1 status=success\n"
    second = (
        "3s a back g T@x:0 tenure=1 offset=6 message=m attempt=1 level=3 status=retry cause=c outcome={}\n"
    )
    frontiers = [
        next(iter(fold_over(Custody, begin + rest).held.values())).frontier
        for rest in ("", first, first + second.format("unknown"), first + second.format("ok"))
    ]
    assert frontiers == [6, 6, 6, 9]


def test_what_an_answer_passed_over_is_its_range_without_what_it_admitted() -> None:
    _, pulled = parse_history(
        "0s a pulled g T@x:0 tenure=1 offset=3 next=12 request=1 status=found offsets=4,5,9"
    )
    assert list(passed_over(pulled)) == [(3, 4), (6, 9), (10, 12)]
    assert list(passed_over(pulled._replace(status="error"))) == []
    assert list(passed_over(pulled._replace(next=1, offsets=(), status="moved"))) == []


def test_event_of_an_older_or_unseen_tenure_has_no_current_one() -> None:
    text = "0s a own g T@x:0 tenure=2 offset=5 mode=concurrent\n1s a local g T@x:0 tenure={} offset=5"
    found = {number: fold_over(Custody, text.format(number)) for number in (1, 2, 3)}
    assert {number: fold.current is not None for number, fold in found.items()} == {
        1: False,
        2: True,
        3: False,
    }
    assert all(fold.latest is not None for fold in found.values())


# Commits.


def test_restart_explains_only_values_not_older_than_the_flush() -> None:
    text = """
    0s x commit g T@x:0 offset=10 cause=update
    8s x commit g T@x:0 offset=20 cause=update
    12s x commit g T@x:0 offset=30 cause=update
    14s x down status=crash
    15s x up status=broker
    """
    commits = fold_over(Commits, text)
    committed = commits.table["g", "T", "x", 0]
    later = committed.latest._replace(sequence=99, time_ms=16_000)
    answers = {
        value: commits.is_after_restart(committed, committed.latest, later._replace(offset=value))
        for value in (9, 19, 20, 25)
    }
    assert answers == {9: False, 19: False, 20: True, 25: True}
    slave = later._replace(node="xs", offset=10)
    assert commits.is_after_restart(committed, committed.latest, slave)
    assert not commits.is_after_restart(committed, later, later._replace(sequence=100, offset=20))


def test_copy_at_a_slave_is_not_a_new_value() -> None:
    commits = fold_over(
        Commits,
        """
        0s x commit g T@x:0 offset=10 cause=update
        1s xs commit g T@x:0 offset=5 cause=replication replica=1
        """,
    )
    assert commits.table["g", "T", "x", 0].latest.offset == 10


def test_deletion_forgets_the_commits_of_its_group_only() -> None:
    commits = fold_over(
        Commits,
        """
        0s x commit g T@x:0 offset=10 cause=update
        0s x commit h T@x:0 offset=10 cause=update
        1s x delete g status=group
        """,
    )
    assert list(commits.table) == [("h", "T", "x", 0)]


def test_memory_of_commits_is_bounded() -> None:
    text = "\n".join(f"{n}s x commit g T@x:0 offset={n} cause=update" for n in range(200))
    assert len(fold_over(Commits, text).table["g", "T", "x", 0].lately) < 25


# Disposal.


def derive_base(text: str) -> int | None:
    return fold_over(Disposal, text).ledgers["g", "T", "x", 0].base


def test_base_is_the_first_start_the_last_reset_or_a_later_decision() -> None:
    own = "0s a own g T@x:0 tenure=1 offset=5 mode=concurrent\n"
    none = "1s b queried g T@x:0 tenure=1 status=none\n1s b initial g T@x:0 tenure=1 offset=9 cause=last\n"
    error = none.replace("none", "error")
    commit = "0s x commit g T@x:0 offset=5 cause=update client=a tenure=1\n"
    reset = "2s x reset g T@x:0 offset=2 status=begun\n3s x reset g T@x:0 offset=2 status=done\n"
    delete = "4s x delete g status=group\n"
    assert derive_base(own) == 5
    assert derive_base(own + none) == 9
    assert derive_base(own + error) == 5
    assert derive_base(own + commit + none) == 5
    assert derive_base(commit + own.replace("offset=5", "offset=8")) == 5
    assert derive_base(own + reset) == 2
    assert derive_base(own + reset + delete) is None


def test_commit_of_an_unseen_tenure_lifts_the_base() -> None:
    own = "0s a own g T@x:0 tenure=1 offset=5 mode=concurrent\n"
    disposal = fold_over(Disposal, own + "1s x commit g T@x:0 offset=9 cause=update client=b tenure=3")
    assert (disposal.ledgers["g", "T", "x", 0].base, disposal.passed, disposal.is_judged) == (9, None, False)
    disposal = fold_over(Disposal, own + "9s x commit g T@x:0 offset=9 cause=update client=a tenure=1")
    assert (disposal.passed, disposal.is_judged) == (5, True)


# Settling.


def test_each_change_has_its_own_time() -> None:
    def settled_by(text: str) -> int:
        folds = Folds(TERMS)
        settling = folds.get(Settling)
        for event in parse_history(text)[1:]:
            for fold in folds.made.values():
                handler = fold.handlers().get(event.kind)
                if handler is not None:
                    handler(event)
        return settling.settled_by_ms

    slack = 20_000 + 3_000 + 1_000
    assert settled_by("5s x join g client=a broker=x") == 5_000 + 20_000 + slack
    assert settled_by("5s a down status=crash") == 5_000 + 180_000 + slack
    register = "x register broker=x address=h replica=0 version=1\n"
    assert settled_by("5s " + register) == 5_000 + 80_000 + slack
    assert settled_by("5s " + register + "9s " + register) == 5_000 + 80_000 + slack


def test_every_fold_that_the_judge_makes_is_a_fold() -> None:
    judge = Judge(parse_history("")[0])
    assert all(isinstance(fold, Fold) for fold in judge.folds.made.values())
