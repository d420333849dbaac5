"""`mqspec decode`: frames for a person, or as JSON lines for a program."""

import io
import json
import sys
from collections import Counter

import click
from rich.console import Console

from refimpl.cli.frame_source import Broken, Found, NoFrame, read_items
from refimpl.cli.frame_view import derive_data, derive_text
from spec.override import override

EXIT_BROKEN = 1
"""A frame was refused."""


class _Console(Console):
    """Leaves a reader that went away to the command line, which knows the exit code for it."""

    @override
    def on_broken_pipe(self) -> None:
        raise  # noqa: PLE0704 - rich calls this while it handles the error


def _show(found: Found, console: Console, *, as_json: bool) -> None:
    if as_json:
        sys.stdout.write(json.dumps(derive_data(found)) + "\n")
    else:
        console.print(derive_text(found))


@click.command()
@click.argument("source", metavar="HEX|FILE|-")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a frame.")
@click.pass_context
def decode(context: click.Context, source: str, *, as_json: bool) -> None:
    """Show the frames in hex digits, in a file or on standard input (-).

    A file holds frames back to back, hex text, or a capture: JSON lines with a frame under `hex`.
    Exit code: 0 all frames are good, 1 a frame is broken, 64 there is nothing to decode.
    """
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")
    console = _Console(file=sys.stdout, highlight=False, markup=False, soft_wrap=True, emoji=False)
    counts = Counter[type]()
    for item in read_items(source):
        counts[type(item)] += 1
        match item:
            case Found():
                _show(item, console, as_json=as_json)
            case Broken(place, rejection):
                sys.stdout.flush()
                where = f"{place}: byte {rejection.position}"
                click.echo(f"{where}: {rejection.reason} [{rejection.clause}]", err=True)
            case NoFrame():
                pass
    if counts[NoFrame]:
        click.echo(f"{counts[Found]} frames; {counts[NoFrame]} rows hold no frame", err=True)
    if counts[Broken]:
        context.exit(EXIT_BROKEN)
