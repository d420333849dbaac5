"""How large a message may be before a broker refuses to store it.

Topic and properties are limited by the width of their length fields. The whole is limited by a
setting, so that one message cannot fill a file or a reader's memory; what the setting counts
changed between versions.
"""

from enum import Enum
from typing import Final

from spec.rejection import Rejection
from spec.values.units import ByteCount

MESSAGE_SIZE_LIMIT: Final = ByteCount(4 * 1024 * 1024)
"""Apache's default of maxMessageSize."""

EXTRA_SIZE_LIMIT: Final = ByteCount(64 * 1024)
"""What 4.9.5 and later allow for everything but the body."""


class SizeRule(Enum):
    """What the limit is compared with."""

    WHOLE_RECORD = "up to 4.9.4"
    BODY = "from 4.9.5"


def check_size(
    record_size: int,
    body_length: int,
    *,
    limit: ByteCount = MESSAGE_SIZE_LIMIT,
    rule: SizeRule = SizeRule.WHOLE_RECORD,
) -> None:
    """The record may be stored; otherwise a Rejection says what is too large.

    Clause: store.record.size-limit
    """
    match rule:
        case SizeRule.WHOLE_RECORD:
            if record_size > limit:
                raise Rejection("store.record.size-limit", 0, f"{record_size} bytes exceed the limit {limit}")
        case SizeRule.BODY:
            if body_length > limit:
                raise Rejection(
                    "store.record.size-limit", 0, f"a body of {body_length} exceeds {limit} bytes"
                )
            if record_size > limit + EXTRA_SIZE_LIMIT:
                raise Rejection(
                    "store.record.size-limit", 0, f"{record_size} bytes exceed {limit} + {EXTRA_SIZE_LIMIT}"
                )
