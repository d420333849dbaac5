"""Judging: events in, one judgement a rule out.

A Judge takes the events of one run, online or from a file. The first event declares what was
recorded; rules that need more than that are never started, and say so. Folds step before the
monitors that rely on them.
"""

from collections.abc import Iterable, Sequence

from spec.dialects.dialect import DIALECTS
from spec.guarantees.catalogue import MONITORS
from spec.guarantees.monitor import Folds, Handler, Monitor, Rule, Terms
from spec.guarantees.verdict import Judgement, Verdict
from spec.history.declaration import Declaration, decode_declaration
from spec.history.event import Event
from spec.history.kind import Kind
from spec.rejection import Rejection


def _derive_terms(declaration: Declaration) -> Terms:
    dialect = DIALECTS.get(declaration.dialect)
    if dialect is None:
        known = ", ".join(DIALECTS)
        raise Rejection(
            "history.run.declares-terms", 0, f"unknown dialect {declaration.dialect!r}; known are {known}"
        )
    return Terms(
        declaration.constants,
        declaration.assumes,
        dialect.holes,
        declaration.durability,
        declaration.observes,
    )


def _excuse(rule: Rule, declaration: Declaration) -> tuple[Verdict, str] | None:
    difference = DIALECTS[declaration.dialect].differs.get(rule.clause)
    if difference is not None:
        return Verdict.NOT_APPLICABLE, f"{declaration.dialect} promises less: {difference}"
    unseen = rule.needs - declaration.observes
    if unseen:
        return Verdict.NOT_OBSERVABLE, f"the recorder does not see {', '.join(sorted(unseen))}"
    unkept = rule.assumes - declaration.assumes
    if unkept:
        return Verdict.NOT_APPLICABLE, f"the deployment does not keep {', '.join(sorted(unkept))}"
    return None


class Judge:
    """Judges one run, event by event."""

    def __init__(self, begin: Event, monitors: Sequence[type[Monitor]] = MONITORS) -> None:
        declaration = decode_declaration(begin.detail)
        terms = _derive_terms(declaration)
        self.run = begin.run
        self.folds = Folds(terms)
        self.now_ms = begin.time_ms
        self._excused: list[Judgement] = []
        self._monitors: list[Monitor] = []
        for monitor in monitors:
            excuse = _excuse(monitor.rule, declaration)
            if excuse is None:
                self._monitors.append(monitor(terms, self.folds))
            else:
                self._excused.append(Judgement(self.run, monitor.rule.id, excuse[0], 0, 0, (), {}, excuse[1]))
        self._order = {monitor.rule.id: position for position, monitor in enumerate(monitors)}
        self._dispatch = self._derive_dispatch()
        self.step(begin)

    def _derive_dispatch(self) -> dict[Kind, tuple[Handler, ...]]:
        tables = [
            *(fold.handlers() for fold in self.folds.made.values()),
            *(m.handlers() for m in self._monitors),
        ]
        return {kind: tuple(table[kind] for table in tables if kind in table) for kind in Kind}

    def step(self, event: Event) -> None:
        """Take the next event of the run."""
        self.now_ms = event.time_ms
        for handle in self._dispatch[event.kind]:
            handle(event)

    @property
    def violated(self) -> bool:
        """Whether some rule has been violated so far: an online run may stop here."""
        return any(monitor.violations for monitor in self._monitors)

    def finish(self) -> list[Judgement]:
        """The run is over; one judgement a rule, in the order of the catalogue."""
        surely_ms = self.now_ms - self.folds.terms.constants.clock_skew_ms
        for monitor in self._monitors:
            monitor.finish(surely_ms)
        judgements = [*self._excused, *(monitor.judge(self.run) for monitor in self._monitors)]
        return sorted(judgements, key=lambda judgement: self._order[judgement.rule])


def judge_history(events: Iterable[Event], monitors: Sequence[type[Monitor]] = MONITORS) -> list[Judgement]:
    """The judgements of every run in the history, runs in the order in which they begin."""
    judges: dict[str, Judge] = {}
    for event in events:
        judge = judges.get(event.run)
        if judge is not None:
            judge.step(event)
        elif event.kind is Kind.BEGIN:
            judges[event.run] = Judge(event, monitors)
        else:
            raise Rejection(
                "history.run.begins-once",
                event.sequence,
                f"run {event.run!r} has no begin event before this one",
            )
    return [judgement for judge in judges.values() for judgement in judge.finish()]
