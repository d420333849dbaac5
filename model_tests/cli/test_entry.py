"""The command line: one exit code for wrong usage, one clear line, clean ends, quick start."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import click
import pytest

from model_tests.vectors.test_wire import JSON_FRAME
from refimpl.cli.entry import COMMANDS, group, run

SCRIPT: Final = Path(sys.executable).with_name("mqspec")
FRAME: Final = JSON_FRAME.hex()
SLOW_COMMAND: Final = """\
import signal, time, click
from refimpl.cli import entry
signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
@entry.group.command()
def sleep():
    click.echo("started")
    time.sleep(60)
entry._LazyGroup.get_command = lambda self, ctx, name: sleep
entry.main()
"""


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "mqspec: Missing command. See `mqspec --help`."),
        (["nope"], "mqspec: No such command 'nope'. See `mqspec --help`."),
        (["--nope"], "mqspec: No such option '--nope'. See `mqspec --help`."),
        (["clauses", "--nope"], "mqspec clauses: No such option '--nope'. See `mqspec clauses --help`."),
        (
            ["clauses", "--level", "shall"],
            (
                "mqspec clauses: Invalid value for '--level': 'shall' is not one of 'must', 'should', 'may'."
                " See `mqspec clauses --help`."
            ),
        ),
        (
            ["clauses", "a.b.c"],
            "mqspec clauses: Invalid value: there is no clause a.b.c. See `mqspec clauses --help`.",
        ),
    ],
)
def test_wrong_usage_ends_with_64_and_one_line(
    arguments: list[str], line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(arguments) == 64
    assert capsys.readouterr() == ("", line + "\n")


def test_every_command_is_listed_and_can_be_imported(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    listed = capsys.readouterr().out.partition("Commands:\n")[2].split("\n")
    assert [line.split()[0] for line in listed if line[:3].strip()] == sorted(COMMANDS)
    for name, summary in COMMANDS.items():
        command = group.get_command(click.Context(group), name)
        assert command is not None
        assert command.get_short_help_str(200) == summary


def test_the_version_is_that_of_the_package(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == "mqspec 0.1.0\n"


def test_help_imports_no_command_and_nothing_heavy() -> None:
    program = (
        "import sys; from refimpl.cli.entry import run; run(['--help'])\n"
        "heavy = {'rich', 'json', 'asyncio', 'jinja2', 'orjson', 'spec.registry', 'importlib.metadata'}\n"
        "print(sorted(heavy & set(sys.modules)), [m for m in sys.modules if m.startswith('refimpl.cli.')])"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.splitlines()[-1] == "[] ['refimpl.cli.entry']"


def test_a_reader_that_goes_away_ends_the_command_quietly() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    ended = subprocess.run([SCRIPT, "--help"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (141, b"")


@pytest.mark.parametrize("arguments", [["--help"], ["clauses"], ["clauses", "--json"], ["decode", "00"]])
def test_output_that_is_closed_is_no_violation(arguments: list[str]) -> None:
    command = ["sh", "-c", 'exec "$0" "$@" >&-', str(SCRIPT), *arguments]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr) == (2, "mqspec: standard output is closed\n")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
@pytest.mark.parametrize(
    "arguments", [["--help"], ["clauses"], ["decode", FRAME], ["decode", "--json", FRAME]]
)
def test_output_that_cannot_be_written_is_no_violation(arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run(
            [SCRIPT, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (ended.returncode, ended.stderr) == (2, "mqspec: No space left on device\n")


def test_an_interrupt_ends_with_130_and_one_line() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLOW_COMMAND, "sleep"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=10)
    assert (process.returncode, errors.strip()) == (130, "mqspec: interrupted")
