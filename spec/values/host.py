"""A host: an IP address and a port, as the broker saw a connection or names itself.

Hosts are written into every stored message and into every offset message id: 4 or 16 bytes of
address, then the port as a 32-bit integer. Nothing in the bytes says which of the two lengths
was meant; the reader knows it from a system flag bit or from the length of the whole.
"""

import struct
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final, NamedTuple

from spec.override import override
from spec.rejection import Rejection

IPV4_HOST_SIZE: Final = 8
"""4 bytes of address and a 32-bit port."""

IPV6_HOST_SIZE: Final = 20
"""16 bytes of address and a 32-bit port."""

PORT_LIMIT: Final = 65_535
"""Largest port of TCP; the stored field could hold more."""

_PORT: Final = struct.Struct(">i")


class Host(NamedTuple):
    """An address of 4 or 16 bytes and a port."""

    address: bytes
    port: int

    @property
    def is_ipv6(self) -> bool:
        """Whether the address has 16 bytes."""
        return len(self.address) != IPV4_HOST_SIZE - _PORT.size

    @override
    def __str__(self) -> str:
        """The usual text: `127.0.0.1:10911`, or `[::1]:10911`."""
        address = ip_address(self.address)
        text = f"[{address}]" if isinstance(address, IPv6Address) else str(address)
        return f"{text}:{self.port}"


def host_of(text: str, port: int) -> Host:
    """The host with the address written in `text`; refuses what is not an IP address."""
    try:
        return Host(ip_address(text).packed, port)
    except ValueError:
        raise Rejection("store.host.address-and-port", 0, f"{text!r} is not an IP address") from None


@lru_cache(maxsize=4096)
def decode_host(data: bytes) -> Host:
    """The host in 8 bytes (IPv4) or 20 bytes (IPv6).

    Few hosts write many messages, so the answers are remembered.

    Clause: store.host.address-and-port
    """
    if len(data) not in (IPV4_HOST_SIZE, IPV6_HOST_SIZE):
        raise Rejection("store.host.address-and-port", 0, f"a host has 8 or 20 bytes, found {len(data)}")
    at = len(data) - _PORT.size
    port: int = _PORT.unpack_from(data, at)[0]
    if not 0 <= port <= PORT_LIMIT:
        raise Rejection("store.host.address-and-port", at, f"port {port} is not in 0 to {PORT_LIMIT}")
    return Host(data[:at], port)


@lru_cache(maxsize=4096)
def encode_host(host: Host) -> bytes:
    """The bytes that `decode_host` reads back; refuses what it would refuse.

    Clause: store.host.address-and-port
    """
    if not 0 <= host.port <= PORT_LIMIT:
        raise Rejection("store.host.address-and-port", 0, f"port {host.port} is not in 0 to {PORT_LIMIT}")
    data = host.address + _PORT.pack(host.port)
    if len(data) not in (IPV4_HOST_SIZE, IPV6_HOST_SIZE):
        raise Rejection(
            "store.host.address-and-port", 0, f"an address has 4 or 16 bytes, found {len(host.address)}"
        )
    return data
