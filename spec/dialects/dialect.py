"""Dialects: the strict reference, and where real brokers and clients differ from it.

The guarantees judge every implementation alike. What differs between implementations is data:
which clauses a dialect answers differently and how, and which known holes it admits. A rule whose
clause is among the differences is not applicable to that dialect; a hole only explains what its
own trigger caused.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from spec.dialects.apache import (
    APACHE_4_9_DIFFERENCES,
    APACHE_4_9_HOLES,
    APACHE_5_DIFFERENCES,
    APACHE_5_HOLES,
)
from spec.dialects.hole import Hole


@dataclass(frozen=True, slots=True)
class Dialect:
    """One way of speaking the protocol."""

    name: str
    describes: str
    differs: Mapping[str, str]
    """Clause id to what this dialect does instead."""
    holes: frozenset[Hole]
    """The known holes whose effects a checker must accept."""


DIALECTS: Final[Mapping[str, Dialect]] = {
    dialect.name: dialect
    for dialect in (
        Dialect("strict", "the reference: every clause as written, every hole closed", {}, frozenset()),
        Dialect("apache-4.9", "Apache RocketMQ 4.9.x", APACHE_4_9_DIFFERENCES, APACHE_4_9_HOLES),
        Dialect(
            "apache-5", "Apache RocketMQ 5.x over the remoting protocol", APACHE_5_DIFFERENCES, APACHE_5_HOLES
        ),
    )
}
"""Every dialect by name."""
