"""Dialects: the strict reference, and where real brokers and clients differ from it.

The guarantees judge every implementation alike. What differs between implementations is data:
which clauses a dialect answers differently and how, and which known holes it admits.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

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


STRICT: Final = Dialect(
    "strict", "the reference: every clause as written, every hole closed", {}, frozenset()
)

APACHE_4_9: Final = Dialect(
    "apache-4.9", "Apache RocketMQ 4.9.x, name server, broker and Java client", {}, frozenset(Hole)
)

APACHE_5: Final = Dialect(
    "apache-5",
    "Apache RocketMQ 5.x over the remoting protocol",
    {},
    frozenset(Hole) - {Hole.K1},
)

DIALECTS: Final[Mapping[str, Dialect]] = {dialect.name: dialect for dialect in (STRICT, APACHE_4_9, APACHE_5)}
