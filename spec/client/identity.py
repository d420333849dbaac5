"""The name of a client: who owns a queue, who holds a lock.

Allocation and locks know a member by its client id alone, so two members with one id are one
member to everybody else: both take the same queues and nobody takes the others'. Processes on one
machine therefore replace the instance name "DEFAULT" by something unique. A broadcasting consumer
keeps it, because its offsets lie in a file under that name and must be found again after a restart.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Final

from spec.group.consumption import MessageModel

DEFAULT_INSTANCE: Final = "DEFAULT"

INNER_PRODUCER_GROUP: Final = "CLIENT_INNER_PRODUCER"
"""The producer group that every instance has, for messages it returns itself."""

_PASSED_OVER: Final = ("127.0.", "192.168.")


def derive_client_id(address: str, instance: str, unit: str | None = None, *, is_stream: bool = False) -> str:
    """`address@instance`, then `@unit` if there is one; 4.9.5 and later may add `@STREAM`.

    Clause: client.identity.form
    """
    parts = [address, instance]
    if unit and unit.strip():
        parts.append(unit)
    if is_stream:
        parts.append("STREAM")
    return "@".join(parts)


def derive_instance_name(configured: str, model: MessageModel | None, process_id: int, nano_time: int) -> str:
    """The instance name that is used; `model` is None for a producer.

    Clauses: client.identity.unique, client.identity.broadcasting-stable
    """
    if configured != DEFAULT_INSTANCE or model is MessageModel.BROADCASTING:
        return configured
    return f"{process_id}#{nano_time}"


def choose_address(addresses: Sequence[IPv4Address | IPv6Address]) -> str | None:
    """The address a client goes by: first public-looking IPv4, else last IPv4, else first IPv6.

    Loopback addresses are not to be passed in. None if there is no address.

    Clause: client.identity.address-choice
    """
    fours = [str(address) for address in addresses if isinstance(address, IPv4Address)]
    sixes = [str(address) for address in addresses if isinstance(address, IPv6Address)]
    for address in fours:
        if not address.startswith(_PASSED_OVER):
            return address
    return fours[-1] if fours else next(iter(sixes), None)
