"""Moving a group to an instant, and asking its members how far they are: Apache's Broker2Client.

A reset is the broker's decision: the offsets are moved, fenced and on disk before any member is
told. Apache moves nothing itself; it tells the members and trusts that they will come back with
the new offsets. Either way the members drop what they hold and ask again where to go on.
"""

from collections.abc import Mapping
from typing import Final

from refimpl.broker.client_info import ClientInfo
from refimpl.broker.group_move import GroupMove
from refimpl.broker.parts import BrokerParts
from refimpl.broker.queue_view import QueueView
from refimpl.broker.status_round import StatusRound
from refimpl.remoting.outward import Call, Push
from refimpl.remoting.request import Handler, Reply, Request, refuse, succeed
from spec.broker.reset import TO_THE_END, check_reset, derive_reset_offset
from spec.broker.topic import TopicConfig
from spec.values.message_queue import MessageQueue
from spec.values.units import QueueId, QueueOffset
from spec.wire.body.offset import ResetOffsetBody, derive_reset_offset_list
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.offset import ConsumerStatusHeader, ResetOffsetHeader
from spec.wire.language import Language
from spec.wire.version import is_offset_reset_possible

STATUS_LIMIT_MS: Final = 5_000
"""How long a member may take to say how far it is."""


class ResetDesk:
    """Speaks with the members of groups about their offsets."""

    def __init__(self, parts: BrokerParts, push: Push, call: Call) -> None:
        self._parts = parts
        self._push = push
        self._call = call
        self._queues = QueueView(parts.store, parts.settings.name)

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: self.on_reset,
            RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: self.on_status,
        }

    def on_reset(self, request: Request) -> Reply:
        """The group goes on at the offsets of the answer, and every member that is online was told.

        Clauses: broker.admin.reset-refused, broker.offset.reset-fences
        """
        header = request.header(ResetOffsetHeader)
        topic = self._parts.topics.find(header.topic)
        clients = self._parts.consumers.clients(header.group)
        committed = None if topic is None else self._find_committed(header.group, topic)
        refused = check_reset(committed, [client.version for client in clients])
        if refused is not None or committed is None:
            code, reason = refused or (ResponseCode.SYSTEM_ERROR, "the topic is not on this broker")
            return refuse(code, f"{header.group[:255]} on {header.topic[:127]} is not reset: {reason}")
        targets = {
            queue_id: self._derive_target(header, queue_id, offset)
            for queue_id, offset in committed.items()
            if offset is not None
        }
        self._move(GroupMove(header.group, header.topic, targets), clients, request.now_ms)
        table = {self._queues.name(header.topic, queue_id): offset for queue_id, offset in targets.items()}
        self._tell(header, table, clients, is_list=request.frame.language is Language.CPP)
        return succeed(None, ResetOffsetBody(table))

    def _find_committed(self, group: str, topic: TopicConfig) -> dict[QueueId, QueueOffset | None]:
        known = self._parts.offsets.offsets(group, topic.name)
        return {QueueId(number): known.get(QueueId(number)) for number in range(topic.write_queue_count)}

    def _derive_target(self, header: ResetOffsetHeader, queue_id: int, committed: int) -> QueueOffset:
        """Where the queue goes on.

        Clause: broker.admin.reset-target
        """
        if header.timestamp == TO_THE_END:
            found = self._queues.bounds(header.topic, queue_id).maximum
        else:
            found = self._queues.offset_by_time(header.topic, queue_id, header.timestamp)
        return derive_reset_offset(found, committed, is_forced=header.is_force)

    def _move(self, move: GroupMove, clients: tuple[ClientInfo, ...], now_ms: int) -> None:
        """The offsets are moved and on disk; what members commit from before does not count."""
        offsets, recorder = self._parts.offsets, self._parts.recorder
        members = [client.client_id for client in clients]
        move.record(recorder, "begun", now_ms)
        for queue_id, offset in move.offsets.items():
            offsets.reset(move.group, move.topic, queue_id, offset, members=members, now_ms=now_ms)
        offsets.persist()
        move.record(recorder, "done", now_ms)

    def _tell(
        self,
        header: ResetOffsetHeader,
        table: Mapping[MessageQueue, QueueOffset],
        clients: tuple[ClientInfo, ...],
        *,
        is_list: bool,
    ) -> None:
        """Every member drops what it holds and goes on at the table's offsets.

        Clause: wire.body.reset-offset-forms
        """
        fields = ResetOffsetHeader(header.topic, header.group, header.timestamp, is_force=False).encode()
        body = ResetOffsetBody(table)
        form = derive_reset_offset_list(body) if is_list else body
        data = form.encode(is_dialect=True)
        for client in clients:
            self._push(client.connection, RequestCode.RESET_CONSUMER_CLIENT_OFFSET, fields, data)

    def on_status(self, request: Request) -> Reply | None:
        """How far each member says that it is, or the one that is named; who does not answer is left out.

        Clause: wire.version.consumer-operations
        """
        header = request.header(ConsumerStatusHeader)
        clients = self._parts.consumers.clients(header.group)
        if not clients:
            return refuse(
                ResponseCode.SYSTEM_ERROR, f"no consumer of the group {header.group[:255]} is online"
            )
        old = next((one for one in clients if not is_offset_reset_possible(one.version)), None)
        if old is not None:
            which = f"{old.client_id[:255]} has version {old.version}"
            return refuse(
                ResponseCode.SYSTEM_ERROR, f"a consumer of the group cannot say how far it is: {which}"
            )
        wanted = (header.client_addr or "").strip()
        asked = {one.client_id: one.connection for one in clients if wanted in ("", one.client_id)}
        collected = StatusRound(len(asked), lambda: self._parts.respond(request, collected.reply))
        fields = ConsumerStatusHeader(header.topic, header.group).encode()
        for client_id, connection in asked.items():
            self._call(
                connection,
                RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT,
                fields,
                b"",
                now_ms=request.now_ms,
                timeout_ms=STATUS_LIMIT_MS,
                then=collected.expect(client_id),
            )
        return None if asked else collected.reply()
