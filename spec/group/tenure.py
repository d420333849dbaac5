"""Tenure: one period in which a client holds a queue.

A queue can be lost and regained while a pull, a listener call or a timer of the earlier period is
still running. What they bring home then belongs to the past: a cursor written by an old pull
skips messages, an offset stored by an old call undoes a reset. So every tenure has a number, every
effect carries the number under which it began, and an effect is applied only if that tenure is
still the live one. The comparison stands inside the update, not before it, so nothing can slip
between.

Apache 4.9.x relies on object identity and a flag, and lets one step per thread slip through; that
is allowed of a peer, not of the reference.
"""

from dataclasses import dataclass
from typing import Final, NewType

TenureNumber = NewType("TenureNumber", int)
"""Counts the tenures of one queue in one client, from 1."""

NO_TENURE: Final = TenureNumber(0)


@dataclass(frozen=True, slots=True)
class Tenancy:
    """How one client stands to one queue: the number last given out, and whether it is live."""

    latest: TenureNumber = NO_TENURE
    is_live: bool = False


def begin_tenure(tenancy: Tenancy) -> Tenancy:
    """The queue is held under a number never used before; any earlier tenure is over.

    Clauses: group.tenure.one-live, group.tenure.number-rises
    """
    return Tenancy(TenureNumber(tenancy.latest + 1), is_live=True)


def end_tenure(tenancy: Tenancy, ended: TenureNumber) -> Tenancy:
    """The tenure is over if it was the live one; a late ending of an earlier one changes nothing.

    Clause: group.tenure.fence
    """
    return Tenancy(tenancy.latest, is_live=tenancy.is_live and tenancy.latest != ended)


def is_effect_due(tenancy: Tenancy, effect: TenureNumber) -> bool:
    """Whether what began under tenure `effect` is still to be applied.

    Clause: group.tenure.fence
    """
    return tenancy.is_live and tenancy.latest == effect
