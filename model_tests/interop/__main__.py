"""`python -m model_tests.interop`: every case with the real peers, and a line that says what came of it.

A peer that cannot be had makes its cases inconclusive, with the reason. That is neither a success nor
a failure: the lane then ends with 0, and says how many cases nothing was learned from.
"""

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import click
import pytest

from model_tests.interop.artifact import APACHE_VERSION


@dataclass(slots=True, eq=False)
class Tally:
    """A pytest plugin: counts what came of each case, and remembers why some were inconclusive."""

    outcomes: dict[str, str] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A case is what its worst phase is: failed, then inconclusive, then passed."""
        if report.failed:
            self.outcomes[report.nodeid] = "failed"
        elif report.skipped:
            self.outcomes[report.nodeid] = "inconclusive"
            text = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longreprtext
            self.reasons[text.removeprefix("Skipped: ").removeprefix("inconclusive: ")] += 1
        elif report.when == "call":
            self.outcomes.setdefault(report.nodeid, "passed")

    def lines(self) -> list[str]:
        """The summary: reasons first, then the counts, none left out."""
        counts = Counter(self.outcomes.values())
        numbers = ", ".join(f"{counts[name]} {name}" for name in ("passed", "failed", "inconclusive"))
        why = [f"interop: {count} inconclusive: {reason}" for reason, count in self.reasons.items()]
        return [*why, f"interop: {numbers}"]


@click.command()
@click.option("--apache-version", default=APACHE_VERSION, show_default=True, help="Which Apache is the peer.")
@click.option("--target", default="reference", type=click.Choice(("reference", "apache")), show_default=True)
@click.option("-k", "only", default="", metavar="EXPRESSION", help="Only the cases that pytest's -k chooses.")
def main(apache_version: str, target: str, only: str) -> None:
    """Run the cases with the real peers."""
    tally = Tally()
    click.echo(f"interop: Apache RocketMQ {apache_version}, broker and name server")
    options = ["-o", "python_files=case_*.py", "-p", "no:cacheprovider", "-v", "--durations=8", "-k", only]
    chosen = [f"--apache-version={apache_version}", f"--target={target}"]
    ended = pytest.main([*options, *chosen, str(Path(__file__).parent)], plugins=[tally])
    for line in tally.lines():
        click.echo(line)
    sys.exit(int(ended))


if __name__ == "__main__":
    main()
