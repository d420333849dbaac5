"""Every guarantee, in the order of the book."""

from typing import Final

from spec.guarantees.monitor import Monitor
from spec.guarantees.ownership import OneOwnerPerView, Partition

MONITORS: Final[tuple[type[Monitor], ...]] = (Partition, OneOwnerPerView)
