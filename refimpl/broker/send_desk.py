"""Sends, one message or a batch: Apache's SendMessageProcessor.

Each send is guarded, placed (a retry that has used up its attempts rests with the dead letters),
and put into the store. The answer leaves when the store says what became of the message; that may
be in a later turn, and a broker with too many such answers in hand says that it is busy.
"""

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple, TypeAlias

from refimpl.broker.intake import is_stored
from refimpl.broker.parts import BrokerParts
from refimpl.remoting.request import Handler, Reply, Request
from refimpl.store.message_store import Appended
from refimpl.store.new_message import NewMessage
from spec.broker.send import (
    Placement,
    PutStatus,
    SendTarget,
    check_send,
    derive_code,
    derive_retry_limit,
    pick_queue,
    place_retry,
    rewrite_properties,
)
from spec.broker.topic import TopicConfig, derive_group_topic, is_writable
from spec.layout.batch import decode_batch, derive_shared_property_text, join_property_texts
from spec.rejection import Rejection
from spec.values import property as known
from spec.values.java_literal import decode_boolean
from spec.values.message_id import encode_message_ids
from spec.values.name import RETRY_PREFIX, SCHEDULE_TOPIC, is_retry_topic, is_topic_legal
from spec.values.property import decode_properties, encode_properties
from spec.values.units import QueueId
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.codec import HeaderCodec
from spec.wire.header.send import (
    SEND_LONG,
    SEND_SHORT,
    SendMessageHeader,
    SendMessageResponseHeader,
    SendRefusalHeader,
)
from spec.wire.reply import BusyReason, derive_busy_reply

PrepareHalf: TypeAlias = Callable[[NewMessage, Mapping[str, str]], NewMessage]
"""The half message that is stored in place of a message whose fate is not decided."""

_WHY: Final[Mapping[ResponseCode, str]] = {
    ResponseCode.NO_PERMISSION: "the broker, the topic or transactions are closed to sends",
    ResponseCode.TOPIC_NOT_EXIST: "there is no such topic, and it may not be created by sending:"
    " create it first (mqadmin updateTopic)",
    ResponseCode.SYSTEM_ERROR: "the topic's name is illegal, or the queue is not one of the topic",
    ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST: "there is no such consumer group: create it first",
}


class _Send(NamedTuple):
    """A send that passed its guards."""

    request: Request
    header: SendMessageHeader
    queue_id: QueueId


