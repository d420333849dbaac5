"""Recovery: the safe time, where reading begins, which units stay."""

from spec.layout.checkpoint import Checkpoint, derive_safe_time
from spec.layout.consume_queue import Unit
from spec.layout.stored_message import Magic
from spec.recovery.log_start import FileHead, derive_clean_start, derive_crash_start, is_safe_start
from spec.recovery.log_walk import derive_stale_tail
from spec.recovery.queue import QueueContent, cut_queue, derive_min_offset
from spec.values.units import ByteCount, CommitLogPosition, Milliseconds, QueueOffset, TagCode


def safe_time_is_before_every_checkpoint_time(log_ms: int, queues_ms: int, index_ms: int) -> bool:
    """The safe time is three seconds before log and queues, and not behind the index where it counts.

    clause: store.checkpoint.safe-time
    pre: 0 <= log_ms < 2**62
    pre: 0 <= queues_ms < 2**62
    pre: 0 <= index_ms < 2**62
    post: __return__
    """
    checkpoint = Checkpoint(Milliseconds(log_ms), Milliseconds(queues_ms), Milliseconds(index_ms))
    safe, with_index = derive_safe_time(checkpoint), derive_safe_time(checkpoint, counts_index=True)
    return safe == max(0, min(log_ms, queues_ms) - 3000) and with_index == min(safe, index_ms)


def crash_start_leaves_no_unsafe_file_out(first: int, second: int, third: int, safe_ms: int) -> bool:
    """Every file behind the start is unsafe, and the start is safe unless it is the first.

    clause: recovery.start.crash
    pre: 0 <= first <= second <= third < 2**40
    pre: 0 <= safe_ms < 2**40
    post: __return__
    """
    times = (first, second, third)
    heads = [FileHead(Magic.MESSAGE, Milliseconds(time)) for time in times]
    start = derive_crash_start(heads, safe_ms)
    later = all(not is_safe_start(Magic.MESSAGE, time, safe_ms) for time in times[start + 1 :])
    return later and (start == 0 or is_safe_start(Magic.MESSAGE, times[start], safe_ms))


def clean_start_rereads_at_most_three_files(file_count: int) -> bool:
    """The last three files are read again, or all if there are fewer.

    clause: recovery.start.clean-stop
    pre: 1 <= file_count < 2**31
    post: __return__
    """
    start = derive_clean_start(file_count)
    return 0 <= start < file_count and file_count - start == min(3, file_count)


def cut_queue_points_before_the_cut(first: int, second: int, third: int, position: int) -> bool:
    """What is kept is a prefix, all of it before the cut, and it is as long as it can be.

    clause: recovery.queue.cut-with-the-log
    pre: 0 <= first < 2**40
    pre: 0 <= second < 2**40
    pre: 0 <= third < 2**40
    pre: 0 <= position < 2**40
    post: __return__
    """
    positions = (first, second, third)
    units = tuple(Unit(CommitLogPosition(at), ByteCount(91), TagCode(0)) for at in positions)
    kept = cut_queue(QueueContent(QueueOffset(5), units), position).units
    whole = kept == units[: len(kept)] and all(unit.position < position for unit in kept)
    return whole and (len(kept) == 3 or positions[len(kept)] >= position)


def min_offset_is_the_first_message_in_the_log(first: int, second: int, log_min: int) -> bool:
    """Below the minimum no message is in the log, and at it there is one, or the queue ends.

    clause: recovery.queue.min-offset
    pre: 0 <= first < second < 2**40
    pre: 0 <= log_min < 2**40
    post: __return__
    """
    units = tuple(Unit(CommitLogPosition(at), ByteCount(91), TagCode(0)) for at in (first, second))
    low = derive_min_offset(QueueContent(QueueOffset(5), units), log_min)
    below = all(unit.position < log_min for unit in units[: low - 5])
    return 5 <= low <= 7 and below and all(unit.position >= log_min for unit in units[low - 5 :])


def stale_tail_ends_with_the_file(end: int, file_size: int) -> bool:
    """The bytes to be zeroed reach from the end of the log to the end of its file, never further.

    clause: recovery.log.tail-is-zeroed
    pre: 0 <= end < 2**20
    pre: 1 <= file_size <= 4
    post: __return__
    """
    tail = derive_stale_tail(end, file_size)
    return 0 <= tail < file_size and (end + tail) % file_size == 0
