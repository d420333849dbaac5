"""Connections that say nothing: producers that sent one heartbeat each, as a client does when it starts."""

import resource
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from model_tests.bench.broker_server import Server
from model_tests.interop.wire_client import WireClient
from spec.wire.body.heartbeat import HeartbeatData, ProducerData
from spec.wire.code import RequestCode

IDLE_CONNECTIONS: Final = 5_000
SPARE_FILES: Final = 1_000
"""Files that a broker or the generator has open besides the connections."""
SETTLE_SECONDS: Final = 2.0


class TooFewFilesError(Exception):
    """The system lets a process have fewer files open than the connections need."""


def raise_file_limit() -> None:
    """This process, and what it starts from now on, may have all connections open."""
    needed = IDLE_CONNECTIONS + SPARE_FILES
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != resource.RLIM_INFINITY and soft < needed:
        if hard != resource.RLIM_INFINITY and hard < needed:
            raise TooFewFilesError(f"a process may have {hard} files open (ulimit -Hn), {needed} are needed")
        resource.setrlimit(resource.RLIMIT_NOFILE, (needed, hard))


def _beat(client: WireClient, number: int) -> None:
    """The broker has answered on this connection."""
    heartbeat = HeartbeatData(f"127.0.0.1@{number}#idle", (ProducerData("bench-idle"),))
    client.call(RequestCode.HEART_BEAT, None, heartbeat.encode())


@contextmanager
def hold_connections(server: Server, count: int = IDLE_CONNECTIONS) -> Iterator[None]:
    """So many connections are open and idle; at the end all of them still are."""
    with ExitStack() as stack:
        clients: list[WireClient] = []
        for number in range(count):
            clients.append(stack.enter_context(server.connect()))
            _beat(clients[-1], number)
        time.sleep(SETTLE_SECONDS)
        yield
        for number, client in enumerate(clients):
            _beat(client, number)
