"""Who may import whom: spec <- refimpl <- model_tests, fuzz, pipeline.

The specification stays pure because nothing in it can reach a clock, a file or a socket. The
command line is the only place that may import everything, and only inside functions.
"""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("spec", "refimpl", "model_tests", "fuzz", "pipeline")

ALLOWED: Final = {
    "spec": {"spec"},
    "refimpl": {"spec", "refimpl"},
    "model_tests": {"spec", "refimpl", "model_tests"},
    "fuzz": {"spec", "refimpl", "fuzz"},
    "pipeline": {"spec", "refimpl", "pipeline"},
}
"""Which of our packages each package may import; the exceptions are below."""

IMPURE: Final = frozenset(
    [
        "asyncio",
        "fcntl",
        "glob",
        "io",
        "locale",
        "logging",
        "mmap",
        "multiprocessing",
        "os",
        "pathlib",
        "random",
        "secrets",
        "select",
        "selectors",
        "shutil",
        "signal",
        "socket",
        "ssl",
        "subprocess",
        "sys",
        "tempfile",
        "threading",
        "time",
        "urllib",
        "uuid",
    ]
)
"""Modules through which the specification could reach a clock, a file, a socket or chance."""
IMPURE_NAMES: Final = frozenset({"open", "input", "print", "eval", "exec", "__import__"})
CLOCK_METHODS: Final = frozenset({"now", "today", "utcnow"})
"""What `datetime` would read the clock with; its arithmetic is pure."""
RESOURCE_READER: Final = "spec/registry.py"
"""The one module that reads something: its own package's pages, through importlib.resources."""


def _imports(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module), level=0):
            return [module]
        case ast.ImportFrom():
            return ["relative"]
        case _:
            return []


def _type_checking_lines(tree: ast.Module) -> set[int]:
    """Lines that only the type checker reads."""
    guarded: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            guarded |= {
                inner.lineno for child in node.body for inner in ast.walk(child) if hasattr(inner, "lineno")
            }
    return guarded


def _lazy_lines(tree: ast.Module) -> set[int]:
    functions = (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    return {line for node in functions for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)}


def find_violations(path: str, source: str) -> Iterator[str]:
    """One line for each import, or use of an impure builtin, that the direction forbids."""
    package = path.partition("/")[0]
    tree = ast.parse(source, path)
    ignored, lazy = _type_checking_lines(tree), _lazy_lines(tree)
    is_composition_root = path.startswith("refimpl/cli/")
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 0)
        for module in _imports(node):
            top = module.partition(".")[0]
            if line in ignored:
                continue
            if top == "relative":
                yield f"{path}:{line}: a relative import"
            elif (
                top in PACKAGES and top not in ALLOWED[package] and not (is_composition_root and line in lazy)
            ):
                yield f"{path}:{line}: {package} imports {module}"
            elif package == "spec" and top not in PACKAGES:
                yield from _impure_import(path, line, module)
        if package == "spec" and (name := _impure_name(node)):
            yield f"{path}:{line}: spec uses {name}"


def _impure_name(node: ast.AST) -> str | None:
    match node:
        case ast.Name(id=name, ctx=ast.Load()) if name in IMPURE_NAMES:
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name) if name in CLOCK_METHODS:
            return f"{owner}.{name}"
        case _:
            return None


def _impure_import(path: str, line: int, module: str) -> Iterator[str]:
    top = module.partition(".")[0]
    if top not in sys.stdlib_module_names:
        yield f"{path}:{line}: spec imports {module}, which is not in the standard library"
    elif top in IMPURE or (top == "importlib" and path != RESOURCE_READER):
        yield f"{path}:{line}: spec imports {module}, which is not pure"


def _sources() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def test_every_import_follows_the_direction() -> None:
    found = [
        violation
        for path in _sources()
        for violation in find_violations(path.relative_to(ROOT).as_posix(), path.read_text("utf-8"))
    ]
    assert found == []


@pytest.mark.parametrize(
    ("path", "source", "violation"),
    [
        ("spec/a.py", "import click", "spec imports click, which is not in the standard library"),
        ("spec/a.py", "from refimpl.store import log", "spec imports refimpl.store"),
        ("spec/a.py", "import time", "spec imports time, which is not pure"),
        ("spec/a.py", "import os.path", "spec imports os.path, which is not pure"),
        ("spec/a.py", "from importlib import resources", "spec imports importlib, which is not pure"),
        ("spec/a.py", "open('x')", "spec uses open"),
        ("spec/a.py", "datetime.now()", "spec uses datetime.now"),
        ("spec/a.py", "from .rejection import Rejection", "a relative import"),
        ("refimpl/a.py", "import model_tests", "refimpl imports model_tests"),
        ("refimpl/a.py", "def f():\n import pipeline", "refimpl imports pipeline"),
        ("refimpl/cli/a.py", "import pipeline", "refimpl imports pipeline"),
        ("fuzz/a.py", "import model_tests.conftest", "fuzz imports model_tests.conftest"),
        ("pipeline/a.py", "import fuzz", "pipeline imports fuzz"),
        ("model_tests/a.py", "import pipeline", "model_tests imports pipeline"),
    ],
)
def test_a_forbidden_import_is_found(path: str, source: str, violation: str) -> None:
    line = source.count("\n") + 1
    assert list(find_violations(path, source)) == [f"{path}:{line}: {violation}"]


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("spec/a.py", "import struct\nfrom spec.rejection import Rejection"),
        ("spec/registry.py", "from importlib import resources"),
        ("spec/a.py", "if TYPE_CHECKING:\n from typing_extensions import override"),
        ("refimpl/a.py", "import click, asyncio, spec"),
        ("refimpl/cli/a.py", "def f():\n from pipeline import campaign"),
        ("model_tests/a.py", "import refimpl.cli.entry, time"),
    ],
)
def test_an_allowed_import_is_left_alone(path: str, source: str) -> None:
    assert list(find_violations(path, source)) == []
