"""How one pull reads the units of a queue: a fold that stops before it would lose anything.

Each step looks at one unit. If the answer is already full the scan ends in front of the unit,
so that the next pull begins with it. Otherwise the unit is consumed: returned if it matches and
its bytes are there, passed if it does not match or its bytes are gone.

The limits keep one answer small (and smaller still when it has to come from disk), but the first
message is returned whatever its size: a limit that refused it would stop the queue for ever.
"""

from typing import Final, NamedTuple

from spec.broker.pull_outcome import Outcome, PullStatus
from spec.layout.consume_queue import UNIT_SIZE
from spec.values.units import QueueOffset

MEMORY_BYTES_LIMIT: Final = 262_144
"""Apache's `maxTransferBytesOnMessageInMemory`."""
MEMORY_COUNT_LIMIT: Final = 32
"""Apache's `maxTransferCountOnMessageInMemory`."""
DISK_BYTES_LIMIT: Final = 65_536
"""Apache's `maxTransferBytesOnMessageInDisk`."""
DISK_COUNT_LIMIT: Final = 8
"""Apache's `maxTransferCountOnMessageInDisk`."""
SCAN_BYTES: Final = 16_000
"""Bytes of units that one pull looks at (`maxFilterMessageCount`): 800 units."""


def derive_scan_limit(max_messages: int) -> int:
    """How many units one pull looks at: 800, or as many as messages were asked for.

    Clause: broker.pull.scan-limit
    """
    return max(SCAN_BYTES, max_messages * UNIT_SIZE) // UNIT_SIZE


def is_full(count: int, byte_count: int, next_size: int, max_messages: int, *, is_next_on_disk: bool) -> bool:
    """Whether an answer that holds `count` messages takes no further one of `next_size` bytes.

    Clauses: broker.pull.batch-limits, broker.pull.first-message-always
    """
    if count == 0:
        return False
    bytes_limit = DISK_BYTES_LIMIT if is_next_on_disk else MEMORY_BYTES_LIMIT
    count_limit = DISK_COUNT_LIMIT if is_next_on_disk else MEMORY_COUNT_LIMIT
    return count >= min(max_messages, count_limit) or byte_count + next_size > bytes_limit


class Unit(NamedTuple):
    """What a scan has to know of one unit of the queue."""

    position: int
    size: int
    is_match: bool = True
    is_readable: bool = True
    """Whether the log still has the message's bytes."""
    is_on_disk: bool = False


class Scan(NamedTuple):
    """A scan so far."""

    consumed: int = 0
    found: int = 0
    byte_count: int = 0
    status: PullStatus = PullStatus.NO_MATCHED_MESSAGE
    resume_position: int = 0
    """After a unit whose bytes were gone: the start of the next log file; units before it are gone too."""
    is_finished: bool = False


def scan_unit(scan: Scan, unit: Unit, max_messages: int, next_log_file: int = 0) -> Scan:
    """The scan after one more unit; `next_log_file` is where the log file after the unit's begins.

    Clauses: broker.pull.next-passes-nothing-unseen, broker.pull.removed-file-skipped
    """
    if scan.is_finished:
        return scan
    if unit.position < scan.resume_position:
        return scan._replace(consumed=scan.consumed + 1)
    if is_full(scan.found, scan.byte_count, unit.size, max_messages, is_next_on_disk=unit.is_on_disk):
        return scan._replace(is_finished=True)
    if not unit.is_match:
        status = scan.status if scan.found else PullStatus.NO_MATCHED_MESSAGE
        return scan._replace(consumed=scan.consumed + 1, status=status)
    if not unit.is_readable:
        status = scan.status if scan.found else PullStatus.MESSAGE_WAS_REMOVING
        return scan._replace(consumed=scan.consumed + 1, status=status, resume_position=next_log_file)
    return Scan(scan.consumed + 1, scan.found + 1, scan.byte_count + unit.size, PullStatus.FOUND)


def conclude_scan(offset: int, scan: Scan) -> Outcome:
    """The outcome of a pull that began at `offset`: its status, and one past the last unit consumed.

    Clauses: broker.pull.one-status, broker.pull.next-passes-nothing-unseen
    """
    return Outcome(scan.status, QueueOffset(offset + scan.consumed))
