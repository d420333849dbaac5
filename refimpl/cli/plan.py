"""What a process is asked to run: the command line and the file, as one value."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path

from refimpl.broker.settings import BrokerSettings
from refimpl.real.history_file import PIECE_BYTES
from refimpl.real.limit import Limits
from refimpl.real.tls import TlsSettings


class FastPort(Enum):
    """Whether the broker listens on its second port, which serves everything but pulls."""

    AUTO = "auto"
    """If the broker's port was given and the second one is free; nobody is told if it is not."""
    ON = "on"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class BrokerPlan:
    """A broker is part of the process."""

    port: int
    settings: BrokerSettings
    fast_port: FastPort = FastPort.AUTO
    advertised: str | None = None
    """The address that clients are told; None: found out."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One process."""

    host: str
    tls: TlsSettings
    limits: Limits
    store: Path | None = None
    """None: a temporary folder, removed at the end."""
    history: Path | None = None
    history_bytes: int = PIECE_BYTES
    metrics_port: int | None = None
