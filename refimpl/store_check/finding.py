"""What a check of a store has to say: where, how bad, by which clause.

An error is something that no stop, clean or not, leaves behind. A warning is something that a
broker lives with and somebody should know. A note is what recovery puts right by itself, or what
could not be judged. Sentences are for people and say what was found; the rest is for programs.
"""

from collections import Counter
from enum import Enum
from typing import Final, NamedTuple

KEPT_LIMIT: Final = 10_000
"""A decision: a store of which every record is bad must not fill the memory with sentences."""


class Severity(Enum):
    """How bad it is."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


class Finding(NamedTuple):
    """One thing that was found."""

    severity: Severity
    file: str
    """The path below the store's directory."""
    position: int
    """The byte in the file."""
    clause: str
    sentence: str


class Findings:
    """Everything that was found, in the order in which it was found."""

    def __init__(self, limit: int = KEPT_LIMIT) -> None:
        """Keep at most `limit` findings and count the others."""
        self._limit = limit
        self.kept: list[Finding] = []
        self.counts: Counter[Severity] = Counter()

    def add(self, severity: Severity, file: str, position: int, clause: str, sentence: str) -> None:
        """The finding is counted, and kept while there is room."""
        self.counts[severity] += 1
        if len(self.kept) < self._limit:
            self.kept.append(Finding(severity, file, position, clause, sentence))

    @property
    def left_out(self) -> int:
        """How many findings are counted and not kept."""
        return self.counts.total() - len(self.kept)

    @property
    def has_error(self) -> bool:
        """Whether anything is wrong that must not be."""
        return self.counts[Severity.ERROR] > 0
