"""The fields of a pull, of the queries that find a message, and of their answers."""

from dataclasses import field

from spec.values.java_literal import Long
from spec.values.units import CommitLogPosition, Milliseconds, QueueId, QueueOffset
from spec.wire.header.codec import CustomHeader, wire_header, wire_name


@wire_header
class PullMessageHeader(CustomHeader):
    """From where to read, how much, which messages count, how long to wait for the first."""

    consumer_group: str
    topic: str
    queue_id: QueueId
    queue_offset: QueueOffset
    max_msg_nums: int
    sys_flag: int
    commit_offset: QueueOffset
    suspend_timeout_millis: Milliseconds
    sub_version: Long
    subscription: str | None = None
    expression_type: str | None = None


@wire_header
class PullMessageResponseHeader(CustomHeader):
    """Where to go on, the bounds of the queue, and which broker to ask next time."""

    suggest_which_broker_id: Long
    next_begin_offset: QueueOffset
    min_offset: QueueOffset
    max_offset: QueueOffset


@wire_header
class ViewMessageHeader(CustomHeader):
    """A message by its place in the commit log."""

    offset: CommitLogPosition


@wire_header
class QueryMessageHeader(CustomHeader):
    """Messages by key, or by unique id when the extra mark says so.

    Clause: wire.header-fields.unique-key-mark
    """

    topic: str
    key: str
    max_num: int
    begin_timestamp: Milliseconds
    end_timestamp: Milliseconds
    is_unique_key: bool = field(default=False, metadata=wire_name("_UNIQUE_KEY_QUERY"))


@wire_header
class QueryMessageResponseHeader(CustomHeader):
    """How far the key index has come."""

    index_last_update_timestamp: Milliseconds
    index_last_update_phyoffset: CommitLogPosition
