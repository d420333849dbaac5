import pytest

from model_tests.spec.recovery.sample import sample_log
from spec.layout.index_chain import hash_key
from spec.layout.index_file import EMPTY_HEADER, IndexHeader, encode_header
from spec.recovery.index import (
    IndexedKey,
    IndexStart,
    check_index_file,
    derive_index_start,
    derive_indexed_keys,
    derive_vouched_index_ms,
)
from spec.recovery.store_file import FoundFile, found_bytes
from spec.values.units import CommitLogPosition, Index, Milliseconds

SIZE = 260


def _header(end_position: int, end_at_ms: int, next_entry: int = 2) -> IndexHeader:
    return EMPTY_HEADER._replace(
        end_position=CommitLogPosition(end_position),
        end_at_ms=Milliseconds(end_at_ms),
        next_entry=Index(next_entry),
    )


def _file(end_position: int, end_at_ms: int, size: int = SIZE, next_entry: int = 2) -> FoundFile:
    header = encode_header(_header(end_position, end_at_ms, next_entry))
    return found_bytes("20261118055841126", header.ljust(size, b"\0"))


@pytest.mark.clause(
    "recovery.index.drops-unsafe-file", "recovery.index.within-the-log", "recovery.load.file-size"
)
@pytest.mark.parametrize(
    ("file", "is_clean_stop", "clause"),
    [
        (_file(900, 50), False, None),
        (_file(900, 51), False, "recovery.index.drops-unsafe-file"),
        (_file(900, 51), True, None),
        (_file(0, 0, next_entry=0), False, "recovery.index.drops-unsafe-file"),
        (_file(900, 50, next_entry=1), False, "recovery.index.drops-unsafe-file"),
        (_file(900, 50, next_entry=1), True, None),
        (_file(1_000, 50), False, "recovery.index.within-the-log"),
        (_file(1_000, 50), True, "recovery.index.within-the-log"),
        (_file(900, 50, 259), True, "recovery.load.file-size"),
    ],
)
def test_index_file_is_kept_only_if_it_was_safe_and_lies_within_the_log(
    file: FoundFile,
    is_clean_stop: bool,  # noqa: FBT001 - a column
    clause: str | None,
) -> None:
    verdict = check_index_file(file, SIZE, 50, 1_000, is_clean_stop=is_clean_stop)
    assert (verdict.refusal.clause if verdict.refusal else None) == clause
    assert (verdict.header is None) == (clause is not None)


@pytest.mark.clause("store.checkpoint.index-time")
@pytest.mark.parametrize(
    ("previous_end_ms", "current_begin_ms", "vouched_ms"),
    [(50, 70, 50), (50, 51, 50), (50, 50, 49), (50, 40, 39)],
)
def test_checkpoint_vouches_for_no_time_that_the_file_being_written_has(
    previous_end_ms: int, current_begin_ms: int, vouched_ms: int
) -> None:
    assert derive_vouched_index_ms(previous_end_ms, current_begin_ms) == vouched_ms


@pytest.mark.clause("recovery.index.rebuilt-from-last-kept")
def test_index_is_built_again_from_the_last_kept_file_or_as_apache_from_where_the_log_is_read() -> None:
    kept = [_header(300, 1), _header(700, 2)]
    assert derive_index_start(kept, 100, 900) == 700
    assert derive_index_start([], 100, 900) == 100
    assert derive_index_start(kept, 100, 900, start=IndexStart.LOG_START) == 900


@pytest.mark.clause("store.index.keys-of-a-message")
def test_keys_enter_the_index_in_the_order_of_the_log() -> None:
    log = sample_log(2)
    assert derive_indexed_keys(log.heads()) == (
        IndexedKey(hash_key("A", "k0"), CommitLogPosition(0), Milliseconds(1_000_000)),
        IndexedKey(hash_key("B", "k1"), CommitLogPosition(150), Milliseconds(1_010_000)),
    )
