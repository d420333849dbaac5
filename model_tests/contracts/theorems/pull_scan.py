"""Theorems on the scan of a pull: it stops in front of what it cannot return."""

from spec.broker.pull_outcome import PullStatus
from spec.broker.pull_scan import (
    DISK_COUNT_LIMIT,
    MEMORY_COUNT_LIMIT,
    Scan,
    Unit,
    conclude_scan,
    derive_scan_limit,
    is_full,
    scan_unit,
)


def _scan(matches: int, readable: int, max_messages: int) -> tuple[Scan, int]:
    """Scan three units whose i-th bit says whether they match and are readable; count the returned."""
    scan = Scan()
    for index in range(3):
        unit = Unit(index * 100, 100, bool(matches >> index & 1), bool(readable >> index & 1))
        scan = scan_unit(scan, unit, max_messages)
    wanted = sum(matches >> i & readable >> i & 1 for i in range(scan.consumed))
    return scan, wanted


def everything_passed_was_returned_or_unwanted(matches: int, readable: int, max_messages: int) -> bool:
    """Among the units that the next offset passes, every readable match was returned.

    clause: broker.pull.next-passes-nothing-unseen
    pre: 0 <= matches <= 7
    pre: 0 <= readable <= 7
    pre: 0 <= max_messages <= 4
    post: __return__
    """
    scan, wanted = _scan(matches, readable, max_messages)
    return scan.found == wanted


def scan_always_advances(matches: int, readable: int, max_messages: int) -> bool:
    """A scan over at least one unit consumes at least one, so no client pulls one place for ever.

    clause: broker.pull.first-message-always
    pre: 0 <= matches <= 7
    pre: 0 <= readable <= 7
    pre: 0 <= max_messages <= 4
    post: __return__
    """
    scan, _ = _scan(matches, readable, max_messages)
    return scan.consumed >= 1


def found_means_something_was_returned(matches: int, readable: int, offset: int) -> bool:
    """The status is FOUND exactly when a message is in the answer, and the offset then advances.

    clause: broker.pull.one-status
    pre: 0 <= matches <= 7
    pre: 0 <= readable <= 7
    pre: 0 <= offset <= 10**15
    post: __return__
    """
    scan, _ = _scan(matches, readable, 32)
    outcome = conclude_scan(offset, scan)
    is_found = outcome.status is PullStatus.FOUND
    return is_found == (scan.found > 0) and offset < outcome.next_offset <= offset + 3


def first_message_is_returned_whatever_its_size(size: int, max_messages: int, *, is_on_disk: bool) -> bool:
    """An empty answer takes a message of any size.

    clause: broker.pull.first-message-always
    pre: 0 <= size <= 2**31
    post: __return__
    """
    return not is_full(0, 0, size, max_messages, is_next_on_disk=is_on_disk)


def answer_never_exceeds_its_limits(
    found: int, byte_count: int, size: int, max_messages: int, *, is_on_disk: bool
) -> bool:
    """A further message is taken only if count and bytes stay within the limits.

    clause: broker.pull.batch-limits
    pre: 1 <= found <= 100
    pre: 0 <= byte_count <= 2**31
    pre: 0 <= size <= 2**31
    pre: 1 <= max_messages <= 100
    post: __return__
    """
    if is_full(found, byte_count, size, max_messages, is_next_on_disk=is_on_disk):
        return True
    count_limit = DISK_COUNT_LIMIT if is_on_disk else MEMORY_COUNT_LIMIT
    bytes_limit = 65536 if is_on_disk else 262144
    return found + 1 <= min(max_messages, count_limit) and byte_count + size <= bytes_limit


def scan_limit_covers_what_was_asked(max_messages: int) -> bool:
    """One pull looks at 800 units, or at as many as messages were asked for.

    clause: broker.pull.scan-limit
    pre: 0 <= max_messages <= 10**6
    post: __return__
    """
    return derive_scan_limit(max_messages) == max(800, max_messages)
