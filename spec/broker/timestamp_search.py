"""From a time to an offset: where a group that starts "an hour ago" begins.

The promise: the answer is a message stored near the time that was asked for. How near differs:
Apache 4.9.x returns the nearest message, before or after, the earlier one of two equally near;
5.x returns the first message not older than the time. The difference matters at the end: asked
for a time after everything, 4.9.x answers the last message (it is consumed again), 5.x one past it.

Why it can fail: 4.9.x first chooses an index file by its modification time, which a copy or a
restored backup changes. Store times never decrease within a queue, so the search itself is sound.

What is allowed: of several messages stored in the same millisecond, 4.9.x may answer any.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from spec.values.units import Index, QueueOffset

UNREADABLE: Final = -1
"""The store time of a unit whose message cannot be read; Apache takes every negative one for that."""


def choose_file(modified_at_ms: Sequence[int], timestamp_ms: int) -> Index | None:
    """The index file to search: the first modified at or after the time, else the last; None without files.

    Clause: broker.search.file-by-modification
    """
    for index, modified_ms in enumerate(modified_at_ms):
        if modified_ms >= timestamp_ms:
            return Index(index)
    return Index(len(modified_at_ms) - 1) if modified_at_ms else None


class Neighbours(NamedTuple):
    """What a search that hit nothing exactly has left: the units around the time, None at an edge."""

    left: int | None
    right: int | None


def choose_neighbour(
    around: Neighbours, left_time_ms: int, right_time_ms: int, timestamp_ms: int
) -> int | None:
    """The nearer of the two units, the left one when they are equally near.

    Clauses: broker.search.nearest, broker.search.tie-is-left
    """
    if around.left is None or around.right is None:
        return around.left if around.right is None else around.right
    return around.right if timestamp_ms - left_time_ms > right_time_ms - timestamp_ms else around.left


def search_nearest(times_ms: Sequence[int], timestamp_ms: int, removed_count: int = 0) -> Index | None:
    """The unit of one file that is nearest to the time; None where a store time cannot be read.

    The first `removed_count` units lie below the log's start: they count as too early, and are
    never the answer while another unit is left. In a file without any other unit it is the first.

    Clauses: broker.search.nearest, broker.search.removed-is-left
    """
    low, high = min(removed_count, len(times_ms)), len(times_ms) - 1
    left: int | None = None
    right: int | None = None
    while low <= high:
        middle = (low + high) // 2
        time_ms = times_ms[middle]
        if time_ms <= UNREADABLE:
            return None
        if time_ms == timestamp_ms:
            return Index(middle)
        if time_ms > timestamp_ms:
            high, right = middle - 1, middle
        else:
            low, left = middle + 1, middle
    left_time_ms = 0 if left is None else times_ms[left]
    right_time_ms = 0 if right is None else times_ms[right]
    nearest = choose_neighbour(Neighbours(left, right), left_time_ms, right_time_ms, timestamp_ms)
    return Index(0 if nearest is None else nearest)


def derive_found_offset(file_start: int, unit: int | None) -> QueueOffset:
    """The queue offset of the unit that a search found in a file, 0 of the queue when it broke off.

    `file_start` is the offset of the file's first unit.

    Clause: broker.search.unreadable-is-zero
    """
    return QueueOffset(0 if unit is None else file_start + unit)


def search_lower_bound(times_ms: Sequence[int], timestamp_ms: int) -> Index:
    """The first unit stored at or after the time, one past the last when there is none.

    Clause: broker.search.lower-bound
    """
    low, high = 0, len(times_ms)
    while low < high:
        middle = (low + high) // 2
        if times_ms[middle] < timestamp_ms:
            low = middle + 1
        else:
            high = middle
    return Index(low)
