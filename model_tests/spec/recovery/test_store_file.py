import pytest

from spec.recovery.store_file import FoundFile, arrange_files, found_bytes
from spec.rejection import Rejection


def _file(start: int, size: int = 100) -> FoundFile:
    return found_bytes(f"{start:020d}", bytes(size))


def _refusal(*files: FoundFile, drops_empty_last: bool = True) -> str:
    with pytest.raises(Rejection) as refusal:
        arrange_files(files, 100, drops_empty_last=drops_empty_last)
    return refusal.value.clause


@pytest.mark.clause("recovery.load.file-size", "recovery.load.no-hole", "store.file.name")
def test_files_are_arranged_by_position_and_strange_ones_are_refused() -> None:
    assert [file.start for file in arrange_files([_file(300), _file(200)], 100)] == [200, 300]
    assert arrange_files([], 100) == ()
    assert _refusal(_file(0), _file(100, 99)) == "recovery.load.file-size"
    assert _refusal(_file(0, 0), _file(100)) == "recovery.load.file-size"
    assert _refusal(_file(0), _file(200)) == "recovery.load.no-hole"
    assert _refusal(found_bytes("notes.txt", bytes(100))) == "store.file.name"
    assert _refusal(_file(50)) == "store.file.starts-are-multiples"


@pytest.mark.clause("recovery.load.empty-last-file")
def test_empty_last_file_is_dropped_or_refused_as_in_4_9() -> None:
    files = (_file(0), _file(100, 0))
    assert [file.start for file in arrange_files(files, 100)] == [0]
    assert _refusal(*files, drops_empty_last=False) == "recovery.load.file-size"
    assert _refusal(_file(0), found_bytes("notes.txt", b"")) == "store.file.name"
