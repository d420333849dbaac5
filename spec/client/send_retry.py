"""When a send is tried again, and what a finished send means.

A send that failed on the way may or may not have been stored: trying again can store it twice, and
giving up can leave it stored. A synchronous send tries three times in all, within one time limit
for the whole call. It tries again after any failure on the way, and after those answers that another
broker might not give; "busy" is not among them. An asynchronous send tries again only after
failures on the way. The answers 10, 11 and 12 are not failures: the message is stored, only less
safely than asked.
"""

from enum import Enum
from typing import Final

from spec.wire.code import ResponseCode

SYNC_RETRIES: Final = 2
"""Apache's `retryTimesWhenSendFailed`: tries after the first."""

SEND_TIMEOUT_MS: Final = 3000

COMPRESS_FROM_BYTES: Final = 4096
"""Apache compresses bodies of this size or more; never batches."""

RETRYABLE_CODES: Final = frozenset(
    {
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.NO_PERMISSION,
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.NO_BUYER_ID,
        ResponseCode.NOT_IN_CURRENT_UNIT,
    }
)
"""Apache's `retryResponseCodes`."""


class SendMode(Enum):
    """How the caller waits."""

    SYNC = "sync"
    ASYNC = "async"
    ONE_WAY = "one way"


class SendStatus(Enum):
    """How safely a message was stored."""

    OK = ResponseCode.SUCCESS
    FLUSH_DISK_TIMEOUT = ResponseCode.FLUSH_DISK_TIMEOUT
    SLAVE_NOT_AVAILABLE = ResponseCode.SLAVE_NOT_AVAILABLE
    FLUSH_SLAVE_TIMEOUT = ResponseCode.FLUSH_SLAVE_TIMEOUT


def classify_send_code(code: int) -> SendStatus | None:
    """How an answered send ended; None if the broker refused it.

    Clause: client.producer.stored-is-not-failed
    """
    return next((status for status in SendStatus if status.value == code), None)


def is_tried_again(
    mode: SendMode, code: int | None, tries: int, elapsed_ms: int, *, retries: int = SYNC_RETRIES
) -> bool:
    """Whether a failed send is tried again; `code` is None if it failed on the way.

    Clauses: client.producer.retryable-codes, client.producer.try-limit, client.producer.whole-call-timeout
    """
    if tries > retries or elapsed_ms > SEND_TIMEOUT_MS or mode is SendMode.ONE_WAY:
        return False
    if code is None:
        return True
    return mode is SendMode.SYNC and code in RETRYABLE_CODES


def is_compressed(body_length: int, *, is_batch: bool, from_bytes: int = COMPRESS_FROM_BYTES) -> bool:
    """Whether the producer compresses the body.

    Clause: client.producer.compression-from
    """
    return not is_batch and body_length >= from_bytes
