"""What a server answers before any handler has had a say.

Every request that is not oneway gets exactly one response, with the request's opaque. That holds
when nobody knows the code, when the handler failed and when the server is too busy to call it. The
one exception is history: a 4.9 name server does not answer an unknown code at all, and the caller
learns nothing until its own timeout.

Whether a call succeeded stands in the code alone. Apache starts every response with an error text
in its remark, some handlers succeed without taking it away, and pull replies always carry one.
"""

from enum import Enum

from spec.values.units import Milliseconds
from spec.wire.code import ResponseCode
from spec.wire.frame import Frame
from spec.wire.language import Language
from spec.wire.remoting_header import RESPONSE_BIT, Serialization, is_oneway, is_response
from spec.wire.version import REFERENCE_VERSION


class ReplyFormat(Enum):
    """How a server chooses the format of a response's header."""

    MIRRORED = "as the request"
    """4.9.4 to 4.9.8, and this reference: who writes a format can read it."""

    CONFIGURED = "as the server is set"
    """4.9.3 and 5.3.3."""


class BusyReason(Enum):
    """Why a busy server gave up on a request: the word that opens the remark of SYSTEM_BUSY."""

    REJECTED = "[REJECTREQUEST]"
    OVERLOADED = "[OVERLOAD]"
    WAITED_TOO_LONG = "[TIMEOUT_CLEAN_QUEUE]"
    PAGE_CACHE_BUSY = "[PCBUSY_CLEAN_QUEUE]"


class RequestQueue(Enum):
    """The queues of a broker and how long a request may wait in each, by Apache's `BrokerConfig`."""

    SEND = Milliseconds(200)
    TRANSACTION = Milliseconds(3_000)
    PULL = Milliseconds(5_000)
    HEARTBEAT = Milliseconds(31_000)


def derive_reply_serialization(
    request: Serialization,
    configured: Serialization = Serialization.JSON,
    *,
    reply_format: ReplyFormat = ReplyFormat.MIRRORED,
) -> Serialization:
    """The format of the response's header.

    Clause: wire.reply.format
    """
    match reply_format:
        case ReplyFormat.MIRRORED:
            return request
        case ReplyFormat.CONFIGURED:
            return configured


def is_reply_due(
    request_flag: int, *, is_busy_reject: bool = False, answer_busy_oneway: bool = False
) -> bool:
    """Whether a frame with this flag gets a response.

    With `answer_busy_oneway` a busy broker answers even a oneway request, as 4.9.x does.

    Clauses: wire.reply.oneway-silent, wire.reply.one-answer
    """
    if is_response(request_flag):
        return False
    return not is_oneway(request_flag) or (is_busy_reject and answer_busy_oneway)


def derive_reply(
    request: Frame,
    code: int,
    *,
    remark: str | None = None,
    extension_fields: dict[str, str] | None = None,
    body: bytes = b"",
) -> Frame:
    """The response to a request: its opaque, the response bit, the server's own language and version.

    Clauses: wire.reply.one-answer, wire.header.response-bit
    """
    return Frame(
        code,
        Language.PYTHON,
        REFERENCE_VERSION,
        request.opaque,
        RESPONSE_BIT,
        remark,
        extension_fields,
        derive_reply_serialization(request.serialization),
        body,
    )


def derive_unknown_code_reply(request: Frame, *, is_silent: bool = False) -> Frame | None:
    """The response to a code that nobody handles; None from a server that keeps silent.

    `is_silent` is a 4.9 name server.

    Clause: wire.reply.unknown-code
    """
    if is_silent or not is_reply_due(request.flag):
        return None
    remark = f" request type {int(request.code)} not supported"
    return derive_reply(request, ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark=remark)


def derive_failure_reply(request: Frame, error: str) -> Frame:
    """The response when the handler failed: SYSTEM_ERROR, the error in the remark.

    Clause: wire.reply.handler-failure
    """
    return derive_reply(request, ResponseCode.SYSTEM_ERROR, remark=error)


def derive_busy_reply(request: Frame, reason: BusyReason, detail: str) -> Frame:
    """The response of a server that is too busy: SYSTEM_BUSY, the remark opens with the reason.

    Clause: wire.reply.busy
    """
    return derive_reply(request, ResponseCode.SYSTEM_BUSY, remark=reason.value + detail)


def is_wait_over(queue: RequestQueue, queued_at_ms: int, now_ms: int) -> bool:
    """Whether a request has waited so long that it is answered with busy in place of being handled.

    Clause: wire.reply.queue-wait
    """
    return now_ms - queued_at_ms >= queue.value


def is_success(code: int) -> bool:
    """Whether a response reports success; its remark has no part in it.

    Clause: wire.reply.remark-is-no-failure
    """
    return code == ResponseCode.SUCCESS
