"""One pull: its status, its messages and where the next one begins, as the specification folds it."""

from collections.abc import Sequence
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_tests.simulation.scene import ASYNC, DAY_MS, NOW, flush_all, message, new_disk, open_small
from refimpl.simulated.disk import SimulatedDisk
from refimpl.store.commit_log import CommitLog
from refimpl.store.consume_queue import ConsumeQueue
from refimpl.store.message_read import Found, MessageReader
from refimpl.store.message_store import MessageStore
from refimpl.store.open_files import OpenFiles
from refimpl.store.settings import StoreSettings
from spec.broker import pull_scan
from spec.broker.pull_outcome import OffsetCheck, Outcome, Overflow, PullStatus
from spec.broker.pull_scan import Scan, conclude_scan, derive_scan_limit, scan_unit
from spec.layout.commit_log_file import derive_next_file_start
from spec.layout.consume_queue import Unit
from spec.layout.queue_append import QueueTail
from spec.layout.record_walk import decode_records
from spec.recovery.state import QueueName
from spec.values.java_text import hash_text
from spec.values.units import ByteCount, CommitLogPosition, Count, Milliseconds, QueueId, QueueOffset, TagCode

NAME = QueueName("T", QueueId(0))
LOG_FILE_SIZE = 1 << 20


class Place(NamedTuple):
    """A unit as it is drawn: how far behind the last one, how large, with which tag."""

    gap: int
    size: int
    tag_code: int


places = st.lists(
    st.builds(
        Place,
        st.sampled_from([0, 0, 0, 1, 5_000, LOG_FILE_SIZE]),
        st.sampled_from([1, 91, 200, 2_048, 30_000, 70_000, 300_000]),
        st.sampled_from([0, 1, 2]),
    ),
    min_size=1,
    max_size=60,
)


def units_at(drawn: Sequence[Place]) -> list[Unit]:
    """Units one behind the other, none across the end of a log file."""
    units: list[Unit] = []
    at = 0
    for gap, size, tag_code in drawn:
        at += gap
        if at % LOG_FILE_SIZE + size > LOG_FILE_SIZE:
            at = derive_next_file_start(at, LOG_FILE_SIZE)
        units.append(Unit(CommitLogPosition(at), ByteCount(size), TagCode(tag_code)))
        at += size
    return units


def make_reader(
    units: Sequence[Unit], removed_files: int, cut: int, memory_bytes: int
) -> tuple[MessageReader, CommitLog, ConsumeQueue]:
    """A reader of a log without its first files and last bytes, whose bytes are zeros."""
    files = OpenFiles(SimulatedDisk(1, clock=lambda: 0))
    settings = StoreSettings(
        log_file_size=LOG_FILE_SIZE, units_per_file=40, memory_bytes=ByteCount(memory_bytes)
    )
    log = CommitLog(files, LOG_FILE_SIZE)
    log.end = CommitLogPosition(max(1, units[-1].end - cut))
    for start in range(0, units[-1].end, LOG_FILE_SIZE):
        log.sequence.begin_file(start)
    log.sequence.remove_first(min(removed_files, len(log.sequence.starts) - 1))
    queue = ConsumeQueue(NAME, files, "consumequeue/T/0", 40)
    for number, unit in enumerate(units):
        queue.put(unit, QueueOffset(number))
    queue.write_waiting()
    return MessageReader(log, settings), log, queue


def fold(
    units: Sequence[Unit], log: CommitLog, wanted: set[int] | None, max_messages: int, cached_bytes: int
) -> tuple[Scan, list[Unit]]:
    """The scan of the specification, and the units that it returns."""
    scan, returned = Scan(), list[Unit]()
    for unit in units:
        before = scan.found
        scan = scan_unit(
            scan,
            pull_scan.Unit(
                unit.position,
                unit.size,
                wanted is None or unit.tag_code in wanted,
                log.sequence.first <= unit.position and unit.end <= log.end,
                log.end - unit.position > cached_bytes,
            ),
            max_messages,
            derive_next_file_start(unit.position, LOG_FILE_SIZE),
        )
        if scan.found > before:
            returned.append(unit)
    return scan, returned


