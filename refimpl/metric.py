"""Figures that a running part gives about itself, for whoever watches it.

A metric is a name, what it means, and one value for each set of labels. Counters only rise while
the process lives, gauges say what is now.
"""

from enum import Enum
from typing import NamedTuple, TypeAlias

Labels: TypeAlias = tuple[tuple[str, str], ...]
"""Names and values, in the order in which they are shown."""


class MetricKind(Enum):
    """What may be concluded from two readings."""

    COUNTER = "counter"
    GAUGE = "gauge"


class Metric(NamedTuple):
    """One value, now."""

    name: str
    """Words joined by underlines, the unit last; counters end in `total`."""
    help: str
    kind: MetricKind
    value: float
    labels: Labels = ()
