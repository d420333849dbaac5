"""From record to record through one log file, a window at a time."""

from collections.abc import Callable, Iterator
from typing import Final

from refimpl.store_check.record_look import RecordReader
from refimpl.store_check.shape import Piece
from refimpl.store_check.source import BLOCK_SIZE, Source
from spec.layout.record_head import RecordHead
from spec.layout.record_walk import Stop, StopKind, read_next
from spec.layout.stored_message import BLANK_SIZE
from spec.rejection import Rejection

RECORD_LIMIT: Final = 128 * 1024 * 1024
"""The largest record that is read whole; a decision: far above every broker's limit, and a damaged
size must not claim the machine's memory."""


class LogWindow:
    """The part of a log file that is in memory: from `base` on."""

    def __init__(self, source: Source, reader: RecordReader, piece: Piece) -> None:
        """Nothing is in memory yet."""
        self._source = source
        self._reader = reader
        self._piece = piece
        self.base = 0
        self.data = b""

    def _widen(self, at: int) -> bool:
        """Whether more bytes from `at` on are now there than before."""
        inside = at - self.base
        stated = int.from_bytes(self.data[inside : inside + 4], "big")
        if stated > RECORD_LIMIT:
            stated = 0
        wanted = min(self._piece.size - at, max(BLOCK_SIZE, stated))
        have = len(self.data) - inside
        if wanted <= have:
            return False
        found = self._source.read_exactly(self._piece.path, at, wanted)
        if found is None:
            return False
        self.base, self.data = at, found
        return True

    def _judge(self, at: int) -> RecordHead | Stop:
        """What stands at `at`, by the bytes that are there."""
        inside = at - self.base
        item = read_next(self.data, inside, remaining=self._piece.full_size - at, accept_v2=True)
        if isinstance(item, Stop):
            return item
        try:
            return self._reader.look(self.data, inside, self._piece.start + at)
        except Rejection as refusal:
            return Stop(inside, StopKind.DAMAGED, refusal)

    def look_closely(self, at: int) -> RecordHead | Stop:
        """What stands at `at`, with as many bytes as it takes to tell."""
        item = self._judge(at)
        if isinstance(item, Stop):
            is_cut = item.refusal is not None and item.refusal.clause == "store.record.whole"
            if (len(self.data) - (at - self.base) < BLANK_SIZE or is_cut) and self._widen(at):
                return self.look_closely(at)
            return Stop(at, item.kind, item.refusal.shifted(self.base) if item.refusal else None)
        return item


def find_record_behind(source: Source, reader: RecordReader, piece: Piece, at: int) -> int | None:
    """The byte behind a damaged record, if its size can be believed: a good record follows."""
    size = int.from_bytes(source.read(piece.path, at, 4), "big")
    if not BLANK_SIZE < size < piece.size - at:
        return None
    window = LogWindow(source, reader, piece)
    return at + size if isinstance(window.look_closely(at + size), RecordHead) else None


def walk_piece(
    source: Source, reader: RecordReader, piece: Piece, advance: Callable[[int], None], first: int = 0
) -> Iterator[RecordHead | Stop]:
    """The records of one file from a byte on, then exactly one Stop; its place counts from the file's start.

    Clauses: recovery.log.ends-at-first-non-record, recovery.log.record-states-its-place
    """
    window = LogWindow(source, reader, piece)
    look_quickly = reader.look_quickly
    start = piece.start
    at = base = window.base = first
    data = b""
    while True:
        look = look_quickly(data, at - base, start + at)
        if look is None:
            item = window.look_closely(at)
            if window.data is not data:
                advance(window.base + len(window.data) - base - len(data))
                base, data = window.base, window.data
            if isinstance(item, Stop):
                yield item
                return
            look = item
        yield look
        at += look.size
