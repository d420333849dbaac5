"""The shape of every guarantee.

A rule is what is promised: its id in the book, its clause, the kinds of event it needs and the
standing assumptions it rests on. A monitor folds the events of one run and reports each breach
with the few events that show it. Monitors keep bounded state per queue, never look ahead and
never look back further than that state; the same code runs online in the simulator, over a
file, and as the oracle of the Spark checks.

The standing assumptions: A1 client ids in a group are unique; A2 all members use one allocation
strategy with the same parameters; A3 all members have the same subscriptions; A4 clock rates
agree; A5 the broker keeps what it acknowledged, and retention does not overtake the group.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, TypeVar

from spec.dialects.hole import Hole
from spec.guarantees.verdict import Judgement, Verdict, Witness
from spec.history.declaration import Constants
from spec.history.event import Event
from spec.history.kind import Kind

Handler = Callable[[Event], None]

WITNESS_LIMIT: Final = 20
"""How many witnesses a monitor keeps; it goes on counting."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A promise that histories are judged by."""

    id: str
    clause: str
    needs: frozenset[Kind]
    assumes: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run is judged under: intervals in force, assumptions kept, holes admitted."""

    constants: Constants
    assumes: frozenset[str]
    holes: frozenset[Hole]
    durability: str
    observes: frozenset[Kind] = frozenset()
    """What the recorder sees, for the parts of a rule that only some recorders allow to judge."""


class Fold(ABC):
    """Knowledge about a run so far that several monitors share; it steps before they do."""

    def __init__(self, terms: Terms, folds: "Folds") -> None:
        self.terms = terms
        self.folds = folds

    @abstractmethod
    def handlers(self) -> Mapping[Kind, Handler]:
        """Which kinds the fold takes, and by which method."""


FoldType = TypeVar("FoldType", bound=Fold)


class Folds:
    """The folds of one run, made when first asked for."""

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.made: dict[type[Fold], Fold] = {}

    def get(self, fold_type: type[FoldType]) -> FoldType:
        """The run's only fold of this type. A fold that needs another one asks for it first."""
        fold = self.made.get(fold_type)
        if fold is None:
            fold = fold_type(self.terms, self)
            self.made[fold_type] = fold
        if not isinstance(fold, fold_type):
            raise TypeError(f"{fold_type.__name__} is kept under a wrong name")
        return fold


class Monitor(ABC):
    """Judges one rule over one run."""

    rule: ClassVar[Rule]

    def __init__(self, terms: Terms, folds: Folds) -> None:
        self.terms = terms
        self.folds = folds
        self.exercised = 0
        self.violations = 0
        self.witnesses: list[Witness] = []
        self.explained: Counter[str] = Counter()
        self.doubt = ""
        """What cannot be decided; makes the verdict unknown unless something is violated."""

    @abstractmethod
    def handlers(self) -> Mapping[Kind, Handler]:
        """Which kinds the monitor takes, and by which method."""

    def finish(self, now_ms: int) -> None:  # noqa: B027 - most rules have nothing left to say
        """The run is over at `now_ms`: whatever was due by then is overdue."""

    def report(self, summary: str, *events: Event) -> None:
        """The rule is violated, and these events show it."""
        self.violations += 1
        if len(self.witnesses) < WITNESS_LIMIT:
            self.witnesses.append(Witness(self.rule.id, summary, events))

    def explain(self, cause: str) -> None:
        """Something that looks like a breach is legal for this reason."""
        self.explained[cause] += 1

    def judge(self, run: str) -> Judgement:
        """The verdict so far."""
        if self.violations:
            verdict = Verdict.VIOLATED
        elif self.doubt:
            verdict = Verdict.UNKNOWN
        elif self.exercised:
            verdict = Verdict.HELD
        else:
            verdict = Verdict.NOT_EXERCISED
        return Judgement(
            run=run,
            rule=self.rule.id,
            verdict=verdict,
            exercised=self.exercised,
            violations=self.violations,
            witnesses=tuple(self.witnesses),
            explained=dict(self.explained),
            reason=self.doubt if verdict is Verdict.UNKNOWN else "",
        )
