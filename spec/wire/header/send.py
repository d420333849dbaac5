"""The fields of a send, and of its answer.

A send travels under long names (10, 324) or under the letters a to n (310, 320, 325), which
save bytes on the busiest operation; both spell this one record. Whether the body is one message
or a batch is said by `batch`, not by the request code. The answer names where the message
went; two marks for tracing, the region and whether tracing is on, ride along even on errors.
"""

from dataclasses import field

from spec.values.units import Milliseconds, QueueId, QueueOffset
from spec.wire.header.codec import CustomHeader, HeaderCodec, Spelling, wire_header, wire_name


@wire_header
class SendMessageHeader(CustomHeader):
    """What a producer says about a message.

    Clauses: wire.header-fields.short-names, wire.header-fields.batch-field-decides
    """

    producer_group: str = field(metadata=wire_name(short="a"))
    topic: str = field(metadata=wire_name(short="b"))
    default_topic: str = field(metadata=wire_name(short="c"))
    default_topic_queue_nums: int = field(metadata=wire_name(short="d"))
    queue_id: QueueId = field(metadata=wire_name(short="e"))
    sys_flag: int = field(metadata=wire_name(short="f"))
    born_timestamp: Milliseconds = field(metadata=wire_name(short="g"))
    flag: int = field(metadata=wire_name(short="h"))
    properties: str | None = field(default=None, metadata=wire_name(short="i"))
    reconsume_times: int | None = field(default=None, metadata=wire_name(short="j"))
    unit_mode: bool = field(default=False, metadata=wire_name(short="k"))
    max_reconsume_times: int | None = field(default=None, metadata=wire_name(short="l"))
    batch: bool = field(default=False, metadata=wire_name(short="m"))
    broker_name: str | None = field(default=None, metadata=wire_name("bname", short="n"))


SEND_LONG = HeaderCodec(SendMessageHeader)
SEND_SHORT = HeaderCodec(SendMessageHeader, Spelling.SHORT)


@wire_header
class ReplyMessageHeader(CustomHeader):
    """What a broker says about a reply that it pushes to the client that asked."""

    producer_group: str
    topic: str
    default_topic: str
    default_topic_queue_nums: int
    queue_id: QueueId
    sys_flag: int
    born_timestamp: Milliseconds
    flag: int
    born_host: str
    store_host: str
    store_timestamp: Milliseconds
    properties: str | None = None
    reconsume_times: int | None = None
    unit_mode: bool = False


@wire_header
class SendMessageResponseHeader(CustomHeader):
    """Where the message is; `queue_offset` is that of the first message of a batch.

    Clause: wire.header-fields.send-answer
    """

    msg_id: str
    queue_id: QueueId
    queue_offset: QueueOffset
    transaction_id: str | None = None
    region: str | None = field(default=None, metadata=wire_name("MSG_REGION"))
    is_trace_on: bool | None = field(default=None, metadata=wire_name("TRACE_ON"))


@wire_header
class SendRefusalHeader(CustomHeader):
    """What remains of the answer when the message was not stored: the marks for tracing.

    Clause: wire.header-fields.send-answer
    """

    region: str | None = field(default=None, metadata=wire_name("MSG_REGION"))
    is_trace_on: bool | None = field(default=None, metadata=wire_name("TRACE_ON"))
