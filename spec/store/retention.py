"""Retention: which files are removed, when, and what happens when the disk fills up all the same.

Messages are kept for a time, not until they are read. The promise is that a message stays for at
least the reserved time; it is given up only when the disk is nearly full, because a full disk
would stop every producer. Files go whole and from the oldest on, so what is left of the log has no
hole. Queues and indexes follow: one of their files goes when everything it leads to is gone.

It can fail when the age is taken from the wrong place: it is the time of the last write to the
file, so a copied directory starts its time anew. And the last file of every sequence stays, however
old it is: it is being written, and its name alone says how far the sequence has come.

What is allowed: removing later, or fewer files at once.
"""

from collections.abc import Collection, Sequence
from enum import Enum
from typing import Final

from spec.rejection import Rejection
from spec.values.java_literal import decode_int32
from spec.values.units import Count, Milliseconds

RESERVED_MS: Final = Milliseconds(72 * 60 * 60 * 1000)
"""Apache's default of fileReservedTime."""

DELETE_HOURS: Final = (4,)
"""Apache's default of deleteWhen: local hours in which files are removed."""

INTERVAL_MS: Final = Milliseconds(10_000)
"""Apache's default of cleanResourceInterval."""

FIRST_MS: Final = Milliseconds(60_000)
"""How long after its start Apache looks for the first time."""

FILES_PER_RUN: Final = Count(10)
"""Apache's DELETE_FILES_BATCH_MAX."""

MANUAL_ROUNDS: Final = Count(20)
"""For how many rounds a request to remove files now holds: Apache's MAX_MANUAL_DELETE_FILE_TIMES."""

CLEAN_RATIO: Final = 0.75
"""Apache's default of diskMaxUsedSpaceRatio."""

FORCE_RATIO: Final = 0.85
"""Apache's default of rocketmq.broker.diskSpaceCleanForciblyRatio."""

REFUSE_RATIO: Final = 0.90
"""Apache's default of rocketmq.broker.diskSpaceWarningLevelRatio."""

_HOURS: Final = range(24)


class DiskPressure(Enum):
    """How full the disk is, by what follows from it."""

    NORMAL = "files are removed in the configured hours"
    CLEAN = "expired files are removed at any hour"
    FORCE = "files are removed whatever their age"
    REFUSE = "as before, and no message is taken"


def parse_delete_hours(text: str) -> tuple[int, ...]:
    """The hours of a setting such as `04;16`; refuses what is not an hour of the day.

    Apache fails at every round instead, and removes nothing until the disk is full.

    Clause: store.retention.hours
    """
    hours: list[int] = []
    for piece in text.rstrip(";").split(";"):
        try:
            hour = decode_int32(piece)
        except Rejection:
            hour = -1
        if hour not in _HOURS:
            raise Rejection("store.retention.hours", 0, f"{piece!r} in {text!r} is not an hour, 0 to 23")
        hours.append(hour)
    return tuple(hours)


def derive_pressure(ratio: float) -> DiskPressure:
    """What the used share of the disk asks for.

    Clause: store.retention.pressure
    """
    if ratio > REFUSE_RATIO:
        return DiskPressure.REFUSE
    if ratio > FORCE_RATIO:
        return DiskPressure.FORCE
    return DiskPressure.CLEAN if ratio > CLEAN_RATIO else DiskPressure.NORMAL


def is_writable(pressure: DiskPressure) -> bool:
    """Whether the store takes messages.

    Clause: store.retention.full-disk-refuses
    """
    return pressure is not DiskPressure.REFUSE


def is_cleaning_due(
    hour: int, delete_hours: Collection[int], pressure: DiskPressure, manual_rounds: int
) -> bool:
    """Whether a round removes log files: in its hours, for want of space, or because somebody asked.

    Clause: store.retention.when
    """
    return hour in delete_hours or pressure is not DiskPressure.NORMAL or manual_rounds > 0


def is_log_file_expired(
    modified_ms: int,
    now_ms: int,
    reserved_ms: int,
    pressure: DiskPressure,
    *,
    is_forced_allowed: bool = True,
) -> bool:
    """Whether a log file goes; `is_forced_allowed` is Apache's cleanFileForciblyEnable.

    Clause: store.retention.age
    """
    is_forced = is_forced_allowed and pressure in (DiskPressure.FORCE, DiskPressure.REFUSE)
    return is_forced or now_ms - modified_ms >= reserved_ms


def count_expired(
    modified_ms: Sequence[int],
    now_ms: int,
    *,
    reserved_ms: int,
    pressure: DiskPressure,
    is_forced_allowed: bool = True,
    limit: int = FILES_PER_RUN,
) -> Count:
    """How many log files a round removes, from the oldest on; the last one stays.

    Clauses: store.retention.oldest-first, store.retention.age
    """
    count = 0
    for modified in modified_ms[:-1][:limit]:
        if not is_log_file_expired(
            modified, now_ms, reserved_ms, pressure, is_forced_allowed=is_forced_allowed
        ):
            break
        count += 1
    return Count(count)


def is_queue_file_expired(last_unit_position: int, log_min: int) -> bool:
    """Whether all that a queue file leads to is gone: its last unit points before the log.

    Clause: store.retention.derived-files-follow
    """
    return last_unit_position < log_min


def count_expired_queue_files(last_positions: Sequence[int], log_min: int) -> Count:
    """How many files of a queue go, by the log position in the last unit of each; the last one stays.

    Only files whose first message is on disk are counted: a crash may take the others.

    Clause: store.retention.derived-files-follow
    """
    for count, position in enumerate(last_positions[:-1]):
        if not is_queue_file_expired(position, log_min):
            return Count(count)
    return Count(max(0, len(last_positions) - 1))


def count_expired_index_files(end_positions: Sequence[int], log_min: int) -> Count:
    """How many index files go, by the end position in each header; the last one stays.

    Clause: store.retention.derived-files-follow
    """
    # The last message of an index file is to it what its last unit is to a queue file.
    return count_expired_queue_files(end_positions, log_min)
