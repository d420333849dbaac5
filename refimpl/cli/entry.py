"""The `mqspec` command: the composition root.

Only this package may import everything, and only when a command needs it: a command's module
is imported when the command runs, so that `mqspec --help` answers at once. Exit codes are the
same for every command: 0 held, 1 violated, 2 inconclusive, 64 wrong usage.
"""

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Final

import click

from spec.override import override

EXIT_USAGE: Final = 64
"""`EX_USAGE` of BSD's sysexits.h; click's own 2 means inconclusive here."""
EXIT_INCONCLUSIVE: Final = 2
"""Nobody can tell: what was found could not be written."""
EXIT_INTERRUPTED: Final = 130
"""128 + SIGINT, as shells have it."""
EXIT_READER_GONE: Final = 141
"""128 + SIGPIPE, likewise: what was found is not known to anybody."""

COMMANDS: Final = {
    "broker": "Run a broker.",
    "clauses": "List the clauses, or show some of them in full.",
    "decode": "Show the frames in hex digits, in a file or on standard input (-).",
    "namesrv": "Run a name server.",
    "serve": "Run a name server and a broker in one process, with nothing to configure.",
    "store": "Judge or show the files of a store, without writing anything.",
}
"""Each command stands in the module of its name, as a function of its name; the text is its summary."""


class _LazyGroup(click.Group):
    """Knows the commands by name and imports one when it is called."""

    @override
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's name for it
        return sorted(COMMANDS)

    @override
    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's name for it
        cmd_name: str,
    ) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = getattr(import_module(f"refimpl.cli.{cmd_name}"), cmd_name)
        if not isinstance(command, click.Command):
            raise TypeError(f"refimpl.cli.{cmd_name}.{cmd_name} is not a command")
        return command

    @override
    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, COMMANDS[name]) for name in self.list_commands(ctx)])


def _show_version(
    context: click.Context,
    _parameter: click.Parameter,
    is_asked: bool,  # noqa: FBT001 - click passes it by position
) -> None:
    if is_asked and not context.resilient_parsing:
        from importlib.metadata import version  # noqa: PLC0415 - slow to import, rarely needed

        click.echo(f"mqspec {version('mqspec')}")
        context.exit()


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version.",
)
def group() -> None:
    """The checked reference for RocketMQ-style messaging."""


def _end_output(error: OSError) -> int:
    """Nothing more is written, so that the interpreter's last flush cannot complain; the exit code."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    if error.errno == errno.EPIPE:
        return EXIT_READER_GONE
    click.echo(f"mqspec: {error.strerror or error}", err=True)
    return EXIT_INCONCLUSIVE


def _invoke(arguments: Sequence[str]) -> int:
    """What the command returns, without click's own exits: it would end a broken pipe with 1, violated."""
    try:
        with group.make_context("mqspec", list(arguments)) as context:
            result: object = group.invoke(context)
    except click.exceptions.Exit as ending:
        return ending.exit_code
    return result if isinstance(result, int) else 0


def run(arguments: Sequence[str]) -> int:
    """The exit code of the command line."""
    try:
        code = _invoke(arguments)
        sys.stdout.flush()
    except click.UsageError as error:
        place = error.ctx.command_path if error.ctx else "mqspec"
        click.echo(f"{place}: {error.format_message()} See `{place} --help`.", err=True)
        return EXIT_USAGE
    except click.ClickException as error:
        click.echo(f"mqspec: {error.format_message()}", err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("mqspec: interrupted", err=True)
        return EXIT_INTERRUPTED
    except OSError as error:
        return _end_output(error)
    return code


def main() -> None:
    """Run the command line of this process and end it."""
    if sys.stdout is None:
        click.echo("mqspec: standard output is closed", err=True)
        sys.exit(EXIT_INCONCLUSIVE)
    sys.exit(run(sys.argv[1:]))
