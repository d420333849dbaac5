"""A whole store: counts, sizes, changes under the reader, and every single damaged byte of a body."""

from collections.abc import Callable
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.refimpl.store_check.damaged_store import (
    INDEX,
    Damage,
    add,
    crashed_files,
    cut,
    flip,
    log_path,
    put,
    remove,
    stopped_files,
)
from model_tests.refimpl.store_check.memory_disk import MemoryDisk
from refimpl.ports import DiskError, DiskReason, Entry
from refimpl.store_check.finding import Finding, Findings, Severity
from refimpl.store_check.index_shape import DEFAULT_SHAPE, IndexShape, infer_index_shape
from refimpl.store_check.log import LogFacts
from refimpl.store_check.shape import infer_size
from refimpl.store_check.source import Source
from refimpl.store_check.verify import NotAStore, Sizes, verify_store
from spec.layout.record_walk import iter_records
from spec.layout.stored_message import StoredMessage
from spec.override import override
from spec.registry import load_clauses
from spec.values.units import ByteCount, Milliseconds

BODIES = [
    (log_path(number), at)
    for number in range(5)
    for at in (
        record.position - number * 16_384 + 88 + byte
        for record in iter_records(crashed_files()[log_path(number)])
        if isinstance(record, StoredMessage)
        for byte in range(len(record.body))
    )
]
"""Every byte of every body: file and place."""


def test_crashed_store_of_apache_has_no_error_and_is_counted() -> None:
    report = verify_store(MemoryDisk(crashed_files()))
    assert report == report._replace(
        files=29,
        log_bytes=5 * 16_384,
        facts=LogFacts(60, 72_143, 75_934, 1_794_981_522_672),
        queues=10,
        keys=31,
        is_clean_stop=False,
        left_out=0,
        counts={Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2},
    )
    assert not report.has_error


def test_every_clause_that_a_finding_names_exists() -> None:
    known = load_clauses()
    names = [finding.clause for finding in verify_store(MemoryDisk(crashed_files())).findings]
    assert names
    assert all(name in known for name in names)


@given(st.sampled_from(BODIES), st.integers(1, 255))
def test_any_damaged_byte_of_a_body_is_found_in_its_record(place: tuple[str, int], bits: int) -> None:
    path, at = place
    files = stopped_files()
    flip(path, at, bits)(files)
    first = next(
        finding for finding in verify_store(MemoryDisk(files)).findings if finding.severity is Severity.ERROR
    )
    record = next(
        record
        for record in iter_records(crashed_files()[path])
        if isinstance(record, StoredMessage) and at < record.position % 16_384 + record.size
    )
    expected = (Severity.ERROR, path, record.position % 16_384 + 8, "store.record.body-crc")
    assert first[:4] == expected


@given(st.data())
def test_no_damage_of_a_file_is_an_accident(data: st.DataObject) -> None:
    files = crashed_files() if data.draw(st.booleans()) else stopped_files()
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from(sorted(name for name in files if files[name])))
        if data.draw(st.booleans()):
            flip(path, data.draw(st.integers(0, len(files[path]) - 1)), data.draw(st.integers(1, 255)))(files)
        else:
            cut(path, data.draw(st.integers(1, len(files[path]))))(files)
    report = verify_store(MemoryDisk(files))
    assert sum(report.counts.values()) == len(report.findings)


def test_a_directory_without_a_log_is_no_store() -> None:
    with pytest.raises(NotAStore, match="not a store: it has no folder commitlog"):
        verify_store(MemoryDisk({"config/topics.json": b"{}"}))


class EmptyLogDisk(MemoryDisk):
    """A folder for the log, and nothing in it."""

    @override
    def list_folder(self, folder: str) -> tuple[Entry, ...]:
        return () if folder == "commitlog" else super().list_folder(folder)


def test_a_store_without_any_file_is_empty() -> None:
    with pytest.raises(NotAStore, match="the store is empty: its log has no files"):
        verify_store(EmptyLogDisk({"commitlog/x": b""}))


def test_a_broken_disk_is_no_finding() -> None:
    disk = MemoryDisk(stopped_files())

    def fail(path: str) -> None:
        raise DiskError(DiskReason.BROKEN, path)

    disk.before_open = fail
    with pytest.raises(DiskError, match="the disk failed"):
        verify_store(disk)


def _after(count: int, path: str, change: Callable[[], None]) -> Callable[[str], None]:
    """Makes a change just before the file is opened for the n-th time."""
    left = [count]

    def look(opened: str) -> None:
        left[0] -= opened == path
        if opened == path and left[0] == 0:
            change()

    return look


def _live(path: str, change: Damage, *, opens: int = 1) -> list[Finding]:
    """What is found besides the usual when a file changes while the store is read."""
    disk = MemoryDisk(crashed_files())
    sizes = Sizes(index_slots=50, index_entries=200)
    usual = verify_store(MemoryDisk(crashed_files()), sizes).findings
    disk.before_open = _after(opens, path, lambda: change(disk.files))
    return [finding for finding in verify_store(disk, sizes).findings if finding not in usual]


@pytest.mark.parametrize("opens", [1, 2])
def test_a_log_file_that_vanishes_while_it_is_read_is_a_note(opens: int) -> None:
    (found, *rest) = _live(log_path(0), remove(log_path(0)), opens=opens)
    reason = "the file was there when the check began and is gone"
    assert found == Finding(Severity.NOTE, log_path(0), 0, "recovery.load.file-size", reason)
    # Keys that were before the first index file are no longer known of.
    assert [finding.severity for finding in rest] == [Severity.NOTE]


