"""Whether a broker is still there: it registers every 30 s and is forgotten after 120 s of silence.

A closed connection is believed at once; silence is believed late. Between a broker's silent death
and the scan that notices, clients are sent to a broker that does not answer.
"""

from typing import Final

from spec.values.units import Milliseconds

EXPIRY_MS: Final = Milliseconds(120_000)
"""Apache's `BROKER_CHANNEL_EXPIRED_TIME`."""

SCAN_MS: Final = Milliseconds(10_000)
"""How often silent brokers are looked for."""

FIRST_SCAN_MS: Final = Milliseconds(5_000)
"""How long after start they are looked for first."""

REGISTER_MS: Final = Milliseconds(30_000)
"""How often a broker registers."""

REGISTER_RANGE_MS: Final = (Milliseconds(10_000), Milliseconds(60_000))
"""Limits within which a broker's own setting of that period is kept."""


def is_expired(registered_at_ms: int, now_ms: int, expiry_ms: int = EXPIRY_MS) -> bool:
    """Whether a scan drops the broker: silent for more than the expiry time.

    Clause: nameserver.liveness.expiry-is-strict
    """
    return registered_at_ms + expiry_ms < now_ms


def is_dropped(registered_at_ms: int, now_ms: int, *, is_connection_closed: bool) -> bool:
    """Whether the broker is dropped now: at once when its connection closed, else by expiry.

    Clauses: nameserver.liveness.close-drops-at-once, nameserver.liveness.expiry-is-strict
    """
    return is_connection_closed or is_expired(registered_at_ms, now_ms)


def clamp_register_period_ms(period_ms: int) -> Milliseconds:
    """The period at which a broker really registers.

    Clause: nameserver.registration.period
    """
    low, high = REGISTER_RANGE_MS
    return Milliseconds(max(low, min(period_ms, high)))
