"""The other end of a socket, as a core knows hosts."""

import asyncio
from ipaddress import IPv6Address, ip_address

from spec.values.host import Host


def read_peer(transport: asyncio.BaseTransport) -> Host | None:
    """The host at the other end; None if it has gone already."""
    name = transport.get_extra_info("peername")
    if not isinstance(name, tuple):
        return None
    return derive_host(name[0], name[1])


def derive_host(address: str, port: int) -> Host:
    """The host, without a scope; one that speaks IPv4 through an IPv6 socket is an IPv4 host."""
    found = ip_address(address.partition("%")[0])
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped
    return Host(found.packed, port)


def split_address(address: str) -> tuple[str, int]:
    """Host and port of `127.0.0.1:9876`, `[::1]:9876` or `name:9876`."""
    host, colon, port = address.rpartition(":")
    if not colon or not host or not port.isascii() or not port.isdigit():
        raise ValueError(f"{address!r} is no address, expected HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), int(port)
