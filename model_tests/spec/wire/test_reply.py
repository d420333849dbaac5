"""What a server answers before any handler is asked."""

import pytest

from spec.wire.frame import Frame
from spec.wire.language import Language
from spec.wire.remoting_header import Serialization
from spec.wire.reply import (
    BusyReason,
    ReplyFormat,
    RequestQueue,
    derive_busy_reply,
    derive_failure_reply,
    derive_reply,
    derive_reply_serialization,
    derive_unknown_code_reply,
    is_reply_due,
    is_success,
    is_wait_over,
)

REQUEST = Frame(9999, Language.CPP, 63, 7, serialization=Serialization.ROCKETMQ, body=b"question")
REPLY = Frame(0, Language.PYTHON, 399, 7, 1, serialization=Serialization.ROCKETMQ)


@pytest.mark.clause("wire.reply.one-answer")
def test_a_reply_carries_the_opaque_of_its_request_and_the_servers_own_sender_fields() -> None:
    assert derive_reply(REQUEST, 0) == REPLY
    full = derive_reply(REQUEST, 22, remark="none", extension_fields={"a": "b"}, body=b"answer")
    assert full == REPLY._replace(code=22, remark="none", extension_fields={"a": "b"}, body=b"answer")


@pytest.mark.clause("wire.reply.oneway-silent", "wire.reply.one-answer")
def test_requests_are_answered_and_oneway_requests_and_responses_are_not() -> None:
    assert [is_reply_due(flag) for flag in (0, 1, 2, 3)] == [True, False, False, False]
    busy = [is_reply_due(flag, is_busy_reject=True, answer_busy_oneway=True) for flag in (0, 1, 2, 3)]
    assert busy == [True, False, True, False]
    assert not is_reply_due(2, is_busy_reject=True)
    assert not is_reply_due(2, answer_busy_oneway=True)


@pytest.mark.clause("wire.reply.unknown-code")
def test_an_unknown_code_is_answered_unless_the_server_is_an_old_name_server() -> None:
    expected = REPLY._replace(code=3, remark=" request type 9999 not supported")
    assert derive_unknown_code_reply(REQUEST) == expected
    assert derive_unknown_code_reply(REQUEST, is_silent=True) is None
    assert derive_unknown_code_reply(REQUEST._replace(flag=2)) is None


@pytest.mark.clause("wire.reply.handler-failure", "wire.reply.busy")
def test_failure_and_overload_are_told_in_code_and_remark() -> None:
    assert derive_failure_reply(REQUEST, "why") == REPLY._replace(code=1, remark="why")
    words = [derive_busy_reply(REQUEST, reason, "!").remark for reason in BusyReason]
    assert words == [
        "[REJECTREQUEST]!",
        "[OVERLOAD]!",
        "[TIMEOUT_CLEAN_QUEUE]!",
        "[PCBUSY_CLEAN_QUEUE]!",
    ]
    assert derive_busy_reply(REQUEST, BusyReason.REJECTED, "").code == 2


@pytest.mark.clause("wire.reply.queue-wait")
@pytest.mark.parametrize(
    ("queue", "limit_ms"),
    [
        (RequestQueue.SEND, 200),
        (RequestQueue.TRANSACTION, 3_000),
        (RequestQueue.PULL, 5_000),
        (RequestQueue.HEARTBEAT, 31_000),
    ],
)
def test_a_request_waits_no_longer_than_its_queue_allows(queue: RequestQueue, limit_ms: int) -> None:
    assert not is_wait_over(queue, 50, 50 + limit_ms - 1)
    assert is_wait_over(queue, 50, 50 + limit_ms)


@pytest.mark.clause("wire.reply.format", "wire.reply.remark-is-no-failure")
def test_the_format_follows_the_request_or_the_setting_and_success_is_the_code() -> None:
    json, binary = Serialization.JSON, Serialization.ROCKETMQ
    assert [derive_reply_serialization(one) for one in (json, binary)] == [json, binary]
    configured = [
        derive_reply_serialization(request, own, reply_format=ReplyFormat.CONFIGURED)
        for request in (json, binary)
        for own in (json, binary)
    ]
    assert configured == [json, binary, json, binary]
    assert [is_success(code) for code in (0, 1, 19)] == [True, False, False]