def test_a_queue_file_that_vanishes_is_a_note() -> None:
    path = "consumequeue/T/0/00000000000000000000"
    (found,) = _live(path, remove(path))
    assert (found.severity, found.file) == (Severity.NOTE, path)


def test_an_index_file_that_shrinks_is_a_note() -> None:
    (found,) = _live(INDEX, cut(INDEX, 250), opens=2)
    assert (found.severity, found.file) == (Severity.NOTE, INDEX)


def test_a_unit_that_is_written_while_the_queue_is_read_is_not_missed() -> None:
    path = "consumequeue/T/0/00000000000000000400"
    files = crashed_files()
    whole = files[path]
    put(path, 180, ">qiq", 0, 0, 0)(files)
    disk = MemoryDisk(files)
    disk.before_open = _after(2, path, lambda: add(path, whole)(disk.files))
    usual = verify_store(MemoryDisk(crashed_files())).findings
    assert verify_store(disk).findings == usual


def test_sizes_that_are_given_count_more_than_what_the_files_say() -> None:
    report = verify_store(MemoryDisk(stopped_files()), Sizes(log_file_size=32_768))
    wrong = [finding[:4] for finding in report.findings if finding.severity is Severity.ERROR]
    assert wrong[:2] == [
        (Severity.ERROR, log_path(0), 16_384, "recovery.load.file-size"),
        (Severity.ERROR, log_path(1), 0, "store.file.starts-are-multiples"),
    ]
    units = verify_store(MemoryDisk(stopped_files()), Sizes(units_per_file=20))
    assert (
        Severity.ERROR,
        "consumequeue/T/0/00000000000000000200",
        0,
        "store.file.starts-are-multiples",
    ) in [finding[:4] for finding in units.findings]
    index = verify_store(MemoryDisk(stopped_files()), Sizes(index_slots=60, index_entries=200))
    assert (Severity.ERROR, INDEX, 4_240, "recovery.load.file-size") in [
        finding[:4] for finding in index.findings
    ]


def test_most_frequent_size_counts_then_the_names_then_the_larger() -> None:
    def entries(*sizes: int) -> list[Entry]:
        return [
            Entry(f"{100 * number:020d}", ByteCount(size), Milliseconds(0))
            for number, size in enumerate(sizes)
        ]

    assert infer_size(entries(100, 100, 70)) == 100
    assert infer_size(entries(100, 70)) == 100
    assert infer_size(entries(70, 100)) == 100
    assert infer_size(entries(0, 50, 50, 100)) == 50
    assert (
        infer_size([Entry("x", ByteCount(5), Milliseconds(0)), Entry("y", ByteCount(9), Milliseconds(0))])
        == 9
    )
    assert infer_size([]) is None


def test_index_shape_is_told_from_the_content() -> None:
    files = stopped_files()
    source = Source(MemoryDisk(files), Findings())
    assert infer_index_shape(source, INDEX, 4_240) == IndexShape(50, 200)
    assert infer_index_shape(source, INDEX, DEFAULT_SHAPE.file_size) == DEFAULT_SHAPE


@pytest.mark.parametrize("at", [31, 39, 240 + 13 * 20 + 11, 240 + 20 + 11, 240 + 3])
def test_index_shape_is_told_although_a_byte_is_damaged(at: int) -> None:
    files = stopped_files()
    flip(INDEX, at, 2)(files)
    assert infer_index_shape(Source(MemoryDisk(files), Findings()), INDEX, 4_240) == IndexShape(50, 200)


def test_index_file_without_entries_says_nothing_about_its_shape() -> None:
    files = stopped_files()
    files[INDEX] = bytes(4_240)
    report = verify_store(MemoryDisk(files))
    reason = "the number of slots cannot be told from files of 4240 bytes: use --index-slots"
    assert report.findings == (Finding(Severity.NOTE, "index", 0, "store.index.layout", reason),)
    assert report.keys == 0


def test_findings_beyond_the_limit_are_counted() -> None:
    findings = Findings(limit=2)
    for number in range(5):
        findings.add(Severity.ERROR, "file", number, "store.file.name", "wrong")
    assert [finding.position for finding in islice(findings.kept, 9)] == [0, 1]
    assert (findings.left_out, findings.counts[Severity.ERROR], findings.has_error) == (3, 5, True)


def test_progress_hears_of_every_byte_once() -> None:
    heard: list[int] = []
    verify_store(MemoryDisk(stopped_files()), advance=heard.append)
    assert sum(heard) == 5 * 16_384


def test_a_store_that_lost_its_index_is_told_so() -> None:
    files = stopped_files()
    remove("index")(files)
    findings = [found for found in verify_store(MemoryDisk(files)).findings if found.file == "index"]
    assert [(found.severity, found.clause) for found in findings] == [
        (Severity.WARNING, "recovery.index.rebuilt-from-last-kept")
    ]


def test_a_store_without_its_tables_is_told_so() -> None:
    files = stopped_files()
    remove("config")(files)
    findings = [found for found in verify_store(MemoryDisk(files)).findings if found.file == "config"]
    assert [(found.severity, found.clause) for found in findings] == [
        (Severity.WARNING, "store.directory.names")
    ]


def test_a_folder_in_place_of_a_table_is_an_error() -> None:
    files = stopped_files()
    files["config/consumerOffset.json/inside"] = files.pop("config/consumerOffset.json")
    findings = verify_store(MemoryDisk(files)).findings
    assert ("config/consumerOffset.json", Severity.ERROR) in [
        (found.file, found.severity) for found in findings
    ]
