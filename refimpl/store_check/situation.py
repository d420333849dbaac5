"""What all parts of a check share: the files, the findings, and how the store was stopped.

What a crash may leave behind and recovery puts right is an error only in a store that claims a
clean stop. What lies in a part of the log that cannot be read is nobody's fault twice: whoever
points there is not blamed.
"""

from refimpl.store_check.finding import Findings, Severity
from refimpl.store_check.source import Source


class Situation:
    """The stop, and the spans of the log that cannot be read."""

    def __init__(self, source: Source, findings: Findings, *, is_clean_stop: bool) -> None:
        """Nothing of the log is lost yet."""
        self.source = source
        self.findings = findings
        self.is_clean_stop = is_clean_stop
        self.log_min = 0
        self.walk_start = 0
        """From where recovery reads the log again after a crash."""
        self.has_extension = False
        """Whether tag codes may be addresses in `consumequeue_ext`, which is not looked at."""
        self._lost: list[tuple[int, int]] = []

    @property
    def healed(self) -> Severity:
        """How bad it is when something is there that recovery puts right after a crash."""
        return Severity.ERROR if self.is_clean_stop else Severity.NOTE

    def lose(self, start: int, end: int) -> None:
        """The span of the log cannot be read, if it has any bytes."""
        if start < end:
            self._lost.append((start, end))

    def is_lost(self, position: int) -> bool:
        """Whether a position lies in a part of the log that cannot be read."""
        return any(start <= position < end for start, end in self._lost)

    def has_lost_between(self, start: int, end: int) -> bool:
        """Whether any part of a span cannot be read."""
        return any(lost_start < end and start < lost_end for lost_start, lost_end in self._lost)

    def add(self, severity: Severity, file: str, position: int, clause: str, sentence: str) -> None:
        """The finding is known, unless the file changed under the check: then it says nothing."""
        if not self.source.has_changed(file):
            self.findings.add(severity, file, position, clause, sentence)
