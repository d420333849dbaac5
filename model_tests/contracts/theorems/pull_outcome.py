"""Theorems on what a pull answers: one status, a next offset that loses nothing."""

from spec.broker.pull_outcome import (
    Bounds,
    OffsetCheck,
    Outcome,
    Overflow,
    PullStatus,
    decide_without_scan,
    derive_code,
    derive_next_file_offset,
    derive_suggested_broker_id,
)
from spec.values.units import QueueOffset
from spec.wire.code import ResponseCode

STATUSES = tuple(PullStatus)


def inside_the_queue_the_units_decide(offset: int, minimum: int, maximum: int) -> bool:
    """There is a verdict without a scan exactly when the offset is outside the queue.

    clause: broker.pull.one-status
    pre: 0 <= minimum <= maximum <= 10**15
    pre: 0 <= offset <= 10**15
    post: __return__
    """
    outcome = decide_without_scan(offset, Bounds(minimum, maximum), has_units=True)
    return (outcome is None) == (minimum <= offset < maximum)


def corrected_offset_lies_in_the_queue(offset: int, minimum: int, maximum: int) -> bool:
    """Whatever a client asks for, the correction leads it to a place from the minimum to the maximum.

    clause: broker.pull.overflow-to-maximum
    pre: 0 <= minimum <= maximum <= 10**15
    pre: maximum > 0
    pre: 0 <= offset <= 10**15
    post: __return__
    """
    outcome = decide_without_scan(offset, Bounds(minimum, maximum), has_units=True)
    return outcome is None or minimum <= outcome.next_offset <= maximum


def correction_never_passes_a_message(offset: int, minimum: int, maximum: int) -> bool:
    """No correction moves a client forward past a message that is there.

    clause: broker.pull.next-passes-nothing-unseen
    pre: 0 <= minimum <= maximum <= 10**15
    pre: 0 <= offset <= 10**15
    post: __return__
    """
    outcome = decide_without_scan(offset, Bounds(minimum, maximum), has_units=True)
    return outcome is None or outcome.next_offset <= max(offset, minimum)


def waiting_at_the_end_stays_there(minimum: int, maximum: int, *, is_slave: bool) -> bool:
    """A client at the end of a queue is told "nothing new" and stays where it is.

    clause: broker.pull.one-status
    pre: 0 <= minimum <= maximum <= 10**15
    pre: maximum > 0
    post: __return__
    """
    check = OffsetCheck.LEFT_ALONE if is_slave else OffsetCheck.CORRECTED
    outcome = decide_without_scan(maximum, Bounds(minimum, maximum), has_units=True, check=check)
    is_expected = outcome == Outcome(PullStatus.OFFSET_OVERFLOW_ONE, QueueOffset(maximum))
    return is_expected and derive_code(PullStatus.OFFSET_OVERFLOW_ONE, maximum) is ResponseCode.PULL_NOT_FOUND


def unchecked_slave_never_moves_a_client(offset: int, minimum: int, maximum: int, *, has_units: bool) -> bool:
    """A slave that does not check offsets leaves every client where it is.

    clause: broker.pull.slave-keeps-offset
    pre: 0 <= minimum <= maximum <= 10**15
    pre: 0 <= offset <= 10**15
    post: __return__
    """
    bounds = Bounds(minimum, maximum)
    outcome = decide_without_scan(offset, bounds, has_units=has_units, check=OffsetCheck.LEFT_ALONE)
    return outcome is None or outcome.next_offset == offset


def unchecked_slave_never_says_that_the_offset_moved(status: int, offset: int) -> bool:
    """A slave that does not check offsets has no answer 21, not even for an empty queue.

    clause: broker.pull.slave-keeps-offset
    pre: 0 <= status <= 8
    pre: 0 <= offset <= 10**15
    post: __return__
    """
    code = derive_code(STATUSES[status], offset, check=OffsetCheck.LEFT_ALONE)
    return code is not ResponseCode.PULL_OFFSET_MOVED


def old_overflow_differs_only_for_a_queue_from_zero(offset: int, minimum: int, maximum: int) -> bool:
    """4.9.3 and later versions disagree exactly beyond the end of a queue that begins at 0.

    clause: broker.pull.overflow-to-maximum
    pre: 0 <= minimum <= maximum <= 10**15
    pre: 0 <= offset <= 10**15
    post: __return__
    """
    bounds = Bounds(minimum, maximum)
    old = decide_without_scan(offset, bounds, has_units=True, overflow=Overflow.TO_ZERO)
    new = decide_without_scan(offset, bounds, has_units=True)
    return (old == new) == (minimum > 0 or offset <= maximum or maximum == 0)


def unreadable_file_is_left_at_its_end(offset: int, units_per_file: int) -> bool:
    """Behind an unreadable index file the pull goes on with the first unit of the next one.

    clause: broker.pull.unreadable-file-skipped
    pre: 0 <= offset <= 10**6
    pre: 1 <= units_per_file <= 16
    post: __return__
    """
    following = derive_next_file_offset(offset, units_per_file)
    return offset < following <= offset + units_per_file and following % units_per_file == 0


def master_is_suggested_unless_slaves_may_be_read(normal: int, slow: int, *, is_slow: bool) -> bool:
    """Where reading from slaves is off, every client is sent to the master.

    clause: broker.pull.suggested-broker
    post: __return__
    """
    chosen = derive_suggested_broker_id(
        is_slave_read_enabled=False, is_slow=is_slow, normal_broker_id=normal, slow_broker_id=slow
    )
    return chosen == 0
