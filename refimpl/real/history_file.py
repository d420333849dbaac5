"""The history of a run in a file, in pieces if it grows large.

The pieces of one run are FILE.1, FILE.2, ... and last FILE itself; read in this order they are the
run, and only together can they be judged, so none is ever removed. What was recorded in a turn is
in the file before an answer of that turn leaves the process: a process that is killed leaves a
history in which everything stands that anybody was told.

A process that starts with the file of an earlier one goes on with its run, behind what is whole:
a torn last line and the end of the observation, which was not the end after all, are taken away.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from refimpl.history_log import LogMark
from spec.history.event import Event
from spec.history.json_lines import decode_event, encode_event
from spec.history.kind import Kind
from spec.rejection import Rejection

PIECE_BYTES: Final = 1 << 30
"""A decision: a day of a busy broker, and still a file that tools open."""

_BLOCK: Final = 1 << 16
_LOG_MARKS: Final = (b'"append"', b'"recover"')


class HistoryError(Exception):
    """The file cannot be written, or what it holds cannot be gone on with; one line says why."""


class Earlier(NamedTuple):
    """What the file held already."""

    run: str
    declaration: str
    """The detail of its `begin`."""
    next_number: int
    log_mark: LogMark | None
    """None if no broker recorded anything of its log."""


def list_pieces(path: Path) -> tuple[Path, ...]:
    """The pieces of the run whose last one is `path`, in the order of time."""
    numbered = sorted(_list_numbered(path))
    pieces = [path.with_name(f"{path.name}.{number}") for number in numbered]
    return (*pieces, path) if path.exists() else tuple(pieces)


def read_lines(path: Path) -> Iterator[str]:
    """The lines of all pieces, in the order of time."""
    for piece in list_pieces(path):
        with piece.open(encoding="utf-8") as lines:
            yield from lines


class HistoryFile:
    """Takes the events of one run; `flush` puts what was taken into the file."""

    def __init__(self, path: Path, piece_bytes: int = PIECE_BYTES) -> None:
        """The file is open; `earlier` says what is in it. A HistoryError says why it cannot be used."""
        self.path = path
        self._piece_bytes = piece_bytes
        self._lines: list[str] = []
        self._is_over = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self.earlier = _read_earlier(path)
            self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
            self._size = os.fstat(self._descriptor).st_size
        except OSError as error:
            raise HistoryError(f"{error.filename or path}: {error.strerror or error}") from error

    def add(self, event: Event) -> None:
        """The event will be in the file with the next flush."""
        self._lines.append(encode_event(event))

    def flush(self) -> str | None:
        """Everything that was added is in the file; if it cannot be, nothing ever will, and this says why."""
        if not self._lines:
            return None
        lines, self._lines = self._lines, []
        if self._is_over:
            return None
        # Half of a surrogate pair, as a peer may send it, becomes the escape that JSON has for it.
        data = ("\n".join(lines) + "\n").encode("utf-8", "backslashreplace")
        try:
            if self._size and self._size + len(data) > self._piece_bytes:
                self._begin_piece()
            _write(self._descriptor, data)
        except OSError as error:
            # A history with a hole would accuse the innocent, so it ends here.
            self._is_over = True
            return f"{self.path}: {error.strerror or error}"
        self._size += len(data)
        return None

    def close(self) -> None:
        """Everything is in the file, and the file is closed."""
        self.flush()
        os.close(self._descriptor)

    def _begin_piece(self) -> None:
        number = max(_list_numbered(self.path), default=0) + 1
        self.path.rename(self.path.with_name(f"{self.path.name}.{number}"))
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
        descriptor = os.open(self.path, flags, 0o644)
        os.close(self._descriptor)
        self._descriptor = descriptor
        self._size = 0


def _list_numbered(path: Path) -> list[int]:
    """The numbers of the pieces before the last one."""
    ends = (found.name.removeprefix(f"{path.name}.") for found in path.parent.glob(f"{_quote(path.name)}.*"))
    return [int(end) for end in ends if end.isascii() and end.isdigit()]


def _quote(name: str) -> str:
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in name)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _read_earlier(path: Path) -> Earlier | None:
    """What the file's run is, after its end was cut to what is whole; None if there is no run yet."""
    _cut_end(path)
    pieces = [piece for piece in list_pieces(path) if piece.stat().st_size]
    if not pieces:
        return None
    with pieces[0].open("rb") as first_piece:
        begin = _decode(path, first_piece.readline())
    last = _decode(path, _read_last_line(pieces[-1]))
    if begin.kind is not Kind.BEGIN or begin.run != last.run:
        raise HistoryError(f"{path}: it holds something else than one run; move it away")
    return Earlier(begin.run, begin.detail, last.sequence + 1, _find_log_mark(path, pieces))


def _find_log_mark(path: Path, pieces: list[Path]) -> LogMark | None:
    """How far the run has recorded the log: found near its end, unless the broker was idle for long."""
    for piece in reversed(pieces):
        for line in _iter_backwards(piece):
            # Most lines are of other kinds, and cheaper to pass over than to decode.
            if any(mark in line for mark in _LOG_MARKS):
                event = _decode(path, line)
                if event.kind in (Kind.APPEND, Kind.RECOVER):
                    return LogMark(event.position, event.kind is Kind.APPEND)
    return None


def _cut_end(path: Path) -> None:
    """The file ends with a whole line, which is not the end of the observation."""
    if not path.exists() or not path.stat().st_size:
        return
    line = _read_last_line(path)
    if not line.endswith(b"\n") or _decode(path, line).kind is Kind.END_OF_RUN:
        os.truncate(path, path.stat().st_size - len(line))
        _cut_end(path)


def _decode(path: Path, line: bytes) -> Event:
    try:
        return decode_event(line.decode("utf-8"))
    except (Rejection, UnicodeDecodeError) as error:
        raise HistoryError(f"{path}: it is no history, so it is not added to: {error}") from error


def _read_last_line(path: Path) -> bytes:
    """What stands behind the last line end but one that ends the file."""
    return next(_iter_backwards(path), b"")


def _iter_backwards(path: Path) -> Iterator[bytes]:
    """The lines of a file with their ends, the last one first."""
    rest = b""
    with path.open("rb") as file:
        at = path.stat().st_size
        while at:
            step = min(_BLOCK, at)
            at -= step
            file.seek(at)
            first, *lines = (file.read(step) + rest).splitlines(keepends=True)
            yield from reversed(lines)
            rest = first
    if rest:
        yield rest
