"""`mqadmin` of the official tools, as a user runs it: a command, then what it printed.

It returns 0 even when a command failed, and then writes why to the error stream.
"""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final, TypeAlias

from model_tests.interop.artifact import Jars
from model_tests.interop.java_artifact import derive_class_path
from model_tests.interop.java_peer import JAVA_OPTIONS, WAIT_LIMIT_SECONDS

MAIN: Final = "org.apache.rocketmq.tools.command.MQAdminStartup"
TOGETHER: Final = 4
"""How many commands run at once: each mostly waits, for three seconds, while its client shuts down."""

FAILURE: Final = "SubCommandException"

Row: TypeAlias = tuple[str, ...]
"""A line of a table, by its columns."""


class Admin:
    """The tools of one version, against one name server."""

    def __init__(self, jars: Jars, name_server: str, folder: Path) -> None:
        self.version = jars.version
        self._jars = jars
        self._name_server = name_server
        self._folder = folder

    def _start(self, words: str) -> subprocess.Popen[str]:
        name, *arguments = words.split()
        home = f"-Duser.home={self._folder}"
        command = [
            str(self._jars.java),
            *JAVA_OPTIONS,
            home,
            "-cp",
            derive_class_path(self._jars),
            MAIN,
            name,
        ]
        return subprocess.Popen(
            [*command, "-n", self._name_server, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self._folder,
        )

    def _run_some(self, commands: Sequence[str]) -> list[tuple[str, str]]:
        processes = [self._start(words) for words in commands]
        try:
            ended = [process.communicate(timeout=WAIT_LIMIT_SECONDS) for process in processes]
        finally:
            for process in processes:
                process.kill()
                process.communicate()
        assert [process.returncode for process in processes] == [0] * len(commands), ended
        return ended

    def _run_all(self, commands: Sequence[str]) -> list[tuple[str, str]]:
        """What each command printed, and its complaint."""
        starts = range(0, len(commands), TOGETHER)
        return [ended for start in starts for ended in self._run_some(commands[start : start + TOGETHER])]

    def ask(self, *commands: str) -> list[str]:
        """What each of the commands printed; none of them failed."""
        ended = self._run_all(commands)
        assert not [complaint for _, complaint in ended if FAILURE in complaint], ended
        return [printed for printed, _ in ended]

    def ask_refused(self, command: str) -> int:
        """The code with which a server refused what the command asked for; the words are its own."""
        ((_, complaint),) = self._run_all([command])
        found = re.search(r"CODE: (\d+)  DESC: ", complaint)
        assert FAILURE in complaint, complaint
        assert found, complaint
        return int(found[1])


def read_rows(printed: str, columns: int) -> list[Row]:
    """The lines of a table that has so many columns; the last one may hold blanks."""
    lines = printed.splitlines()
    heads = [number for number, line in enumerate(lines) if line.startswith("#")]
    rows: list[Row] = []
    for line in lines[heads[0] + 1 :]:
        if not line.strip():
            break
        rows.append(tuple(line.strip().split(None, columns - 1)))
    return rows


def read_values(printed: str, separator: str) -> dict[str, str]:
    """The lines that name a value, by the name."""
    parts = (line.partition(separator) for line in printed.splitlines())
    return {name.strip(): value.strip() for name, found, value in parts if found}
