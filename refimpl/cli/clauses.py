"""`mqspec clauses`: the clauses for a person, or as JSON for a program."""

import difflib
import itertools
import json
import shutil
import sys
import textwrap
from collections.abc import Iterable
from typing import Final

import click

from spec.registry import Clause, ClauseId, Example, Level, load_clauses

_READABLE: Final = 40
"""Columns that the start of a sentence needs to tell something."""


def _as_data(clause: Clause) -> dict[str, object]:
    return {
        "id": clause.id,
        "chapter": clause.chapter,
        "level": clause.level.value,
        "sides": [side.value for side in clause.sides],
        "when": clause.preconditions,
        "source": clause.source,
        "sentence": clause.sentence,
        "reason": clause.reason,
        "holds": {"text": clause.holds.text, "is_code": clause.holds.is_code},
        "broken": {"text": clause.broken.text, "is_code": clause.broken.is_code},
        "text_hash": clause.text_hash,
    }


def _wrap(text: str, indent: str = "") -> str:
    width = max(min(shutil.get_terminal_size().columns, 100), len(indent) + 20)
    return textwrap.fill(text, width, initial_indent=indent, subsequent_indent=indent)


def _show_example(title: str, example: Example) -> None:
    text = textwrap.indent(example.text, "    ") if example.is_code else _wrap(example.text, "    ")
    click.echo(f"\n  {title}:\n{text}")


def _show_in_full(clause: Clause) -> None:
    sides = ", ".join(side.value for side in clause.sides)
    click.echo(f"{clause.id}  ({clause.level.value}, {sides}; text {clause.text_hash})\n")
    click.echo(_wrap(clause.sentence, "  "))
    click.echo(f"\n{_wrap(f'Why: {clause.reason}', '  ')}")
    click.echo(_wrap(f"When: {clause.preconditions}", "  "))
    click.echo(_wrap(f"Source: {clause.source}", "  "))
    _show_example("Holds", clause.holds)
    _show_example("Broken", clause.broken)
    click.echo()


def _show_table(clauses: Iterable[Clause]) -> None:
    """One line a clause, whole when a program reads it; what a terminal has no room for is cut or wrapped."""
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    for chapter, members in itertools.groupby(clauses, key=lambda clause: clause.chapter):
        rows = list(members)
        click.echo(f"{chapter} ({len(rows)} clause{'s' if len(rows) > 1 else ''})")
        longest = max(len(clause.id) for clause in rows)
        for clause in rows:
            click.echo(_derive_row(clause, longest, width))
        click.echo()


def _derive_row(clause: Clause, longest: int, width: int | None) -> str:
    line = f"  {clause.level.value:6}  {clause.id:{longest}}  {clause.sentence}"
    if width is None or len(line) <= width:
        return line
    if len(line) - len(clause.sentence) > width - _READABLE:
        return f"  {clause.level.value:6}  {clause.id}\n{_wrap(clause.sentence, ' ' * 10)}"
    return line[: width - 1] + "…"


def _choose(ids: tuple[str, ...], chapter: str | None, level: str | None) -> list[Clause]:
    known = load_clauses()
    chapters = sorted({clause.chapter for clause in known.values()})
    for name in ids:
        if name in chapters:
            raise click.BadParameter(f"{name} is a chapter, not a clause: use --chapter {name}.")
        if name not in known:
            close = difflib.get_close_matches(name, known)
            hint = f"; close to it: {', '.join(close)}" if close else ""
            raise click.BadParameter(f"there is no clause {name}{hint}.")
    if chapter is not None and chapter not in chapters:
        raise click.BadParameter(f"there is no chapter {chapter}; there are {', '.join(chapters)}.")
    return [
        clause
        for clause in ([known[ClauseId(name)] for name in ids] or known.values())
        if chapter in (None, clause.chapter) and level in (None, clause.level.value)
    ]


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID]...")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON array.")
@click.option("--chapter", help="Only clauses of this chapter, such as wire.")
@click.option(
    "--level", type=click.Choice([level.value for level in Level]), help="Only clauses of this level."
)
def clauses(*, ids: tuple[str, ...], as_json: bool, chapter: str | None, level: str | None) -> None:
    """List the clauses, or show some of them in full."""
    chosen = _choose(ids, chapter, level)
    if not chosen:
        click.echo("no clause fits all that was asked for", err=True)
    if as_json:
        click.echo(json.dumps([_as_data(clause) for clause in chosen], indent=1, ensure_ascii=False))
    elif ids:
        for clause in chosen:
            _show_in_full(clause)
    else:
        _show_table(chosen)