class SendDesk:
    """Takes messages from producers."""

    def __init__(self, parts: BrokerParts, prepare_half: PrepareHalf) -> None:
        self._parts = parts
        self._prepare_half = prepare_half
        self._marks = SendRefusalHeader(parts.settings.region, parts.settings.is_trace_on).encode()

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.SEND_MESSAGE: self._on_long,
            RequestCode.SEND_MESSAGE_V2: self._on_short,
            RequestCode.SEND_BATCH_MESSAGE: self._on_short,
        }

    def _on_long(self, request: Request) -> Reply | None:
        return self._on_send(request, SEND_LONG)

    def _on_short(self, request: Request) -> Reply | None:
        return self._on_send(request, SEND_SHORT)

    def _on_send(self, request: Request, codec: HeaderCodec[SendMessageHeader]) -> Reply | None:
        """The message is on its way into the store, or the refusal says why not.

        Clause: wire.header-fields.batch-field-decides
        """
        if self._parts.intake.waiting_count >= self._parts.settings.waiting_send_limit:
            busy = derive_busy_reply(
                request.frame, BusyReason.OVERLOADED, " too many sends wait for their flush, try again later"
            )
            return self._refuse(ResponseCode.SYSTEM_BUSY, busy.remark or "")
        header = codec.decode(request.frame.extension_fields)
        topic = self._find_topic(header, request.now_ms)
        properties = decode_properties(header.properties or "")
        refused = self._check(header, topic, properties, request.now_ms)
        if refused is not None or topic is None:
            code = refused or ResponseCode.TOPIC_NOT_EXIST
            return self._refuse(code, f"{header.topic[:127]}, queue {header.queue_id}: {_WHY[code]}")
        draw = self._parts.entropy.randrange(1 << 30) if header.queue_id < 0 else 0
        send = _Send(request, header, pick_queue(header.queue_id, topic.write_queue_count, draw))
        return self._put_batch(send, properties) if header.batch else self._put(send, properties)

    def _find_topic(self, header: SendMessageHeader, now_ms: int) -> TopicConfig | None:
        """The topic, created if the send may create it.

        Clauses: broker.topic.auto-create, broker.topic.retry-created
        """
        name = header.topic
        found = self._parts.topics.find(name)
        if found is not None or not is_topic_legal(name) or name == SCHEDULE_TOPIC:
            return found
        if is_retry_topic(name):
            is_known = self._parts.groups.find(name.removeprefix(RETRY_PREFIX), now_ms) is not None
            return self._parts.topics.ensure(derive_group_topic(name), now_ms) if is_known else None
        return self._parts.topics.create_on_send(
            name, header.default_topic, header.default_topic_queue_nums, now_ms
        )

    def _check(
        self,
        header: SendMessageHeader,
        topic: TopicConfig | None,
        properties: Mapping[str, str],
        now_ms: int,
    ) -> ResponseCode | None:
        name = header.topic
        is_retry = is_retry_topic(name)
        target = SendTarget(
            is_broker_writable=is_writable(self._parts.settings.permission),
            is_ordered_topic=topic is not None and topic.is_ordered,
            # That a retry topic could not be made is the fault of its group, and said so.
            has_topic=topic is not None or is_retry,
            queue_count=max(topic.read_queue_count, topic.write_queue_count) if topic is not None else 1,
            is_retry_group_known=not is_retry
            or self._parts.groups.find(name.removeprefix(RETRY_PREFIX), now_ms) is not None,
            is_transaction=decode_boolean(properties.get(known.TRANSACTION_PREPARED, "")),
            is_transaction_refused=self._parts.settings.is_transaction_refused,
        )
        return check_send(target, name, header.queue_id)

    def _put(self, send: _Send, properties: Mapping[str, str]) -> Reply | None:
        header, now_ms = send.header, send.request.now_ms
        placement = self._place(send, Placement(header.topic, send.queue_id, properties))
        is_half = decode_boolean(properties.get(known.TRANSACTION_PREPARED, ""))
        waits = decode_boolean(properties.get(known.WAIT, "true"))
        stored = rewrite_properties(placement.properties, self._parts.settings.cluster)
        new = self._make(send, placement, encode_properties(stored), send.request.frame.body, waits=waits)
        if is_half:
            new = self._prepare_half(new, stored)
        self._parts.intake.put(new, now_ms, lambda *told: self._on_stored(send, *told))
        return None

    def _place(self, send: _Send, sent: Placement) -> Placement:
        """Where the message really goes: a retry may have to rest with the dead letters.

        Clauses: broker.retry.exhausted-goes-dead, broker.retry.dead-letter-is-not-delayed
        """
        header, request = send.header, send.request
        if not is_retry_topic(header.topic):
            return sent
        group = header.topic.removeprefix(RETRY_PREFIX)
        config = self._parts.groups.known(group)
        own_limit = config.retry_limit if config is not None else 0
        limit = derive_retry_limit(own_limit, header.max_reconsume_times, request.frame.version)
        placed = place_retry(sent, group, header.reconsume_times or 0, limit)
        if placed.topic != sent.topic:
            self._parts.topics.ensure(derive_group_topic(placed.topic), request.now_ms)
        return placed

    def _make(
        self, send: _Send, placement: Placement, property_text: str, body: bytes, *, waits: bool
    ) -> NewMessage:
        header = send.header
        return NewMessage(
            placement.topic,
            placement.queue_id,
            body,
            send.request.peer,
            self._parts.settings.host,
            property_text,
            header.flag,
            header.sys_flag,
            header.born_timestamp,
            header.reconsume_times or 0,
            waits=waits,
        )

    def _put_batch(self, send: _Send, properties: Mapping[str, str]) -> Reply | None:
        """The messages of the batch are on their way into the store, all or none.

        Clause: store.batch.properties-joined
        """
        header, frame = send.header, send.request.frame
        if is_retry_topic(header.topic):
            return self._refuse(ResponseCode.MESSAGE_ILLEGAL, "a batch cannot go to a retry topic")
        try:
            entries = decode_batch(frame.body)
        except Rejection as refusal:
            return self._refuse(ResponseCode.MESSAGE_ILLEGAL, f"the batch cannot be read: {refusal}")
        if not entries:
            return self._refuse(ResponseCode.MESSAGE_ILLEGAL, "the batch is empty")
        waits = decode_boolean(properties.get(known.WAIT, "true"))
        shared = derive_shared_property_text(properties, self._parts.settings.cluster)
        like = self._make(send, Placement(header.topic, send.queue_id, properties), "", b"", waits=waits)
        # What `_replace` would do; a batch has many messages.
        topic, queue_id, _, born_host, store_host, _, _, bits, born_at_ms, times, prepared, _ = like
        rest = (bits, born_at_ms, times, prepared, waits)
        messages = [
            NewMessage(
                topic, queue_id, body, born_host, store_host, join_property_texts(text, shared), flag, *rest
            )
            for flag, body, text in entries
        ]
        self._parts.intake.put_batch(
            messages, send.request.now_ms, lambda *told: self._on_stored(send, *told)
        )
        return None

    def _on_stored(self, send: _Send, status: PutStatus, appended: Appended, _now_ms: int) -> None:
        """The producer hears what became of its messages.

        Clauses: broker.send.status-code, wire.header-fields.send-answer
        """
        code = derive_code(status)
        if not is_stored(status) or appended.queue_offset is None:
            self._parts.statistics.put_failed()
            self._parts.answer(send.request, self._refuse(code, appended.detail or status.value))
            return
        records, header = appended.records, send.header
        self._parts.statistics.put(header.topic, len(records), appended.size)
        told = SendMessageResponseHeader(
            encode_message_ids(self._parts.settings.host, [record.position for record in records]),
            send.queue_id,
            appended.queue_offset,
        )
        self._parts.answer(send.request, Reply(code, None, {**told.encode(), **self._marks}))

    def _refuse(self, code: ResponseCode, remark: str) -> Reply:
        return Reply(code, remark, dict(self._marks))
