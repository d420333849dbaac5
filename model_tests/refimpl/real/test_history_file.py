"""The history of a run in a file: whole, in pieces, and gone on with after a kill."""

from pathlib import Path
from typing import Final

import pytest

from refimpl.history_log import HistoryLog, LogMark
from refimpl.real.history_file import HistoryError, HistoryFile, list_pieces, read_lines
from spec.history.declaration import Declaration, encode_declaration
from spec.history.event import Event
from spec.history.json_lines import decode_events, encode_event
from spec.history.kind import Kind
from spec.history.well_formed import checked

DECLARATION: Final = Declaration(frozenset({Kind.UP}))
UP: Final = Event("", 0, 7, "node", Kind.UP, status="broker")


def _open(path: Path, piece_bytes: int = 1 << 20) -> tuple[HistoryFile, HistoryLog]:
    file = HistoryFile(path, piece_bytes)
    earlier = file.earlier
    if earlier is None:
        return file, HistoryLog("run", DECLARATION, file.add, 5)
    assert earlier.declaration == encode_declaration(DECLARATION)
    return file, HistoryLog(earlier.run, DECLARATION, file.add, 5, next_number=earlier.next_number)


def _read(path: Path) -> list[tuple[int, Kind]]:
    return [(event.sequence, event.kind) for event in checked(decode_events(read_lines(path)))]


def test_events_are_in_the_file_after_a_flush(tmp_path: Path) -> None:
    path = tmp_path / "new" / "history.jsonl"
    file, log = _open(path)
    log.add(UP)
    assert path.read_text("utf-8") == ""
    assert file.flush() is None
    assert path.read_text("utf-8").splitlines()[1] == encode_event(UP._replace(run="run", sequence=1))
    log.end(9)
    file.close()
    assert _read(path) == [(0, Kind.BEGIN), (1, Kind.UP), (2, Kind.END_OF_RUN)]


def test_a_run_goes_on_after_a_clean_stop_and_after_a_kill(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    file, log = _open(path)
    log.add(UP)
    log.end(9)
    file.close()
    file, log = _open(path)
    log.add(UP)
    file.close()
    with path.open("ab") as torn:
        torn.write(b'{"run":"run","sequence":3,"tim')
    file, log = _open(path)
    log.add(UP)
    file.close()
    assert _read(path) == [(0, Kind.BEGIN), (1, Kind.UP), (2, Kind.UP), (3, Kind.UP)]


def test_a_run_of_which_only_a_torn_line_is_there_begins_anew(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(b'{"run":"r')
    file, log = _open(path)
    log.add(UP)
    file.close()
    assert _read(path) == [(0, Kind.BEGIN), (1, Kind.UP)]


def test_a_large_history_is_in_pieces_that_are_the_run_together(tmp_path: Path) -> None:
    path = tmp_path / "history[1].jsonl"
    for _ in range(2):
        file, log = _open(path, 400)
        for _ in range(10):
            log.add(UP)
            file.flush()
        file.close()
    pieces = list_pieces(path)
    assert [piece.name for piece in pieces] == [
        *(f"history[1].jsonl.{number}" for number in range(1, len(pieces))),
        "history[1].jsonl",
    ]
    assert len(pieces) > 3
    assert all(piece.stat().st_size <= 400 for piece in pieces[1:])
    assert [number for number, _ in _read(path)] == list(range(21))


def test_a_kill_between_two_pieces_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    file, log = _open(path)
    log.add(UP)
    file.close()
    path.rename(tmp_path / "history.jsonl.1")
    file, log = _open(path)
    log.add(UP)
    file.close()
    assert _read(path) == [(0, Kind.BEGIN), (1, Kind.UP), (2, Kind.UP)]


def test_a_line_may_be_longer_than_a_block_of_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    file, log = _open(path)
    log.add(UP._replace(detail="x" * 200_000))
    file.close()
    assert HistoryFile(path).earlier == ("run", encode_declaration(DECLARATION), 2, None)


def test_half_a_surrogate_pair_of_a_peer_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    file, log = _open(path)
    log.add(UP._replace(client="a\ud800b"))
    file.close()
    assert [event.client for event in decode_events(read_lines(path))] == ["", "a\ud800b"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"hello\n", "it is no history, so it is not added to: at 0: not a JSON object: "),
        (b"\xff\xfe\n", "it is no history, so it is not added to: 'utf-8' codec "),
        ((encode_event(UP) + "\n").encode(), "it holds something else than one run; move it away"),
    ],
)
def test_a_file_that_is_no_history_of_one_run_is_left_alone(
    content: bytes, reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "history.jsonl"
    path.write_bytes(content)
    with pytest.raises(HistoryError) as raised:
        HistoryFile(path)
    assert str(raised.value).startswith(f"{path}: {reason}")
    assert path.read_bytes() == content


def test_a_file_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(HistoryError, match=r"/file: File exists$"):
        HistoryFile(tmp_path / "file" / "history.jsonl")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a disk that is always full is Linux's")
def test_a_history_that_cannot_be_written_ends_once(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    path.symlink_to("/dev/full")
    file, log = _open(path)
    assert file.flush() == f"{path}: No space left on device"
    log.add(UP)
    assert file.flush() is None
    file.close()


def test_how_far_the_log_was_recorded_is_found_in_any_piece(tmp_path: Path) -> None:
    path = tmp_path / "history.jsonl"
    file, log = _open(path, 600)
    append = Event("", 0, 1, "b", Kind.APPEND, topic="T", broker="b", queue=0, offset=0, message="m")
    marks = []
    for event in (
        append._replace(position=7),
        append._replace(position=90),
        Event("", 0, 1, "b", Kind.RECOVER, broker="b", position=200, status="normal"),
    ):
        log.add(event)
        for _ in range(9):
            log.add(UP)
            file.flush()
        again = HistoryFile(path)
        assert again.earlier is not None
        marks.append(again.earlier.log_mark)
        again.close()
    assert marks == [LogMark(7, is_append=True), LogMark(90, is_append=True), LogMark(200, is_append=False)]
    assert len(list_pieces(path)) > 2
