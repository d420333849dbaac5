"""Putting back a half message that was given up, so that its producer is asked again."""

from collections.abc import Mapping
from functools import partial

from refimpl.broker.half_store import HALF_QUEUE
from refimpl.broker.intake import is_stored
from refimpl.broker.parts import BrokerParts
from refimpl.broker.renewal import renew
from refimpl.remoting.request import OK, Handler, Reply, Request, refuse
from refimpl.store.message_store import Appended
from spec.broker.send import PutStatus, derive_code
from spec.values.message_id import decode_message_id
from spec.values.name import CHECK_EXCEEDED_TOPIC, HALF_TOPIC
from spec.values.property import REAL_TOPIC, TRANSACTION_CHECK_TIMES, encode_properties
from spec.wire.code import RequestCode, ResponseCode
from spec.wire.header.transaction import ResumeCheckHeader


class ResumeCheckDesk:
    """Takes the wishes of administrators."""

    def __init__(self, parts: BrokerParts) -> None:
        self._parts = parts

    def handlers(self) -> Mapping[int, Handler]:
        """By request code."""
        return {RequestCode.RESUME_CHECK_HALF_MESSAGE: self.on_resume}

    def on_resume(self, request: Request) -> Reply | None:
        """The half message is on its way back, with no checks counted; its age stays what it is."""
        header = request.header(ResumeCheckHeader)
        position = decode_message_id(header.msg_id or "").position
        stored = self._parts.store.query.by_position(position)
        properties = {} if stored is None else stored.properties()
        if stored is None or stored.topic != CHECK_EXCEEDED_TOPIC or REAL_TOPIC not in properties:
            reason = f"no half message of {CHECK_EXCEEDED_TOPIC} has the id {header.msg_id}"
            return refuse(ResponseCode.SYSTEM_ERROR, reason)
        text = encode_properties({**properties, TRANSACTION_CHECK_TIMES: "0"})
        half = renew(stored, HALF_TOPIC, HALF_QUEUE, text)
        # A batch is stored as it is, whatever delay the message names.
        self._parts.intake.put_batch((half,), request.now_ms, partial(self._on_stored, request))
        return None

    def _on_stored(self, request: Request, status: PutStatus, appended: Appended, now_ms: int) -> None:
        del now_ms
        if is_stored(status):
            self._parts.answer(request, OK)
        else:
            self._parts.answer(request, refuse(derive_code(status), appended.detail or status.value))
