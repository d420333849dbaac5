"""White lists: which of their entries say something.

An entry that trusts nobody by mistake locks a client out, and one that was meant otherwise may trust
too many. So an entry is checked before it counts; whom a legal one trusts is said by
`spec.broker.access.is_address_trusted`.
"""

from ipaddress import ip_address
from typing import Final

_IPV4_PARTS: Final = 4
_PART_LIMIT: Final = 255


def _is_part_legal(part: str) -> bool:
    if part == "*":
        return True
    low, dash, high = part.partition("-")
    numbers = (low, high if dash else low)
    if not all(number.isascii() and number.isdigit() and len(number) <= len("255") for number in numbers):
        return False
    return int(numbers[0]) <= int(numbers[1]) <= _PART_LIMIT


def _is_address(text: str) -> bool:
    try:
        ip_address(text.strip())
    except ValueError:
        return False
    return True


def is_entry_legal(entry: str) -> bool:
    """Whether the entry says whom it trusts: nobody, everybody, addresses, or a pattern of one.

    Clause: broker.access.entry-is-legal
    """
    entry = entry.strip()
    if entry in ("", "*") or _is_address(entry):
        return True
    if "{" not in entry and "," in entry:
        return all(map(_is_address, entry.split(",")))
    head, brace, choice = entry.partition("{")
    if brace:
        if not choice.endswith("}"):
            return False
        choices = [one.strip() for one in choice[:-1].split(",")]
        return all("-" not in one and one != "*" for one in choices) and all(
            is_entry_legal(head + one) and one for one in choices
        )
    parts = entry.split(".")
    return len(parts) == _IPV4_PARTS and all(map(_is_part_legal, parts))
