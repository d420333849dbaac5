"""Ports that peers connect to: bound first, so that their number is known, served when a core is ready."""

import asyncio
import errno
import socket
from collections.abc import Callable
from ipaddress import ip_address
from typing import Final

from refimpl.real.connection import Connection
from refimpl.real.node import Node

_IPV4: Final = 4

BACKLOG: Final = 1024
"""Connections that wait to be accepted, Apache's `SO_BACKLOG`."""


class PortError(Exception):
    """A port cannot be had; one line says which and why."""


class Port:
    """One bound port of one address."""

    def __init__(self, host: str, port: int) -> None:
        """The port is ours; 0 picks one that is free. A PortError says why not."""
        try:
            found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        except (OSError, UnicodeError) as error:
            raise PortError(f"{host} is no address of this machine: {_explain(error)}") from error
        # A name may have several addresses; one port has one, and IPv4 is what clients are told.
        found.sort(key=lambda each: each[0] != socket.AF_INET)
        family, kind, protocol, _, address = found[0]
        self._socket = socket.socket(family, kind, protocol)
        try:
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(address)
            # Another process may have bound the port as well; only one of us may listen.
            self._socket.listen(BACKLOG)
        except (OSError, OverflowError) as error:
            self._socket.close()
            raise PortError(f"cannot listen on {host}:{port}: {_explain(error)}") from error
        self._server: asyncio.Server | None = None
        name = self._socket.getsockname()
        self.address: str = name[0]
        """The address, as a number."""
        self.number: int = name[1]

    async def serve(self, node: Node, *, is_fast: bool = False) -> None:
        """Whoever connects is the node's peer."""
        await self.serve_with(lambda: Connection(node, is_fast=is_fast))

    async def serve_with(self, make: Callable[[], asyncio.Protocol]) -> None:
        """Whoever connects is served by what is made."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(make, sock=self._socket, backlog=BACKLOG)

    def close(self) -> None:
        """Nobody can connect any more; connections that are open stay open."""
        if self._server is not None:
            self._server.close()
        self._socket.close()


def _explain(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
        return "the port is in use"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror.lower()
    return str(error)


def derive_reachable(address: str) -> str:
    """An address under which this machine reaches what listens on `address`."""
    found = ip_address(address.partition("%")[0])
    if not found.is_unspecified:
        return str(found)
    return "127.0.0.1" if found.version == _IPV4 else "::1"


def derive_advertised(address: str) -> str:
    """An address under which others probably reach what listens on `address`.

    A machine with several addresses has to be told which one it is.
    """
    found = ip_address(address.partition("%")[0])
    if not found.is_unspecified:
        return str(found)
    family, distant = (
        (socket.AF_INET, "192.0.2.1") if found.version == _IPV4 else (socket.AF_INET6, "2001:db8::1")
    )
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            # No packet is sent: the system only chooses the address that it would send from.
            probe.connect((distant, 9))
        except OSError:
            return derive_reachable(address)
        name = probe.getsockname()
    return str(name[0])


def join_address(host: str, port: int) -> str:
    """The usual text: `127.0.0.1:9876`, or `[::1]:9876`."""
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
