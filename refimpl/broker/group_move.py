"""What the history learns of an administrator who moves a group."""

from collections.abc import Mapping
from typing import NamedTuple

from refimpl.broker.recorder import Recorder
from spec.history.kind import Kind
from spec.values.units import QueueId, QueueOffset


class GroupMove(NamedTuple):
    """Where a group is to go on in one topic."""

    group: str
    topic: str
    offsets: Mapping[QueueId, QueueOffset]

    def record(self, recorder: Recorder, status: str, now_ms: int) -> None:
        """The history says of every queue that its move has begun, or is done."""
        if not recorder.is_on:
            return
        for queue_id, offset in self.offsets.items():
            event = recorder.event(Kind.RESET, now_ms)._replace(group=self.group, topic=self.topic)
            recorder.add(event._replace(queue=queue_id, offset=offset, status=status))
