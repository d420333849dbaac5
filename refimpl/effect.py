"""What a core asks its world to do.

A core never acts. It is fed what happened, each time with the current time, and leaves effects
behind; the world takes them and carries them out: over sockets and threads, or inside a simulation.

Connections are numbers. Those that others opened get positive numbers from the world; those that
a core asks for get negative numbers from the core, so neither has to ask the other.
"""

from enum import Enum
from typing import NamedTuple, Protocol, TypeAlias

from spec.wire.frame import Frame


class Task(Protocol):
    """Something that takes long and needs nothing of the core: finishing a sync."""

    def finish(self) -> None:
        """It is done; a DiskError says why not. May run in another thread."""


class Severity(Enum):
    """How much attention a note asks for."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


class Send(NamedTuple):
    """Put a frame on a connection; on one that is closed it is dropped."""

    connection: int
    frame: Frame


class Close(NamedTuple):
    """Close a connection, after what was sent before."""

    connection: int
    reason: str


class Connect(NamedTuple):
    """Open a connection under this (negative) number; the core hears of success or of its end."""

    connection: int
    address: str
    """Host and port: `127.0.0.1:9876`."""


class Finish(NamedTuple):
    """Finish a task somewhere and tell the core of its end."""

    task: Task


class Note(NamedTuple):
    """A line for whoever runs the process."""

    severity: Severity
    text: str


Effect: TypeAlias = Send | Close | Connect | Finish | Note
