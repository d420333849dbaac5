"""A client as a broker knows it: one connection of one group, and when it last said that it lives."""

from typing import NamedTuple

from spec.values.host import Host
from spec.wire.language import Language


class ClientInfo(NamedTuple):
    """What the last heartbeat over a connection said."""

    connection: int
    client_id: str
    language: Language | None
    version: int
    peer: Host
    heartbeat_at_ms: int
