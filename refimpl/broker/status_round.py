"""One question to several clients, until each has answered or will not any more."""

from collections.abc import Callable, Mapping

from refimpl.remoting.calls import Continuation
from refimpl.remoting.request import Reply, succeed
from spec.rejection import Rejection
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueOffset
from spec.wire.body.offset import ConsumerStatusBody
from spec.wire.frame import Frame
from spec.wire.reply import is_success


class StatusRound:
    """The answers of the members of a group to one GET_CONSUMER_STATUS_FROM_CLIENT."""

    def __init__(self, count: int, on_end: Callable[[], None]) -> None:
        """`on_end` hears that the last of so many answers came, or will not come."""
        self._missing = count
        self._on_end = on_end
        self._found: dict[str, Mapping[MessageQueue, QueueOffset]] = {}

    def expect(self, client_id: str) -> Continuation:
        """What takes this client's answer; the last one that comes ends the round."""

        def take(frame: Frame | None, _now_ms: int) -> None:
            if frame is not None and is_success(frame.code) and frame.body:
                self._add(client_id, frame.body)
            self._missing -= 1
            if not self._missing:
                self._on_end()

        return take

    def _add(self, client_id: str, body: bytes) -> None:
        try:
            self._found[client_id] = ConsumerStatusBody.decode(body).message_queue_table
        except Rejection:
            # A body that cannot be read is no answer, and no fault of whoever asked.
            return

    def reply(self) -> Reply:
        """What the clients have said so far."""
        return succeed(None, ConsumerStatusBody(consumer_table=dict(sorted(self._found.items()))))
