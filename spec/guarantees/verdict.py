"""What judging a history says: six verdicts, and witnesses as data.

"Held" is said only when the rule had something to judge and nothing spoke against it. A rule
that never came to bear is not exercised; one whose events the recorder could not see is not
observable; one whose assumptions the deployment does not keep is not applicable; one that hangs
on an answer nobody knows is unknown. None of these is a pass.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from spec.history.event import Event


class Verdict(Enum):
    """The outcome of one rule over one run."""

    HELD = "held"
    VIOLATED = "violated"
    UNKNOWN = "unknown"
    NOT_EXERCISED = "not exercised"
    NOT_OBSERVABLE = "not observable"
    NOT_APPLICABLE = "not applicable"


@dataclass(frozen=True, slots=True)
class Witness:
    """Why a rule is violated: a sentence, and the few events that show it."""

    rule: str
    summary: str
    events: tuple[Event, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one rule has to say about one run."""

    run: str
    rule: str
    verdict: Verdict
    exercised: int
    """How many times the rule came to bear."""
    violations: int
    """How many there were; only the first few keep their witness."""
    witnesses: tuple[Witness, ...]
    explained: Mapping[str, int]
    """Legal surprises by cause: a decrease after a reset, a duplicate after a hand-over."""
    reason: str
    """Why the rule was not judged, or is unknown; empty otherwise."""
