"""What a process runs: roles that are started one after the other and stopped in the opposite order."""

from typing import NamedTuple, Protocol

import click

from refimpl.history_log import HistoryLog
from refimpl.ports import Disk
from refimpl.real.service import Service
from refimpl.real.stop import Stop


class CannotRunError(click.ClickException):
    """The process cannot serve; one line says why."""

    exit_code = 2


class Ground(NamedTuple):
    """What roles stand on."""

    service: Service
    disk: Disk
    store_name: str
    """The folder of the disk, as it is named to people."""
    history: HistoryLog | None


class Role(Protocol):
    """A name server or a broker; its ports are bound when it is made."""

    name: str
    """As the ready line has it."""

    @property
    def address(self) -> str:
        """Where clients reach it."""

    async def start(self, ground: Ground) -> None:
        """It serves; a CannotRunError says why it cannot."""

    async def wait_ready(self, stop: Stop) -> None:
        """Clients can find it, or the process is to end before that."""

    async def stop(self) -> str | None:
        """It has ended, cleanly unless the answer says what went wrong."""

    def release(self) -> None:
        """Its ports are free, also if it was never started."""
