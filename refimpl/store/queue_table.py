"""All consume queues of a store, and the numbers that their next messages get."""

from collections.abc import Iterator

from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.open_files import OpenFiles
from spec.layout.directory import QUEUE_FOLDER, check_folder_name
from spec.recovery.state import QueueName
from spec.rejection import Rejection
from spec.values.units import CommitLogPosition, QueueId, QueueOffset


class QueueTable:
    """Queues by name. A queue that is asked for exists from then on, without a file until its first unit."""

    def __init__(self, files: OpenFiles, units_per_file: int) -> None:
        self._files = files
        self._units_per_file = units_per_file
        self._queues: dict[tuple[str, QueueId], ConsumeQueue] = {}
        """By name; a plain pair is found as well, and is made faster."""
        self.next_offsets: dict[tuple[str, QueueId], QueueOffset] = {}
        """The offset that the next message of a queue gets: ahead of the queue while it is not dispatched."""

    def find(self, name: tuple[str, QueueId]) -> ConsumeQueue | None:
        """The queue, if it exists."""
        return self._queues.get(name)

    def get(self, name: QueueName) -> ConsumeQueue:
        """The queue; refuses a name under which no queue can stand.

        Clause: store.directory.queue-folders
        """
        queue = self._queues.get(name)
        if queue is None:
            if name.queue_id < 0:
                raise Rejection("store.directory.queue-folders", 0, f"{name.queue_id} is no queue")
            topic = check_folder_name(name.topic, "store.directory.queue-folders")
            folder = f"{QUEUE_FOLDER}/{topic}/{name.queue_id}"
            queue = ConsumeQueue(name, self._files, folder, self._units_per_file)
            self._queues[name] = queue
        return queue

    def remove(self, name: QueueName) -> None:
        """The queue is gone; its files were removed."""
        self._queues.pop(name, None)
        self.next_offsets.pop(name, None)

    def of_topic(self, topic: str) -> tuple[ConsumeQueue, ...]:
        """The queues of one topic, sorted."""
        return tuple(queue for name, queue in sorted(self._queues.items()) if name[0] == topic)

    def topics(self) -> tuple[str, ...]:
        """The topics that have a queue, sorted."""
        return tuple(sorted({topic for topic, _ in self._queues}))

    def __iter__(self) -> Iterator[ConsumeQueue]:
        """All queues, sorted by name."""
        return iter([queue for _, queue in sorted(self._queues.items())])

    def set_next_offsets(self) -> None:
        """Numbers go on where the queues end."""
        self.next_offsets = {queue.name: queue.max_offset for queue in self}

    def covered(self) -> CommitLogPosition:
        """The position behind the last message that has a unit in any queue."""
        return CommitLogPosition(max((queue.tail.covered for queue in self), default=0))
