"""A child process that always ends: stopped, killed, or killed after a stop that took too long."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeVar

from spec.wire.connection import derive_fast_port, derive_replication_port

STOP_LIMIT_SECONDS: Final = 60.0
READY_LIMIT_SECONDS: Final = 90.0
ASK_AGAIN_SECONDS: Final = 0.2
LOG_TAIL_LINES: Final = 20
_LOWEST_PORT: Final[int] = 20_000
_HIGHEST_PORT: Final[int] = 32_000
"""Below the ports that the system hands out to connections that are opened."""

_Answer = TypeVar("_Answer")


class PeerError(Exception):
    """A peer did not do what every peer must: start, answer, or stop."""


class Child:
    """A process that was started here; everything it prints is kept in a file."""

    def __init__(self, command: Sequence[str], log: Path, environment: Mapping[str, str]) -> None:
        self.log = log
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as output:
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **environment},
            )

    @property
    def process_id(self) -> int:
        """By which the system knows it."""
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.poll() is None

    def stop(self) -> int:
        """The process was asked to end and did; what it returned."""
        self._process.send_signal(signal.SIGTERM)
        try:
            return self._process.wait(STOP_LIMIT_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise PeerError(
                f"it did not stop within {STOP_LIMIT_SECONDS} s and was killed\n{self.tail()}"
            ) from None

    def kill(self) -> None:
        """The process is gone, without having been asked."""
        if self.is_running:
            self._process.kill()
        self._process.wait(STOP_LIMIT_SECONDS)

    def tail(self) -> str:
        """The last lines that it printed."""
        lines = self.log.read_text("utf-8", "replace").splitlines()
        return "\n".join(lines[-LOG_TAIL_LINES:])

    def wait_ready(self, ask: Callable[[], _Answer | None]) -> _Answer:
        """The first answer; refusing connections is not one, and neither is None."""
        until = time.monotonic() + READY_LIMIT_SECONDS
        while self.is_running and time.monotonic() < until:
            try:
                answer = ask()
            except OSError:
                answer = None
            if answer is not None:
                return answer
            time.sleep(ASK_AGAIN_SECONDS)
        state = "it does not answer" if self.is_running else f"it ended with {self._process.returncode}"
        raise PeerError(f"not ready: {state}\n{self.tail()}")


def is_port_free(port: int) -> bool:
    """Whether nobody listens on the port, on any address."""
    with socket.socket(socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("0.0.0.0", port))
        except OSError:
            return False
    return True


def find_broker_port() -> int:
    """A port that is free, as are the two others that a broker on it takes, and the one behind them.

    The last one is for its name server.
    """
    start: int = _LOWEST_PORT + os.getpid() * 37 % (_HIGHEST_PORT - _LOWEST_PORT)
    ports: list[int] = [*range(start, _HIGHEST_PORT, 5), *range(_LOWEST_PORT, start, 5)]
    for port in ports:
        taken = (derive_fast_port(port), port, derive_replication_port(port), port + 2)
        if all(is_port_free(number) for number in taken):
            return port
    raise PeerError(f"no four free ports between {_LOWEST_PORT} and {_HIGHEST_PORT}")
