"""`python -m model_tests.conform`: the reference judged by its own specification.

Real captures and a real store (the vectors) and the examples of every clause are run, and each
clause gets a verdict: held, violated, or not exercised. Judging a live broker or client is not
part of this yet.
"""

import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import Final

import click
import pytest
from rich import box
from rich.console import Console
from rich.table import Table

from model_tests.evaluation import OUT, Recorder, layer_of
from spec.registry import Clause, ClausePageError, load_clauses

ROOT: Final = Path(__file__).parents[1]
REPORT_FOLDER: Final = OUT / "conform"
SUITES: Final = ("model_tests/vectors", "model_tests/spec/test_clause_pages.py")
EXIT_INCONCLUSIVE: Final = 2


class Verdict(Enum):
    """What the checks of one clause came to."""

    HELD = "held"
    VIOLATED = "violated"
    NOT_EXERCISED = "not exercised"


@dataclass(frozen=True, slots=True)
class Finding:
    """One clause, its verdict, and the checks it rests on."""

    clause: Clause
    verdict: Verdict
    checks: tuple[str, ...]
    failures: tuple[str, ...]


def is_held_by_vectors(finding: Finding) -> bool:
    """Whether real traffic or a real store bears the clause out, and not its own examples alone."""
    checks = (layer_of(check) for check in finding.checks)
    return finding.verdict is Verdict.HELD and "vector" in checks


def derive_findings(clauses: list[Clause], recorder: Recorder) -> list[Finding]:
    """The verdict on each clause: one failed check violates it, and no check leaves it open."""
    findings: list[Finding] = []
    for clause in clauses:
        checks = sorted(test for test, names in recorder.clauses.items() if clause.id in names)
        failed = [f"{test}: {recorder.failures[test]}" for test in checks if test in recorder.failures]
        verdict = Verdict.VIOLATED if failed else Verdict.HELD if checks else Verdict.NOT_EXERCISED
        findings.append(Finding(clause, verdict, tuple(checks), tuple(failed)))
    return findings


def derive_exit_code(findings: list[Finding], recorder: Recorder) -> int:
    """0 held, 1 violated, 2 when nothing was judged."""
    if recorder.failures:
        return 1
    return 0 if any(finding.verdict is Verdict.HELD for finding in findings) else EXIT_INCONCLUSIVE


@dataclass(slots=True, eq=False)
class _LoadErrors:
    """A pytest plugin: remembers the files that could not be loaded, and why."""

    lines: list[str] = field(default_factory=list)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Keep the last line of the trace, which names the error."""
        if report.failed:
            reason = report.longreprtext.strip().rpartition("\n")[2].removeprefix("E").strip()
            self.lines.append(f"{report.nodeid}: {reason}")


def print_table(findings: list[Finding]) -> None:
    """Each chapter is printed as a row of counts."""
    table = Table("chapter", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("clauses", "must", *(verdict.value for verdict in Verdict), "by vectors"):
        table.add_column(heading, justify="right")
    for chapter in dict.fromkeys(finding.clause.chapter for finding in findings):
        mine = [finding for finding in findings if finding.clause.chapter == chapter]
        counts = Counter(finding.verdict for finding in mine)
        musts = sum(finding.clause.level.value == "must" for finding in mine)
        by_vectors = sum(is_held_by_vectors(finding) for finding in mine)
        numbers = [len(mine), musts, *(counts[verdict] for verdict in Verdict), by_vectors]
        table.add_row(chapter, *(str(number) for number in numbers))
    Console(width=80).print(table)


def _write_reports(findings: list[Finding]) -> None:
    REPORT_FOLDER.mkdir(parents=True, exist_ok=True)
    rows = [
        {
            "clause": finding.clause.id,
            "level": finding.clause.level.value,
            "verdict": finding.verdict.value,
            "by_vectors": is_held_by_vectors(finding),
            "checks": finding.checks,
            "failures": finding.failures,
        }
        for finding in findings
    ]
    (REPORT_FOLDER / "report.json").write_text(json.dumps({"clauses": rows}, indent=1) + "\n", "utf-8")
    lines = [
        "# Conformance of the reference",
        "",
        "| clause | level | verdict | by vectors |",
        "| --- | --- | --- | --- |",
    ]
    lines += [
        f"| {row['clause']} | {row['level']} | {row['verdict']} | {'yes' if row['by_vectors'] else ''} |"
        for row in rows
    ]
    (REPORT_FOLDER / "report.md").write_text("\n".join(lines) + "\n", "utf-8")


@click.command()
def main() -> None:
    """Judge the reference by its own specification and write the report."""
    try:
        clauses = list(load_clauses().values())
    except ClausePageError as error:
        click.echo(f"conform: {error}", err=True)
        sys.exit(EXIT_INCONCLUSIVE)
    recorder, errors = Recorder(), _LoadErrors()
    options = ["-o", "addopts=", "-p", "no:terminal", "-p", "no:cacheprovider", "--rootdir", str(ROOT)]
    ended = pytest.main([*options, *(str(ROOT / suite) for suite in SUITES)], plugins=[recorder, errors])
    if ended not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED):
        for line in errors.lines:
            click.echo(f"not loaded: {line}", err=True)
        click.echo(f"conform: inconclusive, the checks did not run: {pytest.ExitCode(ended).name}", err=True)
        sys.exit(EXIT_INCONCLUSIVE)
    findings = derive_findings(clauses, recorder)
    print_table(findings)
    _write_reports(findings)
    for test, reason in sorted(recorder.failures.items()):
        click.echo(f"failed: {test}: {reason}", err=True)
    click.echo(
        "Judged: the reference, by vectors (real captures, a real store) and by the clauses' own examples."
    )
    click.echo("A clause that is held, but not by vectors, rests on its own examples here.")
    click.echo("Live brokers and clients cannot be judged yet; a later version will do that.")
    click.echo("Report: out/conform/report.md, out/conform/report.json")
    sys.exit(derive_exit_code(findings, recorder))


if __name__ == "__main__":
    main()
