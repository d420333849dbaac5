"""A client in another language with our drivers around it: installed once by its own installer, and kept."""

import re
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from model_tests.interop.artifact import InconclusiveError

INSTALL_LIMIT_SECONDS: Final = 600
PROBE_LIMIT_SECONDS: Final = 60
_ADDRESS: Final = re.compile(r"\(?\S*(://|host=)\S*")


class ClientProgram(NamedTuple):
    """How the drivers of a client are started."""

    name: str
    command: tuple[str, ...]
    scenario: str
    """The last word of the command; `{}` stands for the scenario."""
    environment: Mapping[str, str]
    makes_ids: bool
    """Whether the client makes ids of its own; it then tells those, and no queue, to whoever sends."""

    def derive_command(self, scenario: str) -> list[str]:
        """The command of one scenario, without its options."""
        return [*self.command, self.scenario.format(scenario)]


def keep_installed(folder: Path, wanted: str, install: Callable[[Path], None]) -> None:
    """The folder holds what was wanted; a failure leaves no folder that looks whole."""
    mark = folder / "installed"
    if mark.is_file() and mark.read_text("utf-8") == wanted:
        return
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    install(folder)
    mark.write_text(wanted, "utf-8")


def run_installer(
    command: Sequence[str | Path], limit_seconds: float = INSTALL_LIMIT_SECONDS
) -> subprocess.CompletedProcess[str]:
    """The command ended in time, with whatever it returned."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=limit_seconds, check=False)
    except subprocess.TimeoutExpired:
        raise InconclusiveError(f"{Path(command[0]).name} did not end within {limit_seconds} s") from None
    except OSError as error:
        raise InconclusiveError(f"{Path(command[0]).name} cannot be started: {error.strerror}") from None


def derive_reason(printed: str, pattern: str) -> str:
    """The first line that the pattern finds, as one line without addresses; the pattern's group is kept."""
    found = re.search(pattern, printed, re.MULTILINE)
    if found is None:
        return "it printed no error"
    return " ".join(_ADDRESS.sub("", found[1]).split())
