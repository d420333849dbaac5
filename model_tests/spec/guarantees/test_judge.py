"""Every verdict can be reached, runs do not mix, and a violation shows at once."""

from collections.abc import Mapping
from typing import ClassVar

import pytest

from spec.guarantees.judge import Judge, judge_history
from spec.guarantees.monitor import WITNESS_LIMIT, Folds, Handler, Monitor, Rule, Terms
from spec.guarantees.ownership import Partition
from spec.guarantees.verdict import Judgement, Verdict, Witness
from spec.history.event import Event
from spec.history.kind import Kind
from spec.history.notation import parse_history
from spec.override import override
from spec.rejection import Rejection


class NoBadCodec(Monitor):
    """A rule for these tests: a decoding is ok, fails, fails with an excuse, or is not known."""

    rule: ClassVar = Rule("TST-1", "guarantee.own.partition", frozenset({Kind.CODEC}), frozenset({"A1"}))

    def __init__(self, terms: Terms, folds: Folds) -> None:
        super().__init__(terms, folds)
        self.finished_at_ms = -1
        self.begins = 0

    @override
    def handlers(self) -> Mapping[Kind, Handler]:
        return {Kind.CODEC: self.on_codec, Kind.BEGIN: self.on_begin}

    @override
    def finish(self, now_ms: int) -> None:
        self.finished_at_ms = now_ms

    def on_begin(self, _: Event) -> None:
        self.begins += 1

    def on_codec(self, event: Event) -> None:
        if event.outcome == "unknown":
            self.doubt = "an outcome is not known"
            return
        self.exercised += 1
        if event.outcome == "fail" and event.cause == "excused":
            self.explain("excused")
        elif event.outcome == "fail":
            self.report(f"{event.cause} failed", event)


MONITORS = (NoBadCodec, Partition)


def judge(text: str) -> Judgement:
    first, *_ = judge_history(parse_history(text), MONITORS)
    return first


@pytest.mark.clause(
    "history.verdict.unseen-is-not-held",
    "history.verdict.vacuous-is-not-held",
    "history.verdict.assumptions-bind",
)
@pytest.mark.parametrize(
    ("text", "verdict"),
    [
        ("declare observes=view\n0s n codec cause=a outcome=ok", Verdict.NOT_OBSERVABLE),
        ("declare assumes=A2\n0s n codec cause=a outcome=fail", Verdict.NOT_APPLICABLE),
        ("0s n codec cause=a outcome=ok\n1s n codec cause=a outcome=unknown", Verdict.UNKNOWN),
        ("0s n heal cause=a", Verdict.NOT_EXERCISED),
        ("0s n codec cause=a outcome=ok", Verdict.HELD),
        ("0s n codec cause=excused outcome=fail", Verdict.HELD),
        ("0s n codec cause=a outcome=fail", Verdict.VIOLATED),
        ("0s n codec cause=a outcome=unknown\n1s n codec cause=a outcome=fail", Verdict.VIOLATED),
    ],
)
def test_each_verdict_is_reached(text: str, verdict: Verdict) -> None:
    assert judge(text).verdict is verdict


def test_judgement_that_was_not_made_says_why() -> None:
    unseen = judge("declare observes=view\n0s a view g topic=T members=a queues= strategy=AVG assigned=")
    assert unseen == Judgement(
        "example", "TST-1", Verdict.NOT_OBSERVABLE, 0, 0, (), {}, "the recorder does not see codec"
    )
    unkept = judge("declare assumes=\n0s n codec cause=a outcome=fail")
    assert unkept == Judgement(
        "example", "TST-1", Verdict.NOT_APPLICABLE, 0, 0, (), {}, "the deployment does not keep A1"
    )
    unknown = judge("0s n codec cause=a outcome=unknown")
    assert (unknown.verdict, unknown.reason) == (Verdict.UNKNOWN, "an outcome is not known")


def test_violation_carries_its_witness_and_counts_what_was_explained() -> None:
    events = parse_history("0s n codec cause=excused outcome=fail\n1s n codec cause=bad outcome=fail")
    judgement, _ = judge_history(events, MONITORS)
    witness = Witness("TST-1", "bad failed", (events[2],))
    assert judgement == Judgement("example", "TST-1", Verdict.VIOLATED, 2, 1, (witness,), {"excused": 1}, "")


def test_witnesses_are_bounded_and_violations_are_counted() -> None:
    judgement = judge("\n".join(f"{n}s n codec cause=bad outcome=fail" for n in range(WITNESS_LIMIT + 5)))
    assert (judgement.violations, len(judgement.witnesses)) == (WITNESS_LIMIT + 5, WITNESS_LIMIT)


def test_interleaved_runs_are_judged_each_for_itself() -> None:
    one = parse_history("0s n codec cause=bad outcome=fail", run="one")
    two = parse_history("0s n codec cause=fine outcome=ok", run="two")
    mixed = [one[0], two[0], two[1], one[1]]
    judgements = judge_history(mixed, MONITORS)
    assert [(j.run, j.rule, j.verdict) for j in judgements] == [
        ("one", "TST-1", Verdict.VIOLATED),
        ("one", "OWN-1", Verdict.NOT_EXERCISED),
        ("two", "TST-1", Verdict.HELD),
        ("two", "OWN-1", Verdict.NOT_EXERCISED),
    ]


def test_violation_shows_while_the_run_goes_on() -> None:
    begin, fine, bad, more = parse_history(
        "0s n codec cause=a outcome=ok\n1s n codec cause=a outcome=fail\n2s n codec cause=a outcome=ok"
    )
    judge = Judge(begin, MONITORS)
    shown = []
    for event in (fine, bad, more):
        judge.step(event)
        shown.append(judge.violated)
    assert shown == [False, True, True]


def test_monitor_sees_the_beginning_and_the_end_of_its_run() -> None:
    begin, codec = parse_history("7s n codec cause=a outcome=ok")
    judge = Judge(begin, MONITORS)
    judge.step(codec)
    judge.finish()
    monitor = next(monitor for monitor in judge._monitors if isinstance(monitor, NoBadCodec))
    assert (monitor.begins, monitor.finished_at_ms) == (1, 7_000)


@pytest.mark.clause("history.run.begins-once")
def test_run_without_a_beginning_is_refused() -> None:
    with pytest.raises(Rejection) as refused:
        judge_history(parse_history("0s n codec cause=a outcome=ok")[1:], MONITORS)
    assert refused.value.clause == "history.run.begins-once"


@pytest.mark.clause("history.run.declares-terms")
def test_unknown_dialect_is_refused() -> None:
    with pytest.raises(Rejection) as refused:
        judge_history(parse_history("declare dialect=klingon\n0s n codec cause=a outcome=ok"), MONITORS)
    assert refused.value.clause == "history.run.declares-terms"


def test_folds_are_shared_and_made_once() -> None:
    begin = parse_history("")[0]
    judge = Judge(begin)
    folds = judge.folds
    assert all(folds.get(kind) is fold for kind, fold in folds.made.items())
