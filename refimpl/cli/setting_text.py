"""Values of settings as they are written in files: each reader gives the value or says what it expected.

A reader raises a ValueError whose text goes on after "expected".
"""

from collections.abc import Callable
from enum import Enum
from ipaddress import ip_address
from pathlib import Path
from typing import Final, TypeVar

from refimpl.real.peer import split_address
from spec.rejection import Rejection

ValueT = TypeVar("ValueT")
EnumT = TypeVar("EnumT", bound=Enum)

_HOUR_MS: Final = 3_600_000
_PORT_LIMIT: Final = 65_535
_NAME_LIMIT: Final = 127
"""Names become topics, and this is the longest topic that Apache takes."""
_INT32_LIMIT: Final = 2**31 - 1


def read_bool(text: str) -> bool:
    """`true` or `false`."""
    match text.lower():
        case "true":
            return True
        case "false":
            return False
        case _:
            raise ValueError("true or false")


def whole(least: int = 0, most: int = _INT32_LIMIT) -> Callable[[str], int]:
    """A reader of whole numbers between two limits."""

    def read(text: str) -> int:
        digits = text.removeprefix("-")
        if digits.isascii() and digits.isdigit() and len(digits) <= len(str(2**63)):
            number = int(text)
            if least <= number <= most:
                return number
        raise ValueError(f"a whole number, {least} to {most}")

    return read


read_port = whole(1, _PORT_LIMIT)


def read_hours(text: str) -> int:
    """Milliseconds of a whole number of hours."""
    return whole(1)(text) * _HOUR_MS


def read_name(text: str) -> str:
    """A name without white space."""
    if not text or len(text) > _NAME_LIMIT or not text.isprintable() or " " in text:
        raise ValueError(f"a name of 1 to {_NAME_LIMIT} characters without blanks")
    return text


def read_text(text: str) -> str:
    """Any text but none."""
    if not text:
        raise ValueError("some text")
    return text


def read_path(text: str) -> Path:
    """A path; `~` is the home folder."""
    if not text or "\0" in text:
        raise ValueError("a path")
    return Path(text).expanduser()


def read_ip(text: str) -> str:
    """An IP address."""
    try:
        return str(ip_address(text))
    except ValueError:
        raise ValueError("an IP address") from None


def read_addresses(text: str) -> tuple[str, ...]:
    """Addresses with a port, divided by `;`."""
    addresses = tuple(address.strip() for address in text.split(";") if address.strip())
    try:
        ports = [split_address(address)[1] for address in addresses]
    except ValueError:
        ports = []
    if not ports or not all(1 <= port <= _PORT_LIMIT for port in ports):
        raise ValueError("addresses as HOST:PORT, several divided by ;")
    return addresses


def one_of(values: dict[str, ValueT]) -> Callable[[str], ValueT]:
    """A reader of a choice."""

    def read(text: str) -> ValueT:
        if text not in values:
            raise ValueError(" or ".join(values))
        return values[text]

    return read


def by_rule(rule: Callable[[str], ValueT], example: str) -> Callable[[str], ValueT]:
    """A reader of what a rule of the specification parses."""

    def read(text: str) -> ValueT:
        try:
            return rule(text)
        except Rejection as rejection:
            raise ValueError(f"something like {example!r}: {rejection.reason}") from None

    return read
