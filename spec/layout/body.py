"""The body of a message, compressed or not.

A producer compresses large bodies; broker and store keep the compressed bytes as they are, and
the consumer expands them. The expanded size is nowhere written, so a few bytes may claim any
amount of memory: expansion always has a limit.
"""

import zlib
from typing import Final

from spec.rejection import Rejection
from spec.values.system_flag import CompressionType, compression_type, is_compressed
from spec.values.units import ByteCount
from spec.values.zlib_stream import expand_stream

COMPRESSION_THRESHOLD: Final = ByteCount(4096)
"""Apache's default of compressMsgBodyOverHowmuch: bodies of this length and above are compressed."""

COMPRESSION_LEVEL: Final = 5
"""Apache's default zlib level."""

EXPANDED_LIMIT: Final = ByteCount(64 * 1024 * 1024)
"""A decision: sixteen times the largest message that a broker stores by default."""


def should_compress(body_length: int, *, is_batch: bool, threshold: int = COMPRESSION_THRESHOLD) -> bool:
    """Whether a producer compresses the body: never for batches, and whatever the gain.

    Clause: store.body.compression-threshold
    """
    return not is_batch and body_length >= threshold


def compress_body(body: bytes, level: int = COMPRESSION_LEVEL) -> bytes:
    """The body as a zlib stream.

    Clause: store.body.zlib-stream
    """
    return zlib.compress(body, level)


def expand_body(body: bytes, system_flag: int, *, limit: int = EXPANDED_LIMIT) -> bytes:
    """The body as user code wrote it; never longer than `limit`.

    Clauses: store.body.zlib-stream, store.body.bounded-expansion, store.flag.compression-bits
    """
    if not is_compressed(system_flag):
        return body
    kind = compression_type(system_flag)
    if kind is not CompressionType.ZLIB:
        name = "unknown" if kind is None else kind.name
        raise Rejection("store.flag.compression-bits", 0, f"compression {name} cannot be expanded here")
    # What stands behind the stream's end is passed over, as Java's inflater does.
    return expand_stream(
        body, limit, form_clause="store.body.zlib-stream", limit_clause="store.body.bounded-expansion"
    ).content
