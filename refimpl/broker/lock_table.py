"""Who holds which queue for which group: Apache's RebalanceLockManager.

The table lives in memory and ends with the broker: a lock is a lease, not a fence.
"""

from collections.abc import Iterable

from refimpl.broker.recorder import Recorder
from refimpl.broker.settings import BrokerSettings
from spec.broker.lock_lease import Lease, grant, is_held_by, release
from spec.history.event import Outcome
from spec.history.kind import Kind
from spec.values.message_queue import MessageQueue


class LockTable:
    """Leases by group and queue."""

    def __init__(self, settings: BrokerSettings, recorder: Recorder) -> None:
        self._lease_ms = settings.lease_ms
        self._recorder = recorder
        self._leases: dict[str, dict[MessageQueue, Lease]] = {}

    def lock(
        self, group: str, client_id: str, queues: Iterable[MessageQueue], now_ms: int
    ) -> frozenset[MessageQueue]:
        """The queues that the client now holds, of those it asked for.

        Clauses: broker.lock.one-holder, broker.lock.renewal, broker.lock.expired-is-taken-over
        """
        granted: list[MessageQueue] = []
        for queue in sorted(queues):
            leases = self._leases.setdefault(group, {})
            entry = leases[queue] = grant(leases.get(queue), client_id, now_ms, self._lease_ms)
            is_granted = is_held_by(entry, client_id, now_ms, self._lease_ms)
            self._record(Kind.LOCK, group, client_id, queue, now_ms, is_done=is_granted)
            if is_granted:
                granted.append(queue)
        return frozenset(granted)

    def unlock(self, group: str, client_id: str, queues: Iterable[MessageQueue], now_ms: int) -> None:
        """The client holds none of the queues; what others hold is theirs.

        Clause: broker.lock.unlock-by-holder
        """
        leases = self._leases.get(group, {})
        for queue in sorted(queues):
            entry = leases.get(queue)
            is_freed = entry is not None and release(entry, client_id) is None
            if is_freed:
                del leases[queue]
            self._record(Kind.UNLOCK, group, client_id, queue, now_ms, is_done=is_freed)
        if not leases:
            self._leases.pop(group, None)

    def holders(self, group: str, now_ms: int) -> dict[MessageQueue, str]:
        """Who holds a queue of the group now."""
        return {
            queue: entry.client
            for queue, entry in sorted(self._leases.get(group, {}).items())
            if is_held_by(entry, entry.client, now_ms, self._lease_ms)
        }

    def _record(
        self, kind: Kind, group: str, client_id: str, queue: MessageQueue, now_ms: int, *, is_done: bool
    ) -> None:
        if self._recorder.is_on:
            event = self._recorder.event(kind, now_ms)
            # The queue names the broker: one of another name is another lock.
            event = event._replace(topic=queue.topic, broker=queue.broker_name, queue=queue.queue_id)
            outcome = Outcome.OK if is_done else Outcome.FAIL
            self._recorder.add(event._replace(group=group, client=client_id, outcome=outcome))
