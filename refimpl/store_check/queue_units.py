"""The units of one queue, read in small windows.

A store may have ten thousand queues, and all of them are read at the pace of one log: so each
keeps a few units in memory, and no file stays open.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from refimpl.store_check.shape import Piece
from refimpl.store_check.source import Source
from spec.layout.commit_log_file import encode_file_name
from spec.layout.consume_queue import UNIT_SIZE, Unit, decode_unit, derive_unit_place, is_written

WINDOW_UNITS: Final = 200
"""Units in memory a queue; a decision: ten thousand queues then need 40 MB."""
BLOCK_UNITS: Final = 20_000
"""Units read at once where a queue is read by itself."""


class QueueUnits:
    """The files of a queue as one array of units."""

    def __init__(self, source: Source, folder: str, pieces: Sequence[Piece], units_per_file: int) -> None:
        """No unit is in memory yet."""
        self._source = source
        self._folder = folder
        self._units_per_file = units_per_file
        self._pieces = {piece.start: piece for piece in pieces}
        self.pieces = pieces
        self.first_offset = pieces[0].start // UNIT_SIZE if pieces else 0
        self.end_offset = pieces[-1].end // UNIT_SIZE if pieces else 0
        """Behind the last place that the files have, written or not."""

    def place(self, offset: int) -> tuple[str, int]:
        """The path and the byte at which the unit of an offset stands, or would stand."""
        start, at = derive_unit_place(offset, self._units_per_file)
        return f"{self._folder}/{encode_file_name(start)}", at

    def read_window(self, offset: int, units: int = WINDOW_UNITS) -> bytes:
        """The bytes of the units from an offset on, up to the end of its file; none if it has no file."""
        start, at = derive_unit_place(offset, self._units_per_file)
        piece = self._pieces.get(start)
        if piece is None:
            return b""
        length = min(units * UNIT_SIZE, piece.size - at)
        data = self._source.read(piece.path, at, length) if length >= UNIT_SIZE else b""
        return data[: len(data) - len(data) % UNIT_SIZE]

    def iter_units(self, offset: int, end: int) -> Iterator[tuple[int, Unit]]:
        """The units of a span of offsets, as far as there are files for them, written or not."""
        offset = max(offset, self.first_offset)
        end = min(end, self.end_offset)
        while offset < end:
            data = self.read_window(offset, min(BLOCK_UNITS, end - offset))
            if not data:
                # A hole between files: the next file is where it goes on.
                offset = min(
                    (piece.start // UNIT_SIZE for piece in self.pieces if piece.start > offset * UNIT_SIZE),
                    default=end,
                )
                continue
            for at in range(0, len(data), UNIT_SIZE):
                yield offset, decode_unit(data, at)
                offset += 1

    def find_end(self, offset: int) -> int:
        """The first offset from `offset` on whose unit is not written.

        Clause: recovery.queue.ends-at-first-unwritten
        """
        for found, unit in self.iter_units(offset, self.end_offset):
            if found != offset or not is_written(unit.position, unit.size):
                break
            offset += 1
        return offset

    def find_stale(self, offset: int) -> tuple[str, int] | None:
        """The first byte behind the unit of `offset` that is not zero."""
        for piece in self.pieces:
            at = max(0, offset * UNIT_SIZE - piece.start)
            found = self._source.find_written(piece.path, at, piece.size) if at < piece.size else None
            if found is not None:
                return piece.path, found
        return None
