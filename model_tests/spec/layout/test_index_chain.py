from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.layout.index_chain import (
    derive_key_hash,
    derive_keys,
    derive_seconds,
    derive_slot,
    has_time_overlap,
    hash_key,
    is_already_indexed,
    iter_chain,
    put_key,
    query_chain,
)
from spec.layout.index_file import EMPTY_HEADER, IndexEntry, IndexHeader
from spec.values.units import CommitLogPosition, Index, Milliseconds

SLOTS = 3


@dataclass
class IndexInMemory:
    """An index file as lists: what a store keeps in bytes."""

    header: IndexHeader = EMPTY_HEADER
    slots: list[int] = field(default_factory=lambda: [0] * SLOTS)
    entries: dict[int, IndexEntry] = field(default_factory=dict)

    def put(self, key_hash: int, position: int, stored_at_ms: int, entries: int = 1_000) -> bool:
        slot = derive_slot(key_hash, SLOTS)
        step = put_key(
            self.header,
            self.slots[slot],
            key_hash,
            CommitLogPosition(position),
            Milliseconds(stored_at_ms),
            entries=entries,
        )
        if step is None:
            return False
        self.entries[step.number], self.slots[slot], self.header = step.entry, step.number, step.header
        return True

    def query(
        self, key_hash: int, begin_ms: int = 0, end_ms: int = 2**62, limit: int = 64
    ) -> tuple[int, ...]:
        return query_chain(
            self.header,
            self.slots[derive_slot(key_hash, SLOTS)],
            key_hash,
            lambda number: self.entries[number],
            begin_ms=begin_ms,
            end_ms=end_ms,
            limit=limit,
        )


@pytest.mark.clause("store.index.chain", "store.index.collisions-are-returned")
@given(st.lists(st.integers(0, 8), max_size=30))
def test_every_put_key_is_found_newest_first(hashes: list[int]) -> None:
    index = IndexInMemory()
    for position, key_hash in enumerate(hashes):
        assert index.put(key_hash, position, 1_000 + position)
    for key_hash in range(9):
        positions = [position for position, other in enumerate(hashes) if other == key_hash]
        assert index.query(key_hash) == tuple(reversed(positions))
    assert index.header.next_entry == len(hashes) + 1
    assert index.header.used_slots == len({key_hash % SLOTS for key_hash in hashes})
    if hashes:
        assert index.header[:4] == (1_000, 999 + len(hashes), 0, len(hashes) - 1)


@pytest.mark.clause("store.index.chain")
@given(
    st.integers(-5, 12),
    st.dictionaries(st.integers(1, 9), st.integers(-5, 12), min_size=9, max_size=9),
)
def test_chain_of_a_damaged_file_ends_and_stays_inside(slot_number: int, previous: dict[int, int]) -> None:
    asked: list[int] = []

    def read_entry(number: Index) -> IndexEntry:
        asked.append(number)
        return IndexEntry(0, CommitLogPosition(0), 0, Index(previous[number]))

    assert len(list(iter_chain(slot_number, 10, read_entry))) == len(asked) <= 9
    assert all(1 <= number <= 9 for number in asked)
    assert asked == sorted(asked, reverse=True)


@pytest.mark.clause("store.index.full")
def test_file_is_full_when_the_next_entry_is_the_limit() -> None:
    index = IndexInMemory()
    assert [index.put(1, position, 1_000, entries=3) for position in range(4)] == [True, True, False, False]
    assert index.query(1) == (1, 0)


@pytest.mark.clause("store.index.query-limit")
def test_query_is_limited_in_number_and_in_time() -> None:
    index = IndexInMemory()
    for position in range(5):
        index.put(7, position, 10_000 + position * 1_000)
    assert index.query(7, limit=2) == (4, 3)
    assert index.query(7, begin_ms=11_000, end_ms=13_000) == (3, 2, 1)
    assert [
        has_time_overlap(index.header, *span)
        for span in ((0, 9_999), (0, 10_000), (14_000, 20_000), (14_001, 20_000))
    ] == [False, True, True, False]


@pytest.mark.clause("store.index.seconds")
@pytest.mark.parametrize(
    ("stored", "begin", "seconds"),
    [(5_999, 1_000, 4), (500, 1_000, 0), (9_000, 0, 0), (9_000, -1, 0), (2**62, 1_000, 2**31 - 1)],
)
def test_seconds_are_whole_and_clamped(stored: int, begin: int, seconds: int) -> None:
    assert derive_seconds(stored, begin) == seconds


@pytest.mark.clause("store.index.key-hash")
def test_hash_is_never_negative() -> None:
    assert [derive_key_hash(code) for code in (-(2**31), -5, 5, 2**31 - 1)] == [0, 5, 5, 2**31 - 1]
    assert hash_key("T1", "key0") == 1_320_661_993


@pytest.mark.clause("store.index.keys-of-a-message")
def test_unique_id_comes_first_then_the_keys_and_none_of_a_rollback() -> None:
    properties = {"KEYS": "a  b", "UNIQ_KEY": "u"}
    assert derive_keys(properties, 0) == ("u", "a", "b")
    assert derive_keys(properties, 0x08) == ("u", "a", "b")
    assert derive_keys(properties, 0x0C) == ()
    assert derive_keys({}, 0) == ()


@pytest.mark.clause("store.index.dispatch-is-idempotent")
def test_messages_before_the_end_of_the_file_are_not_indexed_again() -> None:
    header = EMPTY_HEADER._replace(end_position=CommitLogPosition(100))
    assert [is_already_indexed(position, header) for position in (99, 100)] == [True, False]
