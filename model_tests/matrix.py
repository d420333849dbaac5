"""`python -m model_tests.matrix`: which clause is evaluated by which layer.

The matrix is computed from what ran and passed. A clause that nothing evaluates is an error
unless `awaiting.toml` says which later part will evaluate it; that list only shrinks, and a
clause that is on it though something evaluates it is an error too.
"""

import json
import sys
import tomllib
from pathlib import Path
from typing import Final

import click

from model_tests.evaluation import CONTRACTS_FILE, LAYERS, OUT, PYTEST_FILE, Evaluations
from spec.registry import ClausePageError, load_clauses

AWAITING_FILE: Final = Path(__file__).parent / "awaiting.toml"
MATRIX_FILE: Final = OUT / "matrix.json"


class MatrixError(ValueError):
    """Input from which no matrix can be made."""


def read_evaluations(path: Path) -> Evaluations:
    """What one lane recorded."""
    if not path.is_file():
        raise MatrixError(f"there is no {path}: run `make contracts unit` first")
    recorded: Evaluations = json.loads(path.read_text("utf-8"))
    return recorded


def read_awaiting(path: Path) -> dict[str, str]:
    """The clauses that wait, each with the part that will evaluate it; `at_most` is their number."""
    content = tomllib.loads(path.read_text("utf-8"))
    at_most, awaiting = content.get("at_most"), content.get("awaiting", {})
    if at_most != len(awaiting):
        raise MatrixError(
            f"{path.name}: at_most is {at_most}, but {len(awaiting)} clauses wait: the list only shrinks, "
            "so lower at_most together with it and never raise it"
        )
    for name, part in awaiting.items():
        if not isinstance(part, str) or not part.strip():
            raise MatrixError(f"{path.name}: {name}: say which later part will evaluate it")
    return {str(name): str(part) for name, part in awaiting.items()}


def merge(*records: Evaluations) -> Evaluations:
    """All records as one, layers in their fixed order."""
    merged: Evaluations = {}
    for layer in LAYERS:
        for record in records:
            for clause, layers in record.items():
                if layer in layers:
                    merged.setdefault(clause, {}).setdefault(layer, []).extend(layers[layer])
    return merged


def check_matrix(clauses: list[str], evaluations: Evaluations, awaiting: dict[str, str]) -> list[str]:
    """One line for each clause that the matrix and the list do not agree on."""
    missing = [name for name in clauses if name not in evaluations and name not in awaiting]
    evaluated = [name for name in awaiting if name in evaluations]
    unknown = [name for name in awaiting if name not in clauses]
    stale = [name for name in evaluations if name not in clauses]
    return [
        *(f"{name}: evaluated by nothing; name it in a test, or in awaiting.toml" for name in missing),
        *(f"{name}: is evaluated; take it off awaiting.toml" for name in evaluated),
        *(f"{name}: on awaiting.toml, but no such clause" for name in unknown),
        *(f"{name}: recorded, but no such clause; run the lanes again" for name in stale),
    ]


def derive_totals(clauses: list[str], evaluations: Evaluations, awaiting: dict[str, str]) -> dict[str, int]:
    """How many clauses each layer evaluates, and how many rest on their own examples alone."""
    layers = [set(evaluations.get(name, {})) for name in clauses]
    totals = {"clauses": len(clauses)}
    totals |= {layer: sum(layer in mine for mine in layers) for layer in LAYERS}
    totals["example only"] = sum(mine == {"example"} for mine in layers)
    totals["awaiting"] = len(awaiting)
    totals["evaluated by nothing"] = sum(not mine for mine in layers)
    return totals


def _write_matrix(clauses: list[str], evaluations: Evaluations, awaiting: dict[str, str]) -> None:
    content = {
        "totals": derive_totals(clauses, evaluations, awaiting),
        "awaiting": awaiting,
        "matrix": {name: evaluations.get(name, {}) for name in clauses},
    }
    MATRIX_FILE.parent.mkdir(parents=True, exist_ok=True)
    MATRIX_FILE.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


@click.command()
def main() -> None:
    """Merge what the lanes recorded, and say which clauses nothing evaluates."""
    try:
        clauses = [str(name) for name in load_clauses()]
        evaluations = merge(read_evaluations(CONTRACTS_FILE), read_evaluations(PYTEST_FILE))
        awaiting = read_awaiting(AWAITING_FILE)
    except (ClausePageError, MatrixError, tomllib.TOMLDecodeError) as error:
        click.echo(f"matrix: {error}", err=True)
        sys.exit(1)
    for name, total in derive_totals(clauses, evaluations, awaiting).items():
        click.echo(f"{total:6d}  {name}")
    _write_matrix(clauses, evaluations, awaiting)
    problems = check_matrix(clauses, evaluations, awaiting)
    for problem in problems:
        click.echo(f"matrix: {problem}", err=True)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
