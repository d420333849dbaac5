"""The checkpoint: up to which store time everything is on disk.

Three times, of the log, of the consume queues and of the index, in a file of one page. After a
crash, recovery begins at the first file that may hold something later. The times are as coarse
as the clock and are written after the data, so recovery steps back three seconds more than they
say. A checkpoint that claims too much makes recovery begin too late and leaves a gap for ever.
"""

import struct
from typing import Final, NamedTuple

from spec.rejection import Rejection
from spec.values.units import ByteCount, Milliseconds

CHECKPOINT_SIZE: Final = ByteCount(4096)
"""One page; what lies behind the times is zero."""

SAFETY_MS: Final = Milliseconds(3000)
"""How far before the checkpoint recovery begins, in Apache and here."""

_TIMES: Final = struct.Struct(">qqq")
_NO_TIME: Final = Milliseconds(0)


class Checkpoint(NamedTuple):
    """Store times up to which each part is on disk."""

    log_ms: Milliseconds = _NO_TIME
    queues_ms: Milliseconds = _NO_TIME
    index_ms: Milliseconds = _NO_TIME


def decode_checkpoint(data: bytes) -> Checkpoint:
    """The three times; whatever else 5.x writes behind them is not looked at.

    Clause: store.checkpoint.layout
    """
    if len(data) < _TIMES.size:
        raise Rejection("store.checkpoint.layout", 0, f"{len(data)} bytes are too few for three times")
    log_ms, queues_ms, index_ms = _TIMES.unpack_from(data)
    return Checkpoint(log_ms, queues_ms, index_ms)


def encode_checkpoint(checkpoint: Checkpoint) -> bytes:
    """The page as Apache writes it; refuses times that do not fit their fields.

    Clause: store.checkpoint.layout
    """
    try:
        return _TIMES.pack(*checkpoint).ljust(CHECKPOINT_SIZE, b"\0")
    except struct.error as error:
        raise Rejection("store.checkpoint.layout", 0, f"{checkpoint} does not fit: {error}") from None


def derive_safe_time(checkpoint: Checkpoint, *, counts_index: bool = False) -> Milliseconds:
    """The store time up to which log and queues (and the index, if it counts) are surely on disk.

    `counts_index` is Apache's messageIndexSafe, off by default there.

    Clause: store.checkpoint.safe-time
    """
    earliest = min(checkpoint.log_ms, checkpoint.queues_ms) - SAFETY_MS
    if counts_index:
        earliest = min(earliest, checkpoint.index_ms)
    return Milliseconds(max(0, earliest))
