from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.index_chain import QUERY_LIMIT, derive_slot, put_key
from spec.layout.index_file import EMPTY_HEADER, IndexEntry, IndexHeader
from spec.store.key_query import NOTHING_INDEXED, UNIQUE_KEY_LIMIT, IndexedFile, KeyAnswer, query_index
from spec.values.units import CommitLogPosition, Index, Milliseconds

SLOTS = 3


class FileInMemory:
    """An index file as lists, which counts how often a query looks into it."""

    def __init__(self, *keys: tuple[int, int, int]) -> None:
        self.header: IndexHeader = EMPTY_HEADER
        self.slots = [0] * SLOTS
        self.entries: dict[Index, IndexEntry] = {}
        self.looks = 0
        for key_hash, position, stored_at_ms in keys:
            slot = derive_slot(key_hash, SLOTS)
            put = put_key(
                self.header,
                self.slots[slot],
                key_hash,
                CommitLogPosition(position),
                Milliseconds(stored_at_ms),
            )
            assert put is not None
            self.slots[slot], self.entries[put.number], self.header = put.number, put.entry, put.header

    def read_slot(self, slot: int) -> int:
        self.looks += 1
        return self.slots[slot]

    def view(self) -> IndexedFile:
        return IndexedFile(self.header, self.read_slot, self.entries.__getitem__, SLOTS)


def _files() -> list[FileInMemory]:
    """Three files of 3 seconds each; key 7 is in every second, key 10 shares its slot."""
    files = [
        FileInMemory(
            *((key, 1_000 * second + key, 1_000 * second) for second in seconds for key in (7, 10)),
        )
        for seconds in (range(1, 4), range(4, 7), range(7, 10))
    ]
    assert [(file.header.begin_at_ms, file.header.end_at_ms) for file in files] == [
        (1_000, 3_000),
        (4_000, 6_000),
        (7_000, 9_000),
    ]
    return files


def test_unique_ids_are_asked_for_with_apaches_limit() -> None:
    assert UNIQUE_KEY_LIMIT == 32


@pytest.mark.clause("store.index.query-order")
@pytest.mark.parametrize(
    ("begin_ms", "end_ms", "limit", "seconds", "looks"),
    [
        pytest.param(0, 99_000, 64, range(1, 10), [1, 1, 1], id="everything"),
        pytest.param(0, 99_000, 2, (8, 9), [0, 0, 1], id="enough in the newest file"),
        pytest.param(0, 99_000, 3, (7, 8, 9), [0, 0, 1], id="exactly enough in the newest file"),
        pytest.param(0, 99_000, 4, (6, 7, 8, 9), [0, 1, 1], id="one more than the newest file has"),
        pytest.param(5_000, 99_000, 64, range(5, 10), [0, 1, 1], id="a file begins before the span"),
        pytest.param(4_000, 99_000, 64, range(4, 10), [0, 1, 1], id="a file begins with the span"),
        pytest.param(4_000, 6_000, 64, range(4, 7), [0, 1, 0], id="the span of the middle file"),
        pytest.param(6_500, 6_900, 64, (), [0, 0, 0], id="between two files"),
        pytest.param(0, 99_000, 0, (), [0, 0, 1], id="none are wanted"),
    ],
)
def test_query_reads_the_newest_files_of_the_span_until_it_has_enough(
    begin_ms: int, end_ms: int, limit: int, seconds: range | tuple[int, ...], looks: list[int]
) -> None:
    files = _files()
    answer = query_index([file.view() for file in files], 7, begin_ms=begin_ms, end_ms=end_ms, limit=limit)
    positions = tuple(CommitLogPosition(1_000 * second + 7) for second in seconds)
    assert answer == KeyAnswer(positions, Milliseconds(9_000), CommitLogPosition(9_010))
    assert [file.looks for file in files] == looks


@pytest.mark.clause("store.index.query-limit", "store.index.query-order")
def test_query_over_files_gives_no_more_than_64_and_the_newest() -> None:
    files = [
        FileInMemory(*((7, number, 1_000 * number) for number in range(first, first + 50)))
        for first in (1, 51)
    ]
    answer = query_index([file.view() for file in files], 7, begin_ms=0, end_ms=10**9, limit=1_000)
    assert answer.positions == tuple(range(101 - QUERY_LIMIT, 101))


@pytest.mark.clause("store.index.query-order")
def test_messages_of_one_time_in_two_files_are_both_found() -> None:
    files = [FileInMemory((7, 100, 1_000), (7, 200, 4_000)), FileInMemory((7, 300, 4_000))]
    answer = query_index([file.view() for file in files], 7, begin_ms=4_000, end_ms=4_000)
    assert answer == KeyAnswer(
        (CommitLogPosition(200), CommitLogPosition(300)), Milliseconds(4_000), CommitLogPosition(300)
    )


@pytest.mark.clause("store.index.query-order")
def test_file_without_entries_does_not_end_the_query_and_without_files_nothing_is_indexed() -> None:
    full = FileInMemory((7, 100, 5_000))
    files = [full.view(), FileInMemory().view()]
    assert query_index(files, 7, begin_ms=4_000, end_ms=6_000).positions == (100,)
    assert query_index([], 7, begin_ms=0, end_ms=1) == NOTHING_INDEXED
    assert KeyAnswer((), Milliseconds(0), CommitLogPosition(0)) == NOTHING_INDEXED


@pytest.mark.clause("store.index.query-order")
@given(
    st.lists(st.integers(0, 5), min_size=1, max_size=30),
    st.lists(st.integers(1, 29), max_size=3, unique=True),
    st.tuples(st.integers(0, 40), st.integers(0, 40)).map(sorted),
    st.integers(1, 64),
)
def test_query_finds_the_newest_messages_of_the_span_wherever_files_end(
    keys: list[int], cuts: list[int], span: list[int], limit: int
) -> None:
    """Every second one message is stored; the file changes at the cuts."""
    bounds = [0, *sorted(cut for cut in cuts if cut < len(keys)), len(keys)]
    files = [
        FileInMemory(*((keys[n], 100 * n, 1_000 * (n + 1)) for n in range(first, last)))
        for first, last in pairwise(bounds)
    ]
    begin_ms, end_ms = (1_000 * second for second in span)
    wanted = [100 * n for n, key in enumerate(keys) if key == 3 and begin_ms <= 1_000 * (n + 1) <= end_ms]
    answer = query_index([file.view() for file in files], 3, begin_ms=begin_ms, end_ms=end_ms, limit=limit)
    assert answer.positions == tuple(wanted[-limit:])
