"""Theorems, found by reading the sources.

A theorem is a function of a module under `theorems/` whose docstring has a `post:` line. It is
found without importing anything, so a theorem that nobody runs cannot hide.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent / "theorems"
PACKAGE: Final = "model_tests.contracts.theorems"

_CLAUSE: Final = re.compile(r"^\s*clauses?:\s*(.+?)\s*$", re.MULTILINE)
_POST: Final = re.compile(r"^\s*post(?:\[.*\])?:\s*(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Theorem:
    """One statement about the specification, and the clauses that it judges."""

    module: str
    name: str
    target: str
    line: int
    clauses: tuple[str, ...]
    postconditions: tuple[str, ...]

    @property
    def id(self) -> str:
        """How manifest and wrong variants name it: `module.function`."""
        return f"{self.module}.{self.name}"


def _read_theorem(module: str, package: str, function: ast.FunctionDef) -> Theorem | None:
    text = ast.get_docstring(function) or ""
    postconditions = tuple(_POST.findall(text))
    if not postconditions:
        return None
    clauses = tuple(
        name.strip() for line in _CLAUSE.findall(text) for name in line.split(",") if name.strip()
    )
    target = ".".join(part for part in (package, module, function.name) if part)
    return Theorem(module, function.name, target, function.lineno, clauses, postconditions)


def find_theorems(folder: Path = FOLDER, package: str = PACKAGE) -> list[Theorem]:
    """Every theorem of the folder's modules, by module and in the order of the source."""
    found: list[Theorem] = []
    for path in sorted(folder.glob("*.py")):
        tree = ast.parse(path.read_text("utf-8"), str(path))
        functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
        theorems = [_read_theorem(path.stem, package, function) for function in functions]
        found.extend(theorem for theorem in theorems if theorem)
    return found


def check_form(theorems: list[Theorem], known_clauses: frozenset[str]) -> list[str]:
    """One line for each theorem that is not written as a theorem should be."""
    problems: list[str] = []
    for theorem in theorems:
        where = f"theorems/{theorem.module}.py:{theorem.line}: {theorem.name}"
        if theorem.postconditions != ("__return__",):
            problems.append(f"{where}: a theorem has exactly one line `post: __return__`")
        if not theorem.clauses:
            problems.append(f"{where}: names no clause; add a line `clause: chapter.subject.rule`")
        problems.extend(
            f"{where}: unknown clause {clause}" for clause in theorem.clauses if clause not in known_clauses
        )
    return problems
