"""Theorems on replication: a slave's log is a prefix, and frames make progress."""

from spec.broker.replication import (
    FRAME_BODY_LIMIT,
    Frame,
    derive_frame_size,
    is_continuation,
    is_report_credible,
    is_slave_available,
)


def report_beyond_the_log_is_refused(reported: int, master_end: int) -> bool:
    """A report is believed exactly when the master has written that far.

    clause: broker.replication.report-within-log
    pre: -10 <= reported <= 10**15
    pre: 0 <= master_end <= 10**15
    post: __return__
    """
    return is_report_credible(reported, master_end) == (reported >= 0 and master_end - reported >= 0)


def frame_makes_progress_within_its_limits(position: int, behind: int, file_bytes: int) -> bool:
    """While a slave is behind, a frame carries at least one byte, no more than allowed, of one file.

    clause: broker.replication.frame-size
    pre: 0 <= position <= 10**6
    pre: 0 <= behind <= 10**6
    pre: 1 <= file_bytes <= 64
    post: __return__
    """
    size = derive_frame_size(position, position + behind, file_bytes)
    is_within = size <= min(FRAME_BODY_LIMIT, behind, file_bytes - position % file_bytes)
    return is_within and (size > 0) == (behind > 0)


def slave_log_has_no_hole(slave_end: int, position: int, size: int) -> bool:
    """A slave that has data takes only a frame that begins where its log ends.

    clause: broker.replication.frame-continues-log
    pre: 1 <= slave_end <= 10**15
    pre: 0 <= position <= 10**15
    pre: 0 <= size <= 32768
    post: __return__
    """
    return is_continuation(Frame(position, size), slave_end) == (position == slave_end)


def no_connection_means_no_replica(master_end: int, acknowledged: int) -> bool:
    """Without a connected slave nobody waits for one.

    clause: broker.replication.slave-available
    pre: 0 <= acknowledged <= master_end <= 10**15
    post: __return__
    """
    return not is_slave_available(master_end, acknowledged, 0)
