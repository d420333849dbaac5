"""Theorems on retention: no message goes before its time, no sequence gets a hole or loses its end."""

from spec.store.retention import (
    DiskPressure,
    count_expired,
    count_expired_index_files,
    count_expired_queue_files,
    is_cleaning_due,
    is_log_file_expired,
    is_writable,
)


def young_file_stays_unless_the_disk_is_nearly_full(
    modified_ms: int, age_ms: int, reserved_ms: int, pressure: DiskPressure, *, is_forced_allowed: bool
) -> bool:
    """A file goes by age, or by force where that is allowed and the disk asks for it.

    clause: store.retention.age
    pre: 0 <= modified_ms < 2**40
    pre: 0 <= age_ms < 2**40
    pre: 0 <= reserved_ms < 2**40
    post: __return__
    """
    is_expired = is_log_file_expired(
        modified_ms, modified_ms + age_ms, reserved_ms, pressure, is_forced_allowed=is_forced_allowed
    )
    is_forced = is_forced_allowed and pressure in (DiskPressure.FORCE, DiskPressure.REFUSE)
    return is_expired == (age_ms >= reserved_ms or is_forced)


def what_goes_is_the_oldest_and_expired(
    first: int, second: int, third: int, now_ms: int, pressure: DiskPressure, *, is_forced_allowed: bool
) -> bool:
    """All that go have expired, the next one has not or is the last, and the last stays.

    clause: store.retention.oldest-first
    pre: 0 <= first < 2**40
    pre: 0 <= second < 2**40
    pre: 0 <= third < 2**40
    pre: 0 <= now_ms < 2**40
    post: __return__
    """
    times = (first, second, third)
    count = count_expired(
        times, now_ms, reserved_ms=1000, pressure=pressure, is_forced_allowed=is_forced_allowed
    )
    expired = [
        is_log_file_expired(time, now_ms, 1000, pressure, is_forced_allowed=is_forced_allowed)
        for time in times
    ]
    return 0 <= count <= 2 and all(expired[:count]) and (count == 2 or not expired[count])


def round_removes_no_more_than_its_limit(file_count: int, limit: int) -> bool:
    """With every file expired, a round removes as many as it may, and leaves the last.

    clause: store.retention.oldest-first
    pre: 0 <= file_count <= 6
    pre: 0 <= limit <= 6
    post: __return__
    """
    count = count_expired([0] * file_count, 1, reserved_ms=1, pressure=DiskPressure.NORMAL, limit=limit)
    return count == min(limit, max(0, file_count - 1))


def round_needs_a_reason(hour: int, delete_hour: int, pressure: DiskPressure, manual_rounds: int) -> bool:
    """Files are removed exactly in the hour, for want of space, or on request.

    clause: store.retention.when
    pre: 0 <= hour < 24
    pre: 0 <= delete_hour < 24
    pre: 0 <= manual_rounds <= 20
    post: __return__
    """
    is_due = is_cleaning_due(hour, (delete_hour,), pressure, manual_rounds)
    return is_due == (hour == delete_hour or pressure is not DiskPressure.NORMAL or manual_rounds > 0)


def store_that_refuses_also_removes(modified_ms: int, now_ms: int, pressure: DiskPressure) -> bool:
    """A store takes no messages only while it removes files of any age at any hour.

    clause: store.retention.full-disk-refuses
    pre: 0 <= modified_ms < 2**40
    pre: 0 <= now_ms < 2**40
    post: __return__
    """
    removes = is_cleaning_due(5, (4,), pressure, 0) and is_log_file_expired(
        modified_ms, now_ms, 2**41, pressure
    )
    return is_writable(pressure) or removes


def queue_keeps_what_leads_into_the_log(first: int, second: int, third: int, log_min: int) -> bool:
    """Every file that goes ends before the log, the next one does not or is the last.

    clause: store.retention.derived-files-follow
    pre: 0 <= first < 2**40
    pre: 0 <= second < 2**40
    pre: 0 <= third < 2**40
    pre: 0 <= log_min < 2**40
    post: __return__
    """
    positions = (first, second, third)
    count = count_expired_queue_files(positions, log_min)
    gone = all(position < log_min for position in positions[:count])
    return gone and 0 <= count <= 2 and (count == 2 or positions[count] >= log_min)


def index_keeps_what_leads_into_the_log(first: int, second: int, third: int, log_min: int) -> bool:
    """Index files go as the files of queues do.

    clause: store.retention.derived-files-follow
    pre: 0 <= first < 2**40
    pre: 0 <= second < 2**40
    pre: 0 <= third < 2**40
    pre: 0 <= log_min < 2**40
    post: __return__
    """
    positions = (first, second, third)
    count = count_expired_index_files(positions, log_min)
    gone = all(position < log_min for position in positions[:count])
    return gone and 0 <= count <= 2 and (count == 2 or positions[count] >= log_min)
