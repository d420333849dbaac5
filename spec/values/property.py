"""The property string: a message's named values as one text.

    name 0x01 value 0x02 name 0x01 value

Apache versions disagree on whether a separator follows the last value: it is absent from 4.9.1
to 5.1.x and present before and after, so a reader accepts both. A reader also has to survive
what writers really produce: pieces too short to hold anything, and names that occur twice
(a stored batch message carries `WAIT` twice). The order of the entries is that of a Java hash
map and means nothing; property strings are compared as maps, never as bytes.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from spec.rejection import Rejection

NAME_END: Final = "\x01"
ENTRY_END: Final = "\x02"
SHORTEST_ENTRY: Final = 3
"""One character of name, the separator, one character of value."""

PROPERTY_BYTES_LIMIT: Final = 32_767
"""Largest property string of a record: its length field is a signed 16-bit integer."""

KEYS: Final = "KEYS"
TAGS: Final = "TAGS"
WAIT: Final = "WAIT"
DELAY: Final = "DELAY"
RETRY_TOPIC: Final = "RETRY_TOPIC"
REAL_TOPIC: Final = "REAL_TOPIC"
REAL_QUEUE_ID: Final = "REAL_QID"
TRANSACTION_PREPARED: Final = "TRAN_MSG"
PRODUCER_GROUP: Final = "PGROUP"
UNIQUE_KEY: Final = "UNIQ_KEY"
CLUSTER: Final = "CLUSTER"
MIN_OFFSET: Final = "MIN_OFFSET"
MAX_OFFSET: Final = "MAX_OFFSET"
CONSUME_START_TIME: Final = "CONSUME_START_TIME"
ORIGIN_MESSAGE_ID: Final = "ORIGIN_MESSAGE_ID"
RECONSUME_TIME: Final = "RECONSUME_TIME"
MAX_RECONSUME_TIMES: Final = "MAX_RECONSUME_TIMES"
TRANSACTION_CHECK_TIMES: Final = "TRANSACTION_CHECK_TIMES"
TRANSACTION_PREPARED_QUEUE_OFFSET: Final = "TRAN_PREPARED_QUEUE_OFFSET"
CHECK_IMMUNITY_TIME_IN_SECONDS: Final = "CHECK_IMMUNITY_TIME_IN_SECONDS"
MESSAGE_REGION: Final = "MSG_REGION"
TRACE_ON: Final = "TRACE_ON"
INSTANCE_ID: Final = "INSTANCE_ID"
MESSAGE_TYPE: Final = "MSG_TYPE"
CORRELATION_ID: Final = "CORRELATION_ID"
REPLY_TO_CLIENT: Final = "REPLY_TO_CLIENT"
TIME_TO_LIVE: Final = "TTL"
ARRIVE_TIME: Final = "ARRIVE_TIME"
PUSH_REPLY_TIME: Final = "PUSH_REPLY_TIME"

RESERVED_NAMES: Final = frozenset(
    {
        *(KEYS, TAGS, WAIT, DELAY, RETRY_TOPIC, REAL_TOPIC, REAL_QUEUE_ID, TRANSACTION_PREPARED),
        *(PRODUCER_GROUP, UNIQUE_KEY, CLUSTER, MIN_OFFSET, MAX_OFFSET, CONSUME_START_TIME),
        *(ORIGIN_MESSAGE_ID, RECONSUME_TIME, MAX_RECONSUME_TIMES, TRANSACTION_CHECK_TIMES),
        *(TRANSACTION_PREPARED_QUEUE_OFFSET, CHECK_IMMUNITY_TIME_IN_SECONDS, MESSAGE_REGION),
        *(TRACE_ON, INSTANCE_ID, MESSAGE_TYPE, CORRELATION_ID, REPLY_TO_CLIENT, TIME_TO_LIVE),
        *(ARRIVE_TIME, PUSH_REPLY_TIME, "BUYER_ID", "TRANSFER_FLAG", "CORRECTION_FLAG", "MQ2_FLAG"),
        *("INNER_MULTI_DISPATCH", "INNER_MULTI_QUEUE_OFFSET"),
    }
)
"""Names that user code may not set: they are the protocol's."""


class LastSeparator(Enum):
    """Whether a separator stands behind the last value."""

    ABSENT = "4.9.1 to 5.1"
    PRESENT = "up to 4.9.0, and from 5.2"


def decode_properties(text: str) -> dict[str, str]:
    """The properties in a property string; never refuses.

    Pieces that are too short, or lack a name or a value, are left out; of two entries with one
    name the later counts.

    Clauses: store.property.parse-rule, store.property.last-separator, store.property.later-wins
    """
    properties: dict[str, str] = {}
    for piece in text.split(ENTRY_END):
        if len(piece) >= SHORTEST_ENTRY:
            name, _, value = piece.partition(NAME_END)
            if name and value:
                properties[name] = value
    return properties


def encode_properties(
    properties: Mapping[str, str], *, last_separator: LastSeparator = LastSeparator.ABSENT
) -> str:
    """The property string that reads back as the same properties.

    Entries that a reader would drop (no name, no value) are not written. A separator inside a
    name, or an entry separator inside a value, would change the meaning and is refused.

    Clauses: store.property.parse-rule, store.property.no-separator-inside
    """
    entries: list[str] = []
    for name, value in properties.items():
        if NAME_END in name or ENTRY_END in name or ENTRY_END in value:
            raise Rejection(
                "store.property.no-separator-inside", len(entries), f"property {name!r} contains a separator"
            )
        if name and value:
            entries.append(f"{name}{NAME_END}{value}")
    end = ENTRY_END if entries and last_separator is LastSeparator.PRESENT else ""
    return ENTRY_END.join(entries) + end


def split_keys(keys: str) -> tuple[str, ...]:
    """The index keys in the value of `KEYS`: split at single spaces, empty pieces left out.

    Clause: store.index.keys-of-a-message
    """
    return tuple([key for key in keys.split(" ") if key]) if keys else ()
