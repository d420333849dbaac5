"""Starts a writer, kills it at a moment that the seed chose, and hears it out.

A kill meets the process while it opens the store, at its n-th acknowledgement, or after a time.
"""

import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from model_tests.kill_loop.report import Acknowledged, Opened, Opening, Report, decode_report
from model_tests.kill_loop.writer import Promise
from spec.store.flush import FlushMode

PATIENCE_S: Final = 30.0
"""A writer that says nothing for so long is broken."""
_READ_SIZE: Final = 65_536


class Moment(NamedTuple):
    """When a writer is killed: so long after the report of a kind with this number."""

    after: type[Report]
    number: int
    delay_s: float


def draw_moment(random: Random) -> Moment:
    """The moment of the next kill: a third of them meet a store that is being opened."""
    match random.choice(("opening", "acknowledgement", "time")):
        case "opening":
            return Moment(Opening, 1, random.uniform(0, 0.03))
        case "acknowledgement":
            return Moment(Acknowledged, random.randint(1, 400), 0)
        case _:
            return Moment(Opened, random.choice((1, 1, 2)), random.uniform(0, 0.25))


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process that is gone afterwards, whatever happens inside."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


@dataclass(slots=True)
class _Ear:
    """What was heard of a process so far; a line counts when its end was read."""

    descriptor: int
    reports: list[Report] = field(default_factory=list)
    _rest: bytes = b""

    def listen(self, timeout_s: float) -> bool:
        """Whether the process may say more; False after its end."""
        if not select.select([self.descriptor], [], [], max(0.0, timeout_s))[0]:
            return True
        data = os.read(self.descriptor, _READ_SIZE)
        *lines, self._rest = (self._rest + data).split(b"\n")
        self.reports += [decode_report(line.decode()) for line in lines]
        return bool(data)

    def count(self, kind: type[Report]) -> int:
        """How many reports of a kind were heard."""
        return sum(isinstance(report, kind) for report in self.reports)


def run_writer(
    folder: Path, seed: int, mode: FlushMode, moment: Moment, promise: Promise = Promise.KEPT
) -> list[Report]:
    """Everything that a writer said before it was killed."""
    module = "model_tests.kill_loop.writer"
    command = [sys.executable, "-m", module, str(folder), f"--seed={seed}", f"--mode={mode.name}"]
    with running([*command, f"--promise={promise.name}"]) as process:
        assert process.stdout is not None
        ear = _Ear(process.stdout.fileno())
        _listen_until(ear, moment)
        process.send_signal(signal.SIGKILL)
        while ear.listen(PATIENCE_S):
            pass
        if process.wait() != -signal.SIGKILL:
            raise RuntimeError(f"the writer ended by itself, with {process.returncode}")
    return ear.reports


def _listen_until(ear: _Ear, moment: Moment) -> None:
    """The moment has come, or the process has ended before."""
    give_up_at = time.monotonic() + PATIENCE_S
    while ear.count(moment.after) < moment.number:
        if not ear.listen(1.0):
            return
        if time.monotonic() > give_up_at:
            raise TimeoutError(f"the writer did not come to {moment}")
    kill_at = time.monotonic() + moment.delay_s
    while (left_s := kill_at - time.monotonic()) > 0:
        if not ear.listen(left_s):
            return