@pytest.mark.clause(
    "broker.pull.next-passes-nothing-unseen",
    "broker.pull.removed-file-skipped",
    "broker.pull.batch-limits",
    "broker.pull.first-message-always",
    "broker.pull.scan-limit",
    "store.queue.read-ends-with-file",
)
@given(
    drawn=places,
    first=st.integers(0, 59),
    max_messages=st.sampled_from([1, 2, 8, 31, 32, 33, 1_000]),
    wanted=st.sampled_from([None, set(), {0}, {1, 2}]),
    removed_files=st.integers(0, 3),
    cut=st.sampled_from([0, 0, 1, 100_000]),
    memory_bytes=st.sampled_from([0, 100_000, 1_000_000, 1 << 40]),
)
def test_a_pull_is_the_fold_of_the_specification(
    *,
    drawn: list[Place],
    first: int,
    max_messages: int,
    wanted: set[int] | None,
    removed_files: int,
    cut: int,
    memory_bytes: int,
) -> None:
    units = units_at(drawn)
    offset = first % len(units)
    reader, log, queue = make_reader(units, removed_files, cut, memory_bytes)
    # Only units of one queue file are looked at.
    seen = units[offset : offset + min(derive_scan_limit(max_messages), 40 - offset % 40)]
    scan, returned = fold(seen, log, wanted, max_messages, memory_bytes * 40 // 100)
    found = reader.read(queue, offset, max_messages, wanted)
    assert Outcome(found.status, found.next_offset) == conclude_scan(offset, scan)
    assert (found.message_count, found.byte_count) == (scan.found, scan.byte_count)
    assert found.message_count == len(returned)
    last = seen[min(scan.consumed, len(seen) - 1)] if scan.is_finished else seen[-1]
    assert found.suggests_slave == (log.end - last.position > memory_bytes * 40 // 100)
    assert list(map(len, found.pieces)) == join_neighbours(returned)


def join_neighbours(returned: Sequence[Unit]) -> list[int]:
    """The lengths of the runs of records that stand one behind the other in one file."""
    lengths: list[int] = []
    end = -1
    for unit in returned:
        if unit.position == end and unit.position % LOG_FILE_SIZE:
            lengths[-1] += unit.size
        else:
            lengths.append(unit.size)
        end = unit.end
    return lengths


def store_of(count: int, settings: StoreSettings = ASYNC, size: int = 300) -> MessageStore:
    store = open_small(new_disk(), settings)
    for number in range(count):
        store.append(message(bytes([number]) * size, properties=f"TAGS\x01{'ab'[number % 2]}"), NOW)
    assert flush_all(store) is None
    return store


def nothing(status: PullStatus, next_offset: int, low: int, high: int) -> Found:
    return Found(status, QueueOffset(next_offset), QueueOffset(low), QueueOffset(high))


@pytest.mark.clause(
    "broker.pull.one-status", "broker.pull.overflow-to-maximum", "broker.pull.slave-keeps-offset"
)
@pytest.mark.parametrize(
    ("queue_id", "offset", "status", "corrected", "bounds"),
    [
        (0, 3, PullStatus.OFFSET_TOO_SMALL, 4, (4, 10)),
        (0, 10, PullStatus.OFFSET_OVERFLOW_ONE, 10, (4, 10)),
        (0, 11, PullStatus.OFFSET_OVERFLOW_BADLY, 10, (4, 10)),
        (1, 5, PullStatus.NO_MESSAGE_IN_QUEUE, 0, (0, 0)),
        (9, 5, PullStatus.NO_MATCHED_LOGIC_QUEUE, 0, (0, 0)),
    ],
)
def test_an_offset_outside_the_queue_has_one_status_and_a_slave_leaves_it_alone(
    queue_id: int, offset: int, status: PullStatus, corrected: int, bounds: tuple[int, int]
) -> None:
    store = store_of(10)
    assert store.retention.clean(NOW + 30 * DAY_MS).log_files == 4
    store.log.sequence.remove_first(0)
    store.queue("T", 1)
    name = QueueName("T", QueueId(queue_id))
    low = store.queue("T", 0).min_offset
    shift = {4: low}.get(corrected, corrected)
    expected = (low, 10) if bounds == (4, 10) else bounds
    asked = low - 1 if offset == 3 else offset
    assert store.read(name, asked, 32) == nothing(status, shift, *expected)
    assert store.read(name, asked, 32, check=OffsetCheck.LEFT_ALONE) == nothing(status, asked, *expected)


@pytest.mark.clause("broker.pull.overflow-to-maximum")
def test_beyond_the_end_apache_493_sends_to_zero_while_the_queue_begins_there() -> None:
    settings = StoreSettings(
        log_file_size=1024, units_per_file=4, index_slots=5, index_entries=8, overflow=Overflow.TO_ZERO
    )
    store = store_of(6, settings)
    assert store.read(NAME, 7, 32) == nothing(PullStatus.OFFSET_OVERFLOW_BADLY, 0, 0, 6)
    store.retention.clean(NOW + 30 * DAY_MS)
    low = store.queue("T", 0).min_offset
    assert store.read(NAME, 7, 32) == nothing(PullStatus.OFFSET_OVERFLOW_BADLY, 6, low, 6)


@pytest.mark.clause("broker.pull.unreadable-file-skipped")
def test_a_queue_file_that_is_gone_is_skipped_as_a_whole() -> None:
    store = store_of(10)
    store.queue("T", 0).sequence.remove_first(1)
    assert store.read(NAME, 1, 32) == nothing(PullStatus.OFFSET_FOUND_NULL, 4, 0, 10)
    kept = store.read(NAME, 1, 32, check=OffsetCheck.LEFT_ALONE)
    assert kept == nothing(PullStatus.OFFSET_FOUND_NULL, 1, 0, 10)


@pytest.mark.clause("broker.pull.removed-file-skipped", "broker.pull.one-status")
def test_a_log_file_that_is_gone_is_passed_over() -> None:
    store = store_of(6, size=700)
    store.log.sequence.remove_first(2)
    assert store.read(NAME, 0, 32)[:2] == (PullStatus.FOUND, 4)
    assert store.read(NAME, 0, 32, {hash_text("a")}).message_count == 1
    store.log.sequence.remove_first(2)
    assert store.read(NAME, 0, 32) == nothing(PullStatus.MESSAGE_WAS_REMOVING, 4, 0, 6)._replace(
        suggests_slave=False
    )


@pytest.mark.clause("broker.pull.one-status", "store.queue.tag-code")
def test_messages_are_chosen_by_the_hash_of_their_tag() -> None:
    store = store_of(4)
    found = store.read(NAME, 0, 32, {hash_text("b")})
    assert [record.queue_offset for record in decode_records(found.body)] == [1, 3]
    assert found[:6] == (PullStatus.FOUND, 4, 0, 4, 2, found.byte_count)
    assert store.read(NAME, 0, 32, {hash_text("c")}) == nothing(PullStatus.NO_MATCHED_MESSAGE, 4, 0, 4)


def big_settings(memory_bytes: int) -> StoreSettings:
    return StoreSettings(
        log_file_size=4 << 20,
        units_per_file=1_000,
        index_slots=5,
        index_entries=8,
        memory_bytes=ByteCount(memory_bytes),
    )


@pytest.mark.clause("broker.pull.batch-limits", "broker.pull.first-message-always")
@pytest.mark.parametrize(
    ("size", "memory_bytes", "asked", "count"),
    [
        (10, 1 << 40, 5, 5),
        (10, 1 << 40, 100, 32),
        (10, 0, 100, 8),
        (30_000, 1 << 40, 32, 8),
        (30_000, 0, 32, 2),
        (300_000, 1 << 40, 32, 1),
    ],
)
def test_an_answer_is_limited_by_count_and_bytes(
    size: int, memory_bytes: int, asked: int, count: int
) -> None:
    store = open_small(new_disk(), big_settings(memory_bytes))
    for _ in range(40 if size < 300_000 else 3):
        store.append(message(bytes(size)), NOW)
    store.reput_all()
    found = store.read(NAME, 0, asked)
    assert (found.status, found.next_offset, found.message_count) == (PullStatus.FOUND, count, count)
    assert len(found.body) == found.byte_count
    assert [record.queue_offset for record in decode_records(found.body)] == list(range(count))


@pytest.mark.clause("broker.pull.suggested-broker", "broker.pull.on-disk-estimate")
def test_a_slave_is_suggested_to_who_is_further_behind_than_40_percent_of_memory() -> None:
    store = open_small(new_disk(), big_settings(10_000))
    for _ in range(10):
        store.append(message(bytes(1_000 - 91 - 1)), NOW)
    store.reput_all()
    assert store.log.end == 10_000
    suggestions = {offset: store.read(NAME, offset, 1).suggests_slave for offset in range(10)}
    # The unit behind the answer is looked at as well: only what it leaves unread counts.
    assert suggestions == {offset: offset + 1 < 6 for offset in range(10)}


def test_an_unknown_time_is_no_part_of_the_sample() -> None:
    assert (Count(0), Milliseconds(0)) == (0, 0)


def test_queue_tail_is_where_the_units_end() -> None:
    reader, _, queue = make_reader(units_at([Place(0, 91, 0)] * 3), 0, 0, 0)
    assert queue.tail == QueueTail(is_empty=False, next_offset=QueueOffset(3), covered=CommitLogPosition(273))
    assert reader.read(queue, 3, 1).status is PullStatus.OFFSET_OVERFLOW_ONE
