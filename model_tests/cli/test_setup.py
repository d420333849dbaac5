"""`make setup` says in one line what is wrong with the interpreter it was given."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
OLD: Final = "#!/bin/sh\ncase $1 in -V) echo Python 2.7.18 >&2;; *) exit 1;; esac\n"
WITHOUT_VENV: Final = "#!/bin/sh\ncase $2 in venv) mkdir -p .venv/bin; exit 1;; *) exit 0;; esac\n"


def _make_setup(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    for name in ("Makefile", "pyproject.toml", "requirements-dev.txt"):
        shutil.copy(ROOT / name, folder)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    command = ["make", "--no-print-directory", "setup", f"PYTHON={python}"]
    return subprocess.run(command, cwd=folder, env=kept, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("script", "line"),
    [
        (None, "mqspec needs Python 3.11 or newer; there is no ./python. Set PYTHON=..."),
        (OLD, "mqspec needs Python 3.11 or newer; ./python is Python 2.7.18. Set PYTHON=..."),
        (WITHOUT_VENV, "mqspec could not make .venv; ./python needs its venv and pip parts"),
    ],
    ids=["none", "old", "without venv"],
)
def test_a_wrong_interpreter_is_named_and_nothing_is_left(
    script: str | None, line: str, tmp_path: Path
) -> None:
    if script is not None:
        (tmp_path / "python").write_text(script)
        (tmp_path / "python").chmod(0o755)
    ended = _make_setup(tmp_path, "./python")
    assert ended.returncode != 0
    first, last = ended.stderr.splitlines()
    assert first == line
    assert last.startswith("make: ***")
    assert not (tmp_path / ".venv").exists()
