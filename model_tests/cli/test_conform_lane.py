"""`make conform` says why it could not judge, and its table fits a terminal."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from model_tests.conform import Finding, Verdict, print_table
from spec.registry import load_clauses

ROOT: Final = Path(__file__).parents[2]
PROGRAM: Final = """\
import pathlib, sys
from model_tests import conform
conform.ROOT = pathlib.Path(sys.argv.pop())
conform.SUITES = ("test_broken.py",)
conform.REPORT_FOLDER = conform.ROOT / "report"
conform.main()
"""


def test_a_check_that_cannot_be_loaded_is_named_and_nothing_is_judged(tmp_path: Path) -> None:
    (tmp_path / "test_broken.py").write_text("import no_such_module\n")
    command = [sys.executable, "-c", PROGRAM, str(tmp_path)]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr.splitlines() == [
        "not loaded: test_broken.py: ModuleNotFoundError: No module named 'no_such_module'",
        "conform: inconclusive, the checks did not run: INTERRUPTED",
    ]
    assert not (tmp_path / "report").exists()


def test_the_table_fits_eighty_columns(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([Finding(clause, Verdict.HELD, (), ()) for clause in load_clauses().values()])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 80
    words = " ".join(next(line for line in lines if line.strip()).split())
    assert words == "chapter clauses must held violated not exercised by vectors"
