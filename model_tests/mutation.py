"""`python -m model_tests.mutation PACKAGE...`: do the tests notice when a rule is changed?

mutmut changes one operator at a time in a copy of the sources and runs the tests of the same
name. It works in `out/mutation`, never in the tree, and stops when its time is up: what it has
judged until then is what it reports.
"""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Final

import click

ROOT: Final = Path(__file__).parents[1]
WORK: Final = ROOT / "out" / "mutation"
BIN: Final = Path(sys.executable).parent
SETTINGS: Final = """\
[mutmut]
source_paths = {source}
also_copy =
    spec
    refimpl
    model_tests
pytest_add_cli_args_test_selection = {tests}
pytest_add_cli_args =
    -p
    no:cacheprovider
"""


def _prepare(package: str) -> None:
    """A fresh copy of the tree, set up for one package of the specification."""
    shutil.rmtree(WORK, ignore_errors=True)
    WORK.mkdir(parents=True)
    for name in ("spec", "refimpl", "model_tests"):
        shutil.copytree(ROOT / name, WORK / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", WORK)
    source, tests = f"spec/{package}", f"model_tests/spec/{package}"
    (WORK / "setup.cfg").write_text(SETTINGS.format(source=source, tests=tests), "utf-8")


def _run_within(limit_seconds: float) -> bool:
    """Whether mutmut came to its end; if not, it and its workers are gone when this returns."""
    command = [str(BIN / "mutmut"), "run", "--max-children", "2"]
    with (WORK / "log.txt").open("wb") as log:
        process = subprocess.Popen(command, cwd=WORK, stdout=log, stderr=log, start_new_session=True)
        try:
            process.wait(limit_seconds)
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    return True


def _read_results() -> dict[str, list[str]]:
    """The changes by what became of them."""
    command = [str(BIN / "mutmut"), "results", "--all", "true"]
    ended = subprocess.run(command, cwd=WORK, capture_output=True, text=True, check=True)
    results: dict[str, list[str]] = {}
    for line in ended.stdout.splitlines():
        name, _, status = line.strip().rpartition(": ")
        results.setdefault(status, []).append(name)
    return results


@click.command()
@click.argument("packages", nargs=-1, required=True)
@click.option("--minutes", default=20.0, show_default=True, help="Time for each package.")
def main(*, packages: tuple[str, ...], minutes: float) -> None:
    """Change the rules of each package of spec one by one and list the changes no test noticed."""
    for package in packages:
        if not (ROOT / "spec" / package).is_dir():
            raise click.UsageError(f"there is no package spec/{package}")
        _prepare(package)
        is_whole = _run_within(60 * minutes)
        results = _read_results()
        counts = ", ".join(f"{len(names)} {status}" for status, names in sorted(results.items()))
        click.echo(f"spec/{package}: {counts}{'' if is_whole else '; stopped, the time is up'}")
        for name in results.get("survived", []):
            click.echo(f"  survived: {name}")
        if not results.get("killed"):
            raise click.ClickException(f"no change of spec/{package} was noticed; see {WORK / 'log.txt'}")


if __name__ == "__main__":
    main()
