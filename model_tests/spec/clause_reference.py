"""Clause ids that the sources name: in docstrings, and in the Rejections they raise.

A Rejection gets its id as a text, through a constant, or from a function that puts a prefix before
its argument. All three are found; an id that is put together in another way is not.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_NAMED: Final = re.compile(r"\bClauses?:\s+([a-z][\w.-]*\.[\w.-]*\w(?:,\s+[a-z][\w.-]*\.[\w.-]*\w)*)")

_CHAPTER: Final = "(?:broker|client|group|guarantee|history|nameserver|recovery|store|wire)"
_WORD: Final = r"[a-z0-9]+(?:-[a-z0-9]+)*"
_ID: Final = re.compile(rf"{_CHAPTER}(?:\.{_WORD}){{2,3}}")
_PREFIX: Final = re.compile(rf"{_CHAPTER}\.(?:{_WORD}\.)+")


@dataclass(frozen=True, slots=True)
class Reference:
    """One place that names a clause."""

    path: str
    line: int
    clause: str


def _in_docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Ids after `Clause:` or `Clauses:` in any text constant, so in attribute docstrings too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            for named in _NAMED.finditer(node.value):
                line = node.lineno + node.value[: named.start()].count("\n")
                yield from ((line, clause) for clause in re.split(r",\s+", named[1]))


def _as_constants(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Texts that are nothing but an id, wherever they are passed on to a Rejection from."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and _ID.fullmatch(node.value):
            yield node.lineno, node.value


def _prefixing_functions(tree: ast.Module) -> dict[str, tuple[str, int]]:
    """Functions that build an id: `Rejection(f"store.record.{field}", ...)`, by prefix and parameter."""
    found: dict[str, tuple[str, int]] = {}
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        parameters = [parameter.arg for parameter in function.args.args]
        for node in ast.walk(function):
            match node:
                case ast.JoinedStr(
                    values=[ast.Constant(value=str(prefix)), ast.FormattedValue(value=ast.Name(id=name))]
                ) if name in parameters and _PREFIX.fullmatch(prefix):
                    found[function.name] = (prefix, parameters.index(name))
                case _:
                    pass
    return found


def _built_ids(tree: ast.Module) -> Iterator[tuple[int, str]]:
    functions = _prefixing_functions(tree)
    for node in ast.walk(tree):
        match node:
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in functions:
                prefix, position = functions[name]
                match arguments[position : position + 1]:
                    case [ast.Constant(value=str(rest))]:
                        yield node.lineno, prefix + rest
                    case _:
                        pass
            case _:
                pass


def find_references(path: str, source: str) -> list[Reference]:
    """Every place of the source that names a clause, in the order of the lines."""
    tree = ast.parse(source, path)
    places = sorted({*_in_docstrings(tree), *_as_constants(tree), *_built_ids(tree)})
    return [Reference(path, line, clause) for line, clause in places]


def find_all_references(root: Path) -> list[Reference]:
    """Every place of spec and refimpl that names a clause."""
    paths = sorted([*(root / "spec").rglob("*.py"), *(root / "refimpl").rglob("*.py")])
    return [
        reference
        for path in paths
        for reference in find_references(path.relative_to(root).as_posix(), path.read_text("utf-8"))
    ]
