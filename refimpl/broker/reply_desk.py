"""Replies that are handed to the client that asked: Apache's ReplyMessageProcessor.

The reply is pushed first and stored then, whatever came of the push; its sender is answered when
both are over. A code of 0 says that the asker has it, not that it is stored.
"""

from collections.abc import Mapping
from functools import partial
from typing import NamedTuple

from refimpl.broker.intake import is_stored
from refimpl.broker.parts import BrokerParts
from refimpl.broker.producer_registry import ProducerRegistry
from refimpl.remoting.outward import Call
from refimpl.remoting.request import Handler, Reply, Request
from refimpl.store.message_store import Appended
from refimpl.store.new_message import NewMessage
from spec.broker.reply import (
    NO_MESSAGE_ID,
    PUSH_TIMEOUT_MS,
    STORED_FLAGS,
    derive_asker,
    derive_pushed_properties,
)
from spec.broker.send import PutStatus, SendTarget, check_send, pick_queue
from spec.broker.topic import TopicConfig, is_writable
from spec.values.java_literal import decode_boolean
from spec.values.message_id import MessageId, encode_message_id
from spec.values.name import SCHEDULE_TOPIC, is_topic_legal
from spec.values.property import WAIT, decode_properties, encode_properties
from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame
from spec.wire.header.codec import HeaderCodec
from spec.wire.header.send import (
    SEND_LONG,
    SEND_SHORT,
    ReplyMessageHeader,
    SendMessageHeader,
    SendMessageResponseHeader,
    SendRefusalHeader,
)
from spec.wire.reply import BusyReason, is_success


class _Sent(NamedTuple):
    request: Request
    header: SendMessageHeader
    properties: Mapping[str, str]
    queue_id: QueueId


