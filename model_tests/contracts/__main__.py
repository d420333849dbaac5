"""`python -m model_tests.contracts`: every theorem judged and compared with the manifest.

With `--self-test` the wrong variants are judged instead: each must be refuted.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Final, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

from model_tests.contracts.crosshair import run_crosshair
from model_tests.contracts.manifest import (
    Expectation,
    ManifestError,
    check_listing,
    check_result,
    load_manifest,
)
from model_tests.contracts.theorem import Theorem, check_form, find_theorems
from model_tests.contracts.verdict import Result, Verdict
from model_tests.contracts.wrong_variant import (
    WrongVariant,
    WrongVariantError,
    check_variant,
    load_variants,
    run_variant,
)
from model_tests.evaluation import CONTRACTS_FILE, Evaluations, write_evaluations
from spec.registry import ClausePageError, load_clauses

CONFIRMED_AT_LEAST: Final = 60
WRONG_VARIANTS_AT_LEAST: Final = 20
LIMIT_SECONDS: Final = 120.0
"""CPU time for a theorem that is expected to be confirmed; most need less than one second."""
UNCONFIRMED_LIMIT_SECONDS: Final = 15.0
"""CPU time for a theorem that is known not to be confirmed: it always uses all of it."""

_Task = TypeVar("_Task")


def _run_all(
    title: str, tasks: list[_Task], run: Callable[[_Task], Result], jobs: int
) -> Iterator[tuple[_Task, Result]]:
    """Each task with its result, as they end; a bar on a terminal."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    with (
        Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress,
        ThreadPoolExecutor(jobs) as executor,
    ):
        bar = progress.add_task(title, total=len(tasks))
        running = {executor.submit(run, task): task for task in tasks}
        try:
            for ended in as_completed(running):
                progress.advance(bar)
                yield running[ended], ended.result()
        finally:
            executor.shutdown(wait=False, cancel_futures=True)


def _is_chosen(name: str, only: tuple[str, ...]) -> bool:
    return not only or any(name == choice or name.startswith(f"{choice}.") for choice in only)


def _print_summary(results: list[Result]) -> None:
    modules = sorted({result.theorem.partition(".")[0] for result in results})
    verdicts = [verdict for verdict in Verdict if any(result.verdict is verdict for result in results)]
    table = Table("theorems", *(verdict.value for verdict in verdicts), "slowest")
    for module in modules:
        mine = [result for result in results if result.theorem.partition(".")[0] == module]
        counts = Counter(result.verdict for result in mine)
        slowest = max(result.seconds for result in mine)
        table.add_row(module, *(str(counts[verdict]) for verdict in verdicts), f"{slowest:.1f} s")
    Console(width=100).print(table)


def _evaluations_of(theorems: list[Theorem], results: list[Result]) -> Evaluations:
    confirmed = {result.theorem for result in results if result.verdict is Verdict.CONFIRMED}
    evaluations: Evaluations = {}
    for theorem in theorems:
        if theorem.id in confirmed:
            for clause in theorem.clauses:
                evaluations.setdefault(clause, {}).setdefault("contract", []).append(theorem.id)
    return evaluations


def _judge_theorems(theorems: list[Theorem], expectations: dict[str, Expectation], jobs: int) -> list[Result]:
    def limit(theorem: Theorem) -> float:
        expected = expectations.get(theorem.id)
        is_unconfirmed = expected is not None and expected.verdict is Verdict.NOT_CONFIRMED
        return UNCONFIRMED_LIMIT_SECONDS if is_unconfirmed else LIMIT_SECONDS

    slow_first = sorted(theorems, key=limit)
    judged = _run_all("contracts", slow_first, lambda theorem: run_crosshair(theorem, limit(theorem)), jobs)
    return [result for _, result in judged]


def _check_theorems(only: tuple[str, ...], jobs: int) -> list[str]:
    expectations = {name: entry for name, entry in load_manifest().items() if _is_chosen(name, only)}
    theorems = [theorem for theorem in find_theorems() if _is_chosen(theorem.id, only)]
    problems = check_form(theorems, frozenset(load_clauses())) + check_listing(theorems, expectations)
    if not theorems:
        return [*problems, f"no theorem is called {' or '.join(only) or 'anything'}"]
    if not only:
        CONTRACTS_FILE.unlink(missing_ok=True)
    results = _judge_theorems(theorems, expectations, jobs)
    _print_summary(results)
    for result in sorted(results, key=lambda result: result.theorem):
        if expected := expectations.get(result.theorem):
            problems += filter(None, [check_result(result, expected)])
        elif result.verdict is not Verdict.CONFIRMED:
            problems.append(f"{result.theorem}: {result.verdict.value}: {result.message}")
    confirmed = sum(result.verdict is Verdict.CONFIRMED for result in results)
    click.echo(f"{confirmed} of {len(results)} theorems confirmed within their bounds")
    if not only:
        write_evaluations(CONTRACTS_FILE, _evaluations_of(theorems, results))
        if confirmed < CONFIRMED_AT_LEAST:
            problems.append(f"{confirmed} confirmed, expected at least {CONFIRMED_AT_LEAST}")
    return problems


def _check_wrong_variants(only: tuple[str, ...], jobs: int) -> list[str]:
    theorems = {theorem.id: theorem for theorem in find_theorems()}
    everything = load_variants()
    problems = [
        f"{variant.id}: there is no theorem {variant.refuted_by}"
        for variant in everything
        if variant.refuted_by not in theorems
    ]
    variants = [
        variant
        for variant in everything
        if variant.refuted_by in theorems and _is_chosen(variant.refuted_by, only)
    ]

    def run(variant: WrongVariant) -> Result:
        return run_variant(variant, theorems[variant.refuted_by], LIMIT_SECONDS)

    judged = list(_run_all("wrong variants", variants, run, jobs))
    problems += sorted(filter(None, (check_variant(variant, result) for variant, result in judged)))
    refuted = sum(result.verdict is Verdict.REFUTED for _, result in judged)
    click.echo(f"{refuted} of {len(judged)} wrong variants refuted")
    if not only and len(everything) < WRONG_VARIANTS_AT_LEAST:
        problems.append(f"{len(everything)} wrong variants, expected at least {WRONG_VARIANTS_AT_LEAST}")
    return problems


@click.command()
@click.option("--only", multiple=True, metavar="NAME", help="A module, or module.theorem; may be repeated.")
@click.option("--jobs", default=2, show_default=True, type=click.IntRange(1), help="Processes at once.")
@click.option("--self-test", is_flag=True, help="Judge the wrong variants: each must be refuted.")
def main(*, only: tuple[str, ...], jobs: int, self_test: bool) -> None:
    """Judge the theorems and compare each verdict with the manifest."""
    check = _check_wrong_variants if self_test else _check_theorems
    try:
        problems = check(only, jobs)
    except (ClausePageError, ManifestError, WrongVariantError, SyntaxError) as error:
        problems = [str(error)]
    for problem in problems:
        click.echo(f"contracts: {problem}", err=True)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
