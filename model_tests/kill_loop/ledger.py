"""What the parent knows: every acknowledgement that reached it and may not be lost."""

from collections.abc import Iterable
from typing import TypeAlias

from model_tests.kill_loop.report import Acknowledged, Report, Retiring

Place: TypeAlias = tuple[str, int, int]
"""Topic, queue and offset."""


class Ledger:
    """All acknowledgements of all writers of one folder."""

    def __init__(self) -> None:
        self.held: dict[Place, Acknowledged] = {}
        """What the store must have, unless it lies before `retired`."""
        self.retired = 0
        """Log files that begin before this position may be gone."""
        self.count = 0
        self._next_offsets: dict[tuple[str, int], int] = {}

    def add(self, reports: Iterable[Report]) -> list[str]:
        """The reports count; an offset that was acknowledged before is a finding."""
        findings: list[str] = []
        for report in reports:
            if isinstance(report, Retiring):
                self.retired = report.limit
            elif isinstance(report, Acknowledged):
                findings += self._add(report)
        return findings

    def _add(self, report: Acknowledged) -> list[str]:
        queue = report.topic, report.queue_id
        expected = self._next_offsets.get(queue, 0)
        self._next_offsets[queue] = max(expected, report.queue_offset + 1)
        self.held[*queue, report.queue_offset] = report
        self.count += 1
        if report.queue_offset < expected:
            return [f"{queue}: offset {report.queue_offset} was acknowledged twice"]
        return []

    def forget_before(self, position: int) -> None:
        """What lay before the beginning of the log is not asked for again."""
        self.held = {place: report for place, report in self.held.items() if report.position >= position}