class ReplyDesk:
    """Takes replies from whoever consumed a request."""

    def __init__(self, parts: BrokerParts, producers: ProducerRegistry, call: Call) -> None:
        self._parts = parts
        self._producers = producers
        self._call = call
        self._marks = SendRefusalHeader(parts.settings.region, parts.settings.is_trace_on).encode()
        self._pushing = 0
        """Replies that their askers have not confirmed yet."""

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.SEND_REPLY_MESSAGE: self._on_long,
            RequestCode.SEND_REPLY_MESSAGE_V2: self._on_short,
        }

    def _on_long(self, request: Request) -> Reply | None:
        return self._on_reply(request, SEND_LONG)

    def _on_short(self, request: Request) -> Reply | None:
        return self._on_reply(request, SEND_SHORT)

    def _on_reply(self, request: Request, codec: HeaderCodec[SendMessageHeader]) -> Reply | None:
        """The reply is on its way to the asker, or it is stored without having been handed over.

        Clause: broker.reply.goes-to-the-asker
        """
        if self._pushing + self._parts.intake.waiting_count >= self._parts.settings.waiting_send_limit:
            remark = f"{BusyReason.OVERLOADED.value} too many replies and sends wait, try again later"
            return self._refuse(ResponseCode.SYSTEM_BUSY, remark)
        header = codec.decode(request.frame.extension_fields)
        topic = self._find_topic(header, request.now_ms)
        refused = check_send(self._describe(topic), header.topic, header.queue_id)
        if refused is not None or topic is None:
            where = f"{header.topic[:127]}, queue {header.queue_id}"
            remark = f"a reply cannot go to {where}: no such topic or queue, or it is closed to sends"
            return self._refuse(refused or ResponseCode.TOPIC_NOT_EXIST, remark)
        draw = self._parts.entropy.randrange(1 << 30) if header.queue_id < 0 else 0
        queue_id = pick_queue(header.queue_id, topic.write_queue_count, draw)
        sent = _Sent(request, header, decode_properties(header.properties or ""), queue_id)
        self._push(sent, derive_asker(sent.properties))
        return None

    def _find_topic(self, header: SendMessageHeader, now_ms: int) -> TopicConfig | None:
        """The topic, created if a send may create it.

        Clause: broker.topic.auto-create
        """
        name = header.topic
        if not is_topic_legal(name) or name == SCHEDULE_TOPIC:
            return None
        return self._parts.topics.create_on_send(
            name, header.default_topic, header.default_topic_queue_nums, now_ms
        )

    def _describe(self, topic: TopicConfig | None) -> SendTarget:
        return SendTarget(
            is_broker_writable=is_writable(self._parts.settings.permission),
            is_ordered_topic=topic is not None and topic.is_ordered,
            has_topic=topic is not None,
            queue_count=max(topic.read_queue_count, topic.write_queue_count) if topic is not None else 1,
        )

    def _push(self, sent: _Sent, asker: str | None) -> None:
        """The asker has been sent the reply; without an asker it is only stored."""
        now_ms = sent.request.now_ms
        if asker is None:
            self._store(sent, "the reply names no client to go to (property REPLY_TO_CLIENT)", now_ms)
            return
        connection = self._producers.connection_of_client(asker)
        if connection is None:
            self._store(sent, f"push reply message fail, channel of <{asker[:255]}> not found.", now_ms)
            return

        def on_confirmed(answer: Frame | None, now_ms: int) -> None:
            self._pushing -= 1
            is_taken = answer is not None and is_success(answer.code)
            failure = None if is_taken else f"push reply message to {asker[:255]} fail."
            self._parts.respond(sent.request, partial(self._store, sent, failure, now_ms))

        self._pushing += 1
        self._call(
            connection,
            RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT,
            self._derive_header(sent).encode(),
            sent.request.frame.body,
            now_ms=now_ms,
            timeout_ms=PUSH_TIMEOUT_MS,
            then=on_confirmed,
        )

    def _derive_header(self, sent: _Sent) -> ReplyMessageHeader:
        """What the asker is told about the reply.

        Clause: broker.reply.says-when-pushed
        """
        header, request = sent.header, sent.request
        return ReplyMessageHeader(
            header.producer_group,
            header.topic,
            header.default_topic,
            header.default_topic_queue_nums,
            header.queue_id,
            header.sys_flag,
            header.born_timestamp,
            header.flag,
            # Java writes an address that has no name with a slash before it.
            f"/{request.peer}",
            f"/{self._parts.settings.host}",
            Milliseconds(request.now_ms),
            encode_properties(derive_pushed_properties(sent.properties, request.now_ms)),
            header.reconsume_times,
            header.unit_mode,
        )

    def _store(self, sent: _Sent, failure: str | None, now_ms: int) -> None:
        """The reply is on its way into the store, as it was sent.

        Clause: broker.reply.stored-as-sent
        """
        header, request = sent.header, sent.request
        new = NewMessage(
            header.topic,
            sent.queue_id,
            request.frame.body,
            request.peer,
            self._parts.settings.host,
            header.properties or "",
            header.flag,
            header.sys_flag & STORED_FLAGS,
            header.born_timestamp,
            header.reconsume_times or 0,
            waits=decode_boolean(sent.properties.get(WAIT, "true")),
        )

        def on_stored(status: PutStatus, appended: Appended, now_ms: int) -> None:  # noqa: ARG001
            if is_stored(status):
                self._parts.statistics.put(header.topic, len(appended.records), appended.size)
            self._parts.answer(request, self._derive_answer(sent, failure, status, appended))

        self._parts.intake.put(new, now_ms, on_stored)

    def _derive_answer(
        self, sent: _Sent, failure: str | None, status: PutStatus, appended: Appended
    ) -> Reply:
        """Success if the asker has the reply; where it is stored, if it is.

        Clause: broker.reply.success-means-pushed
        """
        if failure is not None:
            return self._refuse(ResponseCode.SYSTEM_ERROR, failure)
        message_id, queue_offset = NO_MESSAGE_ID, QueueOffset(0)
        if is_stored(status) and appended.position is not None and appended.queue_offset is not None:
            message_id = encode_message_id(MessageId(self._parts.settings.host, appended.position))
            queue_offset = appended.queue_offset
        told = SendMessageResponseHeader(message_id, sent.queue_id, queue_offset)
        return Reply(ResponseCode.SUCCESS, None, {**told.encode(), **self._marks})

    def _refuse(self, code: ResponseCode, remark: str) -> Reply:
        return Reply(code, remark, dict(self._marks))
