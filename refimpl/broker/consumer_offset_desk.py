"""Committed offsets, asked for and told: the offset part of Apache's ConsumerManageProcessor."""

from collections.abc import Mapping
from typing import NamedTuple

from refimpl.broker.parts import BrokerParts
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse, succeed
from refimpl.store.message_store import MessageStore
from spec.broker.offset_table import Carrier, answer_query
from spec.broker.page_cache import is_on_disk
from spec.recovery.state import QueueName
from spec.values.units import QueueId, QueueOffset
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.offset import (
    OffsetResponseHeader,
    QueryConsumerOffsetHeader,
    UpdateConsumerOffsetHeader,
)


class QueueAge(NamedTuple):
    """What decides whether a queue is young."""

    minimum: QueueOffset
    is_first_message_on_disk: bool


def derive_queue_age(store: MessageStore, topic: str, queue_id: int) -> QueueAge:
    """The queue's lowest offset and where its first message is; a queue that is not there is young.

    Clause: broker.offset.young-queue-zero
    """
    queue = store.queues.find(QueueName(topic, QueueId(queue_id)))
    if queue is None:
        return QueueAge(QueueOffset(0), is_first_message_on_disk=False)
    unit = queue.read_unit(0)
    is_old = unit is not None and is_on_disk(store.log.end, unit.position, store.settings.memory_bytes)
    return QueueAge(queue.min_offset, is_old)


class ConsumerOffsetDesk:
    """Tells members where their group goes on, and takes down how far they came."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.QUERY_CONSUMER_OFFSET: self._on_query,
            RequestCode.UPDATE_CONSUMER_OFFSET: self._on_update,
        }

    def _client_of(self, request: Request, group: str) -> str:
        return self._parts.consumers.client_id_of(group, request.connection)

    def _on_query(self, request: Request) -> Reply:
        """Where the group goes on, or that it has no offset; never another error.

        Clauses: broker.offset.query-stored, broker.offset.young-queue-zero, broker.offset.query-not-found
        """
        header = request.header(QueryConsumerOffsetHeader)
        group, topic, queue_id = header.consumer_group, header.topic, header.queue_id
        stored = self._parts.offsets.answer(group, topic, queue_id, self._client_of(request, group))
        age = derive_queue_age(self._parts.store, topic, queue_id)
        answer = answer_query(
            stored,
            age.minimum,
            is_first_message_on_disk=age.is_first_message_on_disk,
            zero_for_young_queue=header.set_zero_if_not_found is not False,
        )
        if answer is None:
            remark = f"Not found: group {group[:255]} has no offset of {topic[:127]}, queue {queue_id}"
            return refuse(ResponseCode.QUERY_NOT_FOUND, remark)
        return succeed(OffsetResponseHeader(answer))

    def _on_update(self, request: Request) -> Reply:
        """The group's offset is the one told, whatever it was, unless a reset forbids it.

        Clauses: broker.offset.commit-overwrites, broker.offset.reset-fences
        """
        header = request.header(UpdateConsumerOffsetHeader)
        group = header.consumer_group
        is_taken = self._parts.offsets.commit(
            group,
            header.topic,
            header.queue_id,
            header.commit_offset,
            carrier=Carrier.UPDATE,
            client=self._client_of(request, group),
            now_ms=request.now_ms,
        )
        if is_taken:
            return OK
        remark = f"the commit of group {group[:255]} was not taken: it comes from before a reset (ask for"
        return refuse(ResponseCode.SYSTEM_ERROR, f"{remark} the offset first), or its names are not usable")
