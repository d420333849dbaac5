"""Requests that a core itself sends, until they are answered, given up, or their connection ends."""

from collections.abc import Callable
from itertools import count
from typing import Final, NamedTuple, TypeAlias

from spec.wire.connection import SWEEP_DELAY_MS, SWEEP_INTERVAL_MS, is_call_expired
from spec.wire.frame import Frame
from spec.wire.language import Language
from spec.wire.remoting_header import ONEWAY_BIT
from spec.wire.version import REFERENCE_VERSION

OPAQUE_LIMIT: Final = 2**31
"""Opaques are signed 32-bit integers; the counter begins again before it runs over."""

Continuation: TypeAlias = Callable[[Frame | None, int], None]
"""Takes the answer (None when none will come) and the current time."""


class _Call(NamedTuple):
    connection: int
    begun_at_ms: int
    timeout_ms: int
    then: Continuation


def derive_request(
    code: int, opaque: int, fields: dict[str, str] | None, body: bytes, *, is_oneway: bool
) -> Frame:
    """A request of this implementation."""
    flag = ONEWAY_BIT if is_oneway else 0
    return Frame(code, Language.PYTHON, REFERENCE_VERSION, opaque, flag, extension_fields=fields, body=body)


class Calls:
    """The open calls of one core; opaques are unique over all its connections."""

    FIRST_SWEEP_MS: Final = SWEEP_DELAY_MS
    SWEEP_MS: Final = SWEEP_INTERVAL_MS

    def __init__(self) -> None:
        self._opaques = count(1)
        self._open: dict[int, _Call] = {}

    @property
    def open_count(self) -> int:
        """How many calls wait for their answer."""
        return len(self._open)

    def next_opaque(self) -> int:
        """A number for the next request."""
        return next(self._opaques) % OPAQUE_LIMIT

    def begin(self, opaque: int, connection: int, now_ms: int, timeout_ms: int, then: Continuation) -> None:
        """The call is open; `then` hears of its end, once."""
        self._open[opaque] = _Call(connection, now_ms, timeout_ms, then)

    def answer(self, connection: int, frame: Frame, now_ms: int) -> bool:
        """Whether the frame answered an open call of this connection.

        Clause: wire.header.reply-match
        """
        call = self._open.get(frame.opaque)
        if call is None or call.connection != connection:
            return False
        del self._open[frame.opaque]
        call.then(frame, now_ms)
        return True

    def fail_connection(self, connection: int, now_ms: int) -> None:
        """Every call on the connection has ended without an answer.

        Clause: wire.connection.close-fails-calls
        """
        self._fail([opaque for opaque, call in self._open.items() if call.connection == connection], now_ms)

    def sweep(self, now_ms: int) -> None:
        """Calls that have waited long enough have ended without an answer.

        Clause: wire.connection.call-expiry
        """
        expired = [
            opaque
            for opaque, call in self._open.items()
            if is_call_expired(call.begun_at_ms, call.timeout_ms, now_ms)
        ]
        self._fail(expired, now_ms)

    def _fail(self, opaques: list[int], now_ms: int) -> None:
        calls = [self._open.pop(opaque) for opaque in opaques]
        for call in calls:
            call.then(None, now_ms)
