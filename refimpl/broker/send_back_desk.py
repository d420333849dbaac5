"""Send-back: a consumer returns what it could not handle, and a copy takes its place.

Success is answered only when the copy is stored: with the answer, custody of the message passes
to the broker.
"""

from collections.abc import Mapping

from refimpl.broker.intake import is_stored
from refimpl.broker.parts import BrokerParts
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse
from refimpl.store.message_store import Appended
from refimpl.store.new_message import NewMessage
from spec.broker.send import PutStatus, derive_code
from spec.broker.send_back import BackTarget, Copy, FailedMessage, check_send_back, derive_copy
from spec.broker.subscription_group import GroupConfig
from spec.broker.topic import TopicConfig, derive_group_topic, is_writable
from spec.layout.stored_message import StoredMessage
from spec.values.message_id import MessageId, encode_message_id
from spec.values.name import retry_topic_of
from spec.values.property import encode_properties
from spec.values.units import QueueId
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.client import SendBackHeader


class SendBackDesk:
    """Takes failed messages back from consumers."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {RequestCode.CONSUMER_SEND_MSG_BACK: self.on_send_back}

    def on_send_back(self, request: Request) -> Reply | None:
        """A copy is on its way into the store, or the answer says why there is none.

        Clauses: broker.retry.guard-order, broker.retry.no-retry-queue-discards
        """
        header = request.header(SendBackHeader)
        group = self._parts.groups.find(header.group, request.now_ms)
        retry_topic = self._ensure_retry_topic(group, request.now_ms)
        failed = self._parts.store.query.by_position(header.offset)
        refused = check_send_back(
            BackTarget(
                has_group=group is not None,
                is_broker_writable=is_writable(self._parts.settings.permission),
                retry_queue_count=group.retry_queue_count if group is not None else 0,
                is_retry_topic_writable=retry_topic is not None and is_writable(retry_topic.permission),
                has_message=failed is not None,
            )
        )
        if refused is ResponseCode.SUCCESS:
            return OK
        if refused is not None or group is None or failed is None:
            return refuse(refused or ResponseCode.SYSTEM_ERROR, self._explain(refused, header))
        copy = self._copy(request, header, group, failed)
        new = self._make(copy, failed, self._place(copy, group, request.now_ms))
        self._parts.intake.put(new, request.now_ms, lambda *told: self._on_stored(request, failed, *told))
        return None

    def _ensure_retry_topic(self, group: GroupConfig | None, now_ms: int) -> TopicConfig | None:
        """The topic of the group's retries; a group that discards failures has none.

        Clause: broker.topic.retry-created
        """
        if group is None or group.retry_queue_count <= 0:
            return None
        topic = derive_group_topic(retry_topic_of(group.name), group.retry_queue_count)
        return self._parts.topics.ensure(topic, now_ms)

    def _copy(
        self, request: Request, header: SendBackHeader, group: GroupConfig, failed: StoredMessage
    ) -> Copy:
        message = FailedMessage(
            failed.topic,
            failed.reconsume_times,
            encode_message_id(MessageId(failed.store_host, failed.position)),
            failed.properties(),
        )
        return derive_copy(
            header.group,
            message,
            header.delay_level,
            group.retry_limit,
            asked_limit=header.max_reconsume_times,
            client_version=request.frame.version,
        )

    def _place(self, copy: Copy, group: GroupConfig, now_ms: int) -> QueueId:
        """A queue of the topic in which the copy will rest.

        Clause: broker.send.negative-queue-is-drawn
        """
        if copy.topic == retry_topic_of(group.name):
            return QueueId(self._parts.entropy.randrange(group.retry_queue_count))
        self._parts.topics.ensure(derive_group_topic(copy.topic), now_ms)
        return QueueId(0)

    def _make(self, copy: Copy, failed: StoredMessage, queue_id: QueueId) -> NewMessage:
        return NewMessage(
            copy.topic,
            queue_id,
            failed.body,
            failed.born_host,
            self._parts.settings.host,
            encode_properties(copy.properties),
            failed.flag,
            failed.system_flag,
            failed.born_at_ms,
            copy.reconsume_times,
        )

    def _on_stored(
        self, request: Request, failed: StoredMessage, status: PutStatus, appended: Appended, _now_ms: int
    ) -> None:
        header = request.header(SendBackHeader)
        if is_stored(status):
            self._parts.statistics.send_back(header.group, failed.topic)
            self._parts.answer(request, OK)
        else:
            self._parts.answer(request, refuse(derive_code(status), appended.detail or status.value))

    def _explain(self, refused: ResponseCode | None, header: SendBackHeader) -> str:
        match refused:
            case ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST:
                return f"there is no consumer group {header.group[:255]}: create it first"
            case ResponseCode.NO_PERMISSION:
                return f"the broker, or the retry topic of {header.group[:255]}, is closed to writing"
            case _:
                return f"there is no message at position {header.offset} of the log"
