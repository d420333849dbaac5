"""Which clauses were really evaluated, by which test, in which layer.

A clause is evaluated when a check that names it ran and passed, not when somebody wrote its
id down. The contract lane and pytest each write one file; the matrix reads both.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

import pytest

from spec.registry import ClausePageError, load_clauses

Evaluations: TypeAlias = dict[str, dict[str, list[str]]]
"""Clause id, then layer, then the checks that passed."""

OUT: Final = Path(__file__).parents[1] / "out"
CONTRACTS_FILE: Final = OUT / "evaluations" / "contracts.json"
PYTEST_FILE: Final = OUT / "evaluations" / "pytest.json"

LAYERS: Final = ("contract", "property", "monitor", "machine", "simulation", "vector", "example")
_LAYER_OF_PATH: Final = (
    ("model_tests/vectors/", "vector"),
    ("model_tests/machines/", "machine"),
    ("model_tests/simulation/", "simulation"),
    ("model_tests/spec/guarantees/", "monitor"),
    ("model_tests/spec/test_clause_pages.py", "example"),
)
_PROPERTY: Final = "mqspec clauses"


def layer_of(test: str) -> str:
    """The layer to which a test belongs by its path."""
    return next((layer for prefix, layer in _LAYER_OF_PATH if test.startswith(prefix)), "property")


def write_evaluations(path: Path, evaluations: Mapping[str, Mapping[str, Iterable[str]]]) -> None:
    """The file holds the evaluations, sorted, so that equal runs give equal files."""
    content = {
        clause: {layer: sorted(set(tests)) for layer, tests in sorted(layers.items())}
        for clause, layers in sorted(evaluations.items())
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1) + "\n", "utf-8")


def clauses_of(item: pytest.Item) -> list[str]:
    """The ids of the item's clause marks, each once."""
    named = [str(name) for mark in item.iter_markers("clause") for name in mark.args]
    return list(dict.fromkeys(named))


def find_unknown_clauses(items: Iterable[pytest.Item]) -> list[str]:
    """One line for each mark that names no clause; a broken page is left to the test of the pages."""
    try:
        known = frozenset(load_clauses())
    except ClausePageError:
        return []
    return [
        f"{item.nodeid}: unknown clause {name!r}: no page of spec/clauses defines it"
        for item in items
        for name in clauses_of(item)
        if name not in known
    ]


@dataclass(slots=True, eq=False)
class Recorder:
    """A pytest plugin: remembers the tests that name clauses, passed and failed."""

    clauses: dict[str, list[str]] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Hand the marks to the reports, which travel between processes where marks do not."""
        for item in items:
            if names := clauses_of(item):
                item.user_properties.append((_PROPERTY, names))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Count a test as passed when its call passed, and as failed when any phase failed."""
        names = [name for key, value in report.user_properties if key == _PROPERTY for name in _texts(value)]
        if report.failed:
            self.failures[report.nodeid] = _reason_of(report)
            self.clauses[report.nodeid] = names
        elif report.passed and report.when == "call" and not hasattr(report, "wasxfail"):
            self.clauses[report.nodeid] = names

    def evaluations(self) -> Evaluations:
        """The clauses that passed tests judged."""
        found: Evaluations = {}
        for test, names in self.clauses.items():
            if test not in self.failures:
                for name in names:
                    found.setdefault(name, {}).setdefault(layer_of(test), []).append(test)
        return found


def _reason_of(report: pytest.TestReport) -> str:
    """The first line of the exception, or of whatever pytest has to say."""
    crash = getattr(report.longrepr, "reprcrash", None)
    return str(getattr(crash, "message", report.longreprtext)).strip().partition("\n")[0]


def _texts(value: object) -> list[str]:
    return [str(name) for name in value] if isinstance(value, list) else []
