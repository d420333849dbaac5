"""Questions that one consumer answers: how it is doing, and what its listener makes of a message.

The broker hands the question to the consumer that is named, and its answer back as it came.
"""

from collections.abc import Mapping
from typing import Final

from refimpl.broker.client_info import ClientInfo
from refimpl.broker.parts import BrokerParts
from refimpl.remoting.outward import Call
from refimpl.remoting.request import Handler, Reply, Request, refuse
from spec.layout.record import encode_record
from spec.rejection import Rejection
from spec.values.host import Host
from spec.values.message_id import decode_message_id
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.frame import Frame
from spec.wire.header.client import ConsumeDirectlyHeader, ConsumerRunningInfoHeader
from spec.wire.version import is_running_info_possible

RELAY_LIMIT_MS: Final = 10_000
"""How long a consumer may take, Apache's limit in Broker2Client.callClient."""


class RelayDesk:
    """Hands questions to consumers."""

    def __init__(self, parts: BrokerParts, call: Call, peers: Mapping[int, Host]) -> None:
        """`peers` has the connections that are open."""
        self._parts = parts
        self._call = call
        self._peers = peers

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {
            RequestCode.GET_CONSUMER_RUNNING_INFO: self.on_running_info,
            RequestCode.CONSUME_MESSAGE_DIRECTLY: self.on_consume,
        }

    def on_running_info(self, request: Request) -> Reply | None:
        """The consumer that is named says how it is doing."""
        header = request.header(ConsumerRunningInfoHeader)
        return self._relay(
            request, header.consumer_group, header.client_id, request.frame.extension_fields or {}, b""
        )

    def on_consume(self, request: Request) -> Reply | None:
        """The consumer that is named has consumed the message, once more or for the first time.

        Clause: store.id.offset-id-layout
        """
        header = request.header(ConsumeDirectlyHeader)
        try:
            position = decode_message_id(header.msg_id or "").position
        except Rejection as refusal:
            return refuse(
                ResponseCode.SYSTEM_ERROR, f"a message is named by its offset message id: {refusal}"
            )
        message = self._parts.store.query.by_position(position)
        if message is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"no message stands at position {position} of the log")
        fields = {**(request.frame.extension_fields or {}), "brokerName": self._parts.settings.name}
        return self._relay(
            request, header.consumer_group, header.client_id or "", fields, encode_record(message)
        )

    def _relay(
        self, request: Request, group: str, client_id: str, fields: dict[str, str], body: bytes
    ) -> Reply | None:
        """The consumer was asked; a refusal if it is not online, or too old to understand.

        Clause: wire.version.consumer-operations
        """
        clients = self._parts.consumers.clients(group)
        client = next((one for one in clients if one.client_id == client_id), None)
        who = f"the consumer <{group[:255]}> <{client_id[:255]}>"
        if client is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"{who} is not online")
        if not is_running_info_possible(client.version):
            reason = f"{who} has version {client.version}, which is too old to be asked"
            return refuse(ResponseCode.SYSTEM_ERROR, reason)

        def take(frame: Frame | None, _now_ms: int) -> None:
            self._parts.respond(request, lambda: self._derive_reply(client, who, frame))

        self._call(
            client.connection,
            request.frame.code,
            fields,
            body,
            now_ms=request.now_ms,
            timeout_ms=RELAY_LIMIT_MS,
            then=take,
        )
        return None

    def _derive_reply(self, client: ClientInfo, who: str, frame: Frame | None) -> Reply:
        """What the consumer said; why it said nothing otherwise."""
        if frame is not None:
            return Reply(frame.code, frame.remark, frame.extension_fields, frame.body)
        if client.connection in self._peers:
            reason = f"{who} did not answer within {RELAY_LIMIT_MS} ms"
            return refuse(ResponseCode.CONSUME_MSG_TIMEOUT, reason)
        return refuse(ResponseCode.SYSTEM_ERROR, f"{who} left before it answered")
