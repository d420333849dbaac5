"""What a check round sees of one half message."""

from typing import NamedTuple

from refimpl.broker.half_store import derive_family
from spec.broker.transaction import HalfState, derive_immunity_ms
from spec.layout.stored_message import StoredMessage
from spec.rejection import Rejection
from spec.values.java_literal import decode_int64
from spec.values.property import (
    CHECK_IMMUNITY_TIME_IN_SECONDS,
    TRANSACTION_CHECK_TIMES,
    TRANSACTION_PREPARED_QUEUE_OFFSET,
)
from spec.values.units import CommitLogPosition, QueueOffset


class HalfView(NamedTuple):
    """A half message, and what its properties say about the checks."""

    half: StoredMessage
    properties: dict[str, str]
    family: CommitLogPosition
    told_offset: QueueOffset | None
    """The place that its producer was told, if the checks deferred it."""
    check_times: int
    immunity_ms: int | None

    def state(self, unsent: int, *, is_decided: bool) -> HalfState:
        """What the rules go by; checks that were counted and not sent do not count."""
        return HalfState(
            self.half.born_at_ms,
            self.half.stored_at_ms,
            max(0, self.check_times - unsent),
            self.immunity_ms,
            is_decided,
        )


def derive_view(half: StoredMessage, broker_immunity_ms: int) -> HalfView:
    """The half message as a round sees it; a property that cannot be read counts as missing."""
    properties = half.properties()
    told = _read_number(properties.get(TRANSACTION_PREPARED_QUEUE_OFFSET))
    return HalfView(
        half,
        properties,
        derive_family(half),
        None if told is None else QueueOffset(told),
        _read_number(properties.get(TRANSACTION_CHECK_TIMES)) or 0,
        derive_immunity_ms(properties.get(CHECK_IMMUNITY_TIME_IN_SECONDS), broker_immunity_ms),
    )


def _read_number(text: str | None) -> int | None:
    try:
        return None if text is None else decode_int64(text)
    except Rejection:
        return None
