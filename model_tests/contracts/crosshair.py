"""CrossHair, one process a theorem.

A process costs a quarter of a second; in return a theorem that takes long does not hold up the
rest, and every output belongs to one theorem. Each process first says which `spec` it imported:
the self-test changes a copy, and a run that silently judged the installed sources would call
every wrong variant right.
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from model_tests.contracts.theorem import Theorem
from model_tests.contracts.verdict import Result, Verdict, read_verdict

ROOT: Final = Path(__file__).parents[2]

_PROGRAM: Final = """\
import sys
import spec
print(spec.__file__, file=sys.stderr)
from crosshair.main import main
main()
"""


def _command(target: str, limit_seconds: float) -> list[str]:
    limits = ["--report_all", "--per_condition_timeout", str(limit_seconds)]
    return [sys.executable, "-c", _PROGRAM, "check", *limits, target]


def _environment(tree: Path) -> dict[str, str]:
    return os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0"}


def run_crosshair(theorem: Theorem, limit_seconds: float, tree: Path = ROOT) -> Result:
    """The verdict on the theorem about the `spec` package that stands in `tree`."""
    started = time.monotonic()
    try:
        ended = subprocess.run(
            _command(theorem.target, limit_seconds),
            cwd=tree,
            env=_environment(tree),
            capture_output=True,
            text=True,
            timeout=10 * limit_seconds + 60,
            check=False,
        )
    except subprocess.TimeoutExpired:
        seconds = time.monotonic() - started
        return Result(theorem.id, Verdict.FAILED, f"no end after {seconds:.0f} s", seconds)
    seconds = time.monotonic() - started
    imported, _, errors = ended.stderr.partition("\n")
    expected = tree / "spec" / "__init__.py"
    if Path(imported).resolve() != expected.resolve():
        last = (ended.stderr.strip().splitlines() or [""])[-1]
        return Result(theorem.id, Verdict.FAILED, f"judged {imported or last}, not {expected}", seconds)
    verdict, message = read_verdict(ended.stdout, errors)
    return Result(theorem.id, verdict, message, seconds)
