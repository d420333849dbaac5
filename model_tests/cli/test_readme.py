"""What the README shows is what happens.

Commands of `mqspec` are run. Lanes of make are not, since this test is part of one: their targets
must exist, and where output is shown, the command in the recipe is run instead. Output that is
shown must be what is printed now; a line of three dots stands for any lines.
"""

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
README: Final = (ROOT / "README.md").read_text("utf-8")
SCRIPTS: Final = Path(sys.executable).parent


@dataclass(frozen=True, slots=True)
class Shown:
    """A command in a console block, and the output under it."""

    command: str
    output: tuple[str, ...]


def read_console_blocks(text: str) -> list[Shown]:
    """Every command of every console block, in order."""
    shown: list[Shown] = []
    for block in re.findall(r"^```console\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *output = part.rstrip("\n").split("\n")
            shown.append(Shown(command, tuple(output)))
    return shown


def is_match(shown: tuple[str, ...], printed: str) -> bool:
    """Whether the printed text is the one shown; empty lines at the end do not count."""
    pattern = "".join(r"(?:.*\n)*" if line == "..." else re.escape(line) + r"\n" for line in shown)
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None


def _environment() -> dict[str, str]:
    """The caller's, without what an outer make passes on."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return kept | {"PATH": f"{SCRIPTS}{os.pathsep}{kept.get('PATH', '')}"}


def _recipe(target: str) -> list[str]:
    """The commands that make would run, without preparing the environment."""
    command = ["make", "-n", "-o", ".venv/.ready", target]
    ended = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout.splitlines()


SHOWN: Final = read_console_blocks(README)
TABLED: Final = re.findall(r"^\| `((?:mqspec|make)[^`]*)` \|", README, re.MULTILINE)


def test_the_readme_shows_the_two_commands_and_some_of_mqspec() -> None:
    assert {"make conform", "make test"} <= {shown.command for shown in SHOWN}
    assert [shown for shown in SHOWN if shown.command.split()[0] not in ("make", "mqspec")] == []


@pytest.mark.parametrize(
    "shown", [shown for shown in SHOWN if shown.command.startswith("mqspec")], ids=lambda shown: shown.command
)
def test_a_shown_command_prints_what_is_shown(shown: Shown, tmp_path: Path) -> None:
    ended = subprocess.run(
        shlex.split(shown.command),
        cwd=tmp_path,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout != ""
    assert is_match(shown.output, ended.stdout), ended.stdout


@pytest.mark.parametrize(
    "shown",
    [shown for shown in SHOWN if shown.command.startswith("make") and shown.output],
    ids=lambda shown: shown.command,
)
def test_a_shown_lane_prints_what_is_shown(shown: Shown) -> None:
    """What fails in the lane is told on standard error and fails elsewhere; here the words count."""
    (command,) = _recipe(shown.command.split()[1])
    assert command.startswith(".venv/bin/python -m ")
    ended = subprocess.run(
        [sys.executable, *command.split()[1:]],
        cwd=ROOT,
        env=_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert is_match(shown.output, ended.stdout), ended.stdout


@pytest.mark.parametrize(
    "command", sorted({*(shown.command for shown in SHOWN), *TABLED} - {"make"}, key=str)
)
def test_every_command_named_exists(command: str) -> None:
    program, target = command.split()[:2]
    if program == "make":
        assert _recipe(target) != []
    elif not target.startswith("-"):
        subprocess.run(["mqspec", target, "--help"], env=_environment(), capture_output=True, check=True)


def test_make_test_runs_every_lane_that_it_is_said_to_run() -> None:
    lanes = ("lint", "types", "contracts", "unit", "crashes", "matrix")
    parts = {lane: _recipe(lane) for lane in lanes}
    whole = _recipe("test")
    assert {lane: part for lane, part in parts.items() if not set(part) <= set(whole)} == {}
    assert set(whole) == {command for part in parts.values() for command in part}


def test_continuous_integration_runs_make_test_and_make_interop() -> None:
    lines = (ROOT / ".ci" / "run").read_text("utf-8").splitlines()
    assert [line for line in lines if line.startswith("make")] == ["make test", "make interop"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


def test_make_alone_lists_every_lane() -> None:
    command = ["make", "--no-print-directory"]
    ended = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, text=True, check=True)
    listed = {line.split()[1] for line in ended.stdout.splitlines()}
    phony = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert phony is not None
    assert listed == set(phony[1].split()) - {"lanes"}


def test_places_that_the_readme_names_exist() -> None:
    places = re.findall(r"`((?:spec|refimpl|model_tests|fuzz|pipeline|docs)/[^`*]*)`", README)
    assert places
    assert [place for place in places if not (ROOT / place).exists()] == []


def test_shown_output_is_compared_line_by_line() -> None:
    assert read_console_blocks("x\n```console\n$ a b\none\n...\n$ c\n```\n") == [
        Shown("a b", ("one", "...")),
        Shown("c", ()),
    ]
    assert is_match(("one", "..."), "one\ntwo\nthree\n")
    assert is_match(("...", "three"), "one\ntwo\nthree\n")
    assert is_match(("one",), "one\n\n")
    assert not is_match(("one",), "one\ntwo\n")
    assert not is_match(("o.e",), "one\n")
