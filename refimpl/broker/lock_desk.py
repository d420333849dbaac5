"""Queues that orderly consumers lock and unlock: the part of AdminBrokerProcessor that they use."""

from collections.abc import Mapping

from refimpl.broker.lock_table import LockTable
from refimpl.remoting.request import OK, Handler, Reply, Request, succeed
from spec.wire.body.lock import LockBatchBody, LockBatchResponseBody
from spec.wire.code import RequestCode


class LockDesk:
    """Takes many queues at a time; none granted is an answer too."""

    def __init__(self, locks: LockTable) -> None:
        self._locks = locks

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.LOCK_BATCH_MQ: self._on_lock,
            RequestCode.UNLOCK_BATCH_MQ: self._on_unlock,
        }

    def _on_lock(self, request: Request) -> Reply:
        """The queues that the client holds from now on, of those it named.

        Clause: broker.lock.one-holder
        """
        asked = LockBatchBody.decode(request.frame.body)
        granted = self._locks.lock(asked.consumer_group, asked.client_id, asked.mq_set, request.now_ms)
        return succeed(body=LockBatchResponseBody(granted))

    def _on_unlock(self, request: Request) -> Reply:
        """The client holds none of the queues that it named.

        Clause: broker.lock.unlock-by-holder
        """
        asked = LockBatchBody.decode(request.frame.body)
        self._locks.unlock(asked.consumer_group, asked.client_id, asked.mq_set, request.now_ms)
        return OK
