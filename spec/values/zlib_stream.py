"""A zlib stream from a stranger, expanded within a limit.

Nothing in a stream says how long its content is, and a few hundred bytes can hold gigabytes. So
the limit is the reader's, and no more than that is ever held. A stream that stops before its end
mark is damaged, however much it gave before.
"""

import zlib
from typing import NamedTuple

from spec.rejection import Rejection


class Expanded(NamedTuple):
    """What a stream held, and how many bytes of the input stand behind its end."""

    content: bytes
    rest: int


def expand_stream(data: bytes, limit: int, *, form_clause: str, limit_clause: str) -> Expanded:
    """The content of the stream at the start of the bytes; a Rejection names the clause that it breaks.

    Clauses: store.body.zlib-stream, store.body.bounded-expansion, wire.body.decompression-bound
    """
    stream = zlib.decompressobj()
    try:
        content = stream.decompress(data, limit + 1)
    except zlib.error as error:
        raise Rejection(form_clause, 0, f"not a zlib stream: {error}") from None
    if len(content) > limit:
        raise Rejection(limit_clause, 0, f"the stream holds more than {limit} bytes")
    if not stream.eof:
        raise Rejection(form_clause, len(data), "the zlib stream has no end")
    return Expanded(content, len(stream.unused_data))
