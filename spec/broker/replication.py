"""Replication: a slave asks for log bytes by their position, a master sends them in order.

The promise: a slave's log is a prefix of its master's. The slave reports how far it has come, the
master sends from there, and a frame that does not continue the slave's log ends the connection.

Why it can fail: the port takes bytes from anybody. A report beyond the master's own end would
release producers that wait for a replica although no replica has their messages; it is refused.
A slave that starts empty begins with the master's current file, not with the oldest one.

What is allowed: a synchronous master without a slave close enough answers at once that none is
available; the message is stored all the same.
"""

from typing import Final, NamedTuple

from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds

FRAME_BODY_LIMIT: Final = ByteCount(32_768)
"""Apache's `haTransferBatchSize`."""

LAG_LIMIT: Final = ByteCount(256 * 1024 * 1024)
"""Apache's `haSlaveFallbehindMax`."""

SILENCE_LIMIT_MS: Final = Milliseconds(20_000)
"""Apache's `haHousekeepingInterval`: a connection without traffic for longer is closed."""

HEARTBEAT_MS: Final = Milliseconds(5_000)
"""Apache's `haSendHeartbeatInterval`."""


def derive_first_position(reported: int, current_file_start: int) -> CommitLogPosition:
    """Where sending begins: where the slave ends, or with the current file for an empty slave.

    Clause: broker.replication.empty-slave-starts-at-current-file
    """
    return CommitLogPosition(current_file_start if reported == 0 else reported)


def is_report_credible(reported: int, master_end: int) -> bool:
    """Whether a slave can have come as far as it says: not beyond what the master has written.

    Clause: broker.replication.report-within-log
    """
    return 0 <= reported <= master_end


def check_report(reported: int, master_end: int) -> CommitLogPosition:
    """The position a slave reports; refused (and the connection closed) when it is not credible."""
    if not is_report_credible(reported, master_end):
        reason = f"a slave reports {reported}, but the master's log ends at {master_end}"
        raise Rejection("broker.replication.report-within-log", 0, reason)
    return CommitLogPosition(reported)


def derive_frame_size(position: int, master_end: int, file_bytes: int) -> ByteCount:
    """How many bytes the next frame carries: to the log's end, within the limit, within one file.

    Clause: broker.replication.frame-size
    """
    to_file_end = file_bytes - position % file_bytes
    return ByteCount(max(0, min(FRAME_BODY_LIMIT, master_end - position, to_file_end)))


class Frame(NamedTuple):
    """The head of what a master sends; size 0 is a heartbeat."""

    position: int
    size: int


def is_continuation(frame: Frame, slave_end: int) -> bool:
    """Whether a frame begins where the slave's log ends; an empty slave takes any beginning.

    Clause: broker.replication.frame-continues-log
    """
    return frame.size >= 0 and frame.position >= 0 and slave_end in (0, frame.position)


def check_frame(frame: Frame, slave_end: int) -> CommitLogPosition:
    """The slave's log end after the frame; refused when the frame does not continue its log."""
    if not is_continuation(frame, slave_end):
        reason = f"{frame.size} bytes at {frame.position} do not continue a log that ends at {slave_end}"
        raise Rejection("broker.replication.frame-continues-log", 0, reason)
    return CommitLogPosition(frame.position + frame.size)


def is_slave_available(master_end: int, acknowledged: int, connection_count: int) -> bool:
    """Whether a synchronous master waits for a replica; otherwise it answers SLAVE_NOT_AVAILABLE.

    Clause: broker.replication.slave-available
    """
    return connection_count > 0 and master_end - acknowledged < LAG_LIMIT


def is_replicated(message_end: int, acknowledged: int) -> bool:
    """Whether the replica that is furthest has the whole message."""
    return acknowledged >= message_end
