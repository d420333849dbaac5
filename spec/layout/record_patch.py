"""The three fields of a record that are known only inside the append lock.

A broker encodes a message before it takes the lock, because encoding is the larger work. Inside
the lock it learns the queue offset, the place in the log and the time, and writes them over
the zeros that stood there. One of the three stands behind a host of two possible lengths.
"""

import struct
from typing import Final

from spec.layout.record import BORN_HOST_AT, POSITION_AT, QUEUE_OFFSET_AT, SYSTEM_FLAG_AT
from spec.values.host import IPV4_HOST_SIZE, IPV6_HOST_SIZE
from spec.values.system_flag import BORN_HOST_IPV6
from spec.values.units import CommitLogPosition, Milliseconds, QueueOffset

_FLAG: Final = struct.Struct(">i")
_INT64: Final = struct.Struct(">q")


def derive_stored_at_position(system_flag: int) -> int:
    """Where in a record the store time stands: it follows the born host.

    Clause: store.record.patch-positions
    """
    return BORN_HOST_AT + (IPV6_HOST_SIZE if system_flag & BORN_HOST_IPV6 else IPV4_HOST_SIZE)


def patch_record(
    buffer: bytearray,
    at: int,
    *,
    queue_offset: QueueOffset,
    position: CommitLogPosition,
    stored_at_ms: Milliseconds,
) -> None:
    """The record at `at` now carries what is known only inside the append lock.

    No other byte changes, so a record is encoded outside the lock and finished inside it.

    Clause: store.record.patch-positions
    """
    system_flag: int = _FLAG.unpack_from(buffer, at + SYSTEM_FLAG_AT)[0]
    _INT64.pack_into(buffer, at + QUEUE_OFFSET_AT, queue_offset)
    _INT64.pack_into(buffer, at + POSITION_AT, position)
    _INT64.pack_into(buffer, at + derive_stored_at_position(system_flag), stored_at_ms)
