"""Descriptors: each connection takes one, and so does each open file of a store."""

import resource
from contextlib import suppress
from dataclasses import replace
from typing import Final

from refimpl.real.limit import Limits
from refimpl.store.open_files import HANDLE_LIMIT

RESERVE: Final = HANDLE_LIMIT + 128
"""Descriptors that connections never get: a store that cannot open a file stops everybody."""

_WANTED: Final = 65_536
"""No use is known for more."""
_LEAST: Final = 16


def fit_limits(limits: Limits) -> Limits:
    """The limits, with no more connections than the process has descriptors for.

    The process has as many as the system lets it have without asking anybody.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = _WANTED if hard == resource.RLIM_INFINITY else min(hard, _WANTED)
    if soft == resource.RLIM_INFINITY:
        return limits
    if soft < wanted:
        # Some systems name a limit that they do not grant.
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            soft = wanted
    return replace(limits, connections=min(limits.connections, max(soft - RESERVE, _LEAST)))
