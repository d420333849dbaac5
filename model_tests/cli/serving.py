"""A process of `mqspec serve`, `namesrv` or `broker`, from its ready line to its end."""

import os
import re
import resource
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from model_tests.interop.wire_client import WireClient

SCRIPT: Final = Path(sys.executable).with_name("mqspec")
END_SECONDS: Final = 20.0
_PLACE: Final = re.compile(r"(\w+)=(\S+):(\d+)")


class Serving:
    """The process; it has printed its one line, and is killed at the end of the block if it still runs."""

    def __init__(
        self, command: Sequence[object], folder: Path, prepare: Callable[[], None] | None = None
    ) -> None:
        environment = {**os.environ, "TMPDIR": str(folder), "HOME": str(folder)}
        self._process = subprocess.Popen(
            [str(SCRIPT), *map(str, command)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment,
            text=True,
            preexec_fn=prepare,  # noqa: PLW1509 - a limit of the child alone
        )
        assert self._process.stdout is not None
        self.ready = self._process.stdout.readline()
        if not self.ready:
            _, errors = self._process.communicate(timeout=END_SECONDS)
            raise AssertionError(f"it is not ready: {errors}")
        self.ports = {name: int(port) for name, _, port in _PLACE.findall(self.ready)}
        self.output = ""
        self.errors = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
            self._collect()
        elif not self._process.stdout.closed:  # type: ignore[union-attr]
            self._collect()

    @property
    def resident_mib(self) -> float:
        """The memory that it has resident."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("ascii")
        found = re.search(r"VmRSS:\s+(\d+)", status)
        assert found
        return int(found[1]) / 1024

    def connect(self) -> WireClient:
        """A new connection to its broker."""
        return WireClient(self.ports["broker"])

    def stop(self, number: int = signal.SIGTERM) -> int:
        """The exit code, after the process was asked to end; what it printed is known."""
        self._process.send_signal(number)
        return self.wait()

    def kill(self) -> None:
        """The process was given no time to do anything."""
        self._process.kill()
        self._collect()

    def wait(self) -> int:
        """The exit code; what it printed is known."""
        self._collect()
        return self._process.returncode

    def _collect(self) -> None:
        self.output, self.errors = self._process.communicate(timeout=END_SECONDS)


def run_to_end(command: Sequence[object], folder: Path) -> tuple[int, str, str]:
    """Exit code, output and errors of a command that cannot serve."""
    environment = {**os.environ, "TMPDIR": str(folder), "HOME": str(folder)}
    ended = subprocess.run(
        [str(SCRIPT), *map(str, command)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        env=environment,
        text=True,
        timeout=END_SECONDS,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def limit_descriptors(count: int) -> Callable[[], None]:
    """A preparation: the process never has more descriptors."""
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (count, count))


def find_free_port() -> int:
    """A port on which nobody listens at present, nor on the one two below it."""
    while True:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            number: int = probe.getsockname()[1]
        try:
            with socket.create_server(("127.0.0.1", number - 2)):
                return number
        except OSError:
            continue
