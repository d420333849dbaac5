"""Tasks of a core: finished in threads, and handed back in a turn."""

import asyncio
import logging
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from refimpl.effect import Task
from refimpl.ports import DiskError, DiskReason
from refimpl.real.process import Process


class Finished(NamedTuple):
    """A task that has ended, and why it did not do what it should, if it did not."""

    task: Task
    error: DiskError | None


class TaskDesk:
    """The tasks of one node."""

    def __init__(self, process: Process, logger: logging.Logger, ask_turn: Callable[[], None]) -> None:
        self._process = process
        self._logger = logger
        self._ask_turn = ask_turn
        self._running: set[asyncio.Future[None]] = set()
        self._finished: list[Finished] = []

    @property
    def is_empty(self) -> bool:
        """Whether none runs, and none waits to be handed back."""
        return not self._running and not self._finished

    def begin(self, task: Task) -> None:
        """A thread finishes the task; a turn follows."""
        future = self._process.loop.run_in_executor(self._process.threads, task.finish)
        self._running.add(future)
        future.add_done_callback(partial(self._end, task))

    def take(self) -> list[Finished]:
        """Those that have ended since the last call."""
        finished, self._finished = self._finished, []
        return finished

    def _end(self, task: Task, future: "asyncio.Future[None]") -> None:
        self._running.discard(future)
        error = None if future.cancelled() else future.exception()
        if error is not None and not isinstance(error, DiskError):
            self._logger.error("a task failed", exc_info=error)
            error = DiskError(DiskReason.BROKEN, type(task).__name__, str(error))
        self._finished.append(Finished(task, error))
        self._ask_turn()
