"""The native client, installed by pip into a virtual environment of its own."""

import sys
from pathlib import Path
from typing import Final

from model_tests.interop.artifact import INTEROP_OUT, InconclusiveError
from model_tests.interop.native_program import (
    PROBE_LIMIT_SECONDS,
    ClientProgram,
    derive_reason,
    keep_installed,
    run_installer,
)

CLIENT: Final = "rocketmq"
VERSION: Final = "0.4.4"
"""The last one with a library in its wheel that loads on Python 3.11."""

DRIVERS: Final = "model_tests.interop.native_peer"
ROOT: Final = Path(__file__).parents[2]
_OPTIONS: Final = ("--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:")
_PIP_ERROR: Final = r"^ERROR: (.*)$"
_LAST_LINE: Final = r"^(\w+Error: .*)$"


def _find_python(folder: Path) -> Path:
    return folder / "venv" / "bin" / "python"


def _install(folder: Path) -> None:
    made = run_installer([sys.executable, "-m", "venv", folder / "venv"])
    if made.returncode != 0:
        raise InconclusiveError("this Python cannot make a virtual environment")
    ended = run_installer([_find_python(folder), "-m", "pip", "install", *_OPTIONS, f"{CLIENT}=={VERSION}"])
    if ended.returncode != 0:
        reason = derive_reason(ended.stderr, _PIP_ERROR)
        raise InconclusiveError(f"pip cannot install {CLIENT} {VERSION}: {reason}")


def resolve_native_client(root: Path = INTEROP_OUT) -> ClientProgram:
    """The client is in a virtual environment below `root`, and its library loads."""
    folder = root / f"native-client-{VERSION}"
    keep_installed(folder, f"{CLIENT} {VERSION}, {sys.version}, {sys.base_prefix}", _install)
    python = _find_python(folder)
    probe = run_installer([python, "-c", f"import {CLIENT}.client"], PROBE_LIMIT_SECONDS)
    if probe.returncode != 0:
        reason = derive_reason(probe.stderr, _LAST_LINE)
        raise InconclusiveError(f"{CLIENT} {VERSION} does not load: {reason}")
    environment = {"PYTHONPATH": str(ROOT)}
    return ClientProgram("native", (str(python), "-m"), f"{DRIVERS}.{{}}", environment, makes_ids=True)
