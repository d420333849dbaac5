"""Which index files survive a crash, and from where the index is built again.

An index file is written through memory and has no end mark, so after a crash a file that was
still being written cannot be trusted: slots and entries may be on disk in any mixture. Apache
drops every file whose last message is later than the checkpoint's time of the index, normally
the newest one, and indexes again only what it reads again of the log; keys of messages before
that place are lost. The reference begins where the last file that it keeps ends, so no key is
lost, and it also drops a file that knows messages behind the end of the log: their places will
be given to other messages.

A header is written after the slots and entries of its file, so a header without entries does not
say that the file is empty: slots may already point at entries that are nothing yet. And since a
file is judged by the time of its last message alone, a checkpoint must not name a time that the
file being written could have too: two files may hold messages of the same millisecond.
"""

from collections.abc import Iterable, Sequence
from enum import Enum
from typing import NamedTuple

from spec.layout.index_chain import derive_keys, hash_key
from spec.layout.index_file import FIRST_ENTRY, HEADER_SIZE, IndexHeader, decode_header
from spec.layout.record_head import RecordHead
from spec.recovery.store_file import FoundFile
from spec.rejection import Rejection
from spec.values.units import CommitLogPosition, Milliseconds


class IndexStart(Enum):
    """From where the index is built again."""

    LAST_KEPT = "the end of the last file that is kept: the reference"
    LOG_START = "where the log is read again: Apache"


class IndexVerdict(NamedTuple):
    """Whether an index file is kept, and if not, why."""

    name: str
    header: IndexHeader | None
    refusal: Rejection | None


class IndexedKey(NamedTuple):
    """A key that has to be in the index."""

    key_hash: int
    position: CommitLogPosition
    stored_at_ms: Milliseconds


def check_index_file(
    file: FoundFile, file_size: int, index_ms: int, log_end: int, *, is_clean_stop: bool
) -> IndexVerdict:
    """Whether the file is kept: it has its size, was on disk at the checkpoint, and lies within the log.

    Clauses: recovery.index.drops-unsafe-file, recovery.index.within-the-log, recovery.load.file-size
    """

    def refuse(clause: str, reason: str) -> IndexVerdict:
        return IndexVerdict(file.name, None, Rejection(clause, 0, f"{file.name} {reason}"))

    if file.size != file_size:
        return refuse("recovery.load.file-size", f"has {file.size} bytes, {file_size} are expected")
    header = decode_header(file.read(0, HEADER_SIZE).ljust(HEADER_SIZE, b"\0"))
    if not is_clean_stop and header.next_entry == FIRST_ENTRY:
        return refuse("recovery.index.drops-unsafe-file", "has no entries by its header")
    if not is_clean_stop and header.end_at_ms > index_ms:
        return refuse("recovery.index.drops-unsafe-file", f"reaches {header.end_at_ms}, safe is {index_ms}")
    if header.end_position >= max(log_end, 1):
        return refuse("recovery.index.within-the-log", f"reaches {header.end_position}, the log {log_end}")
    return IndexVerdict(file.name, header, None)


def derive_vouched_index_ms(previous_end_ms: int, current_begin_ms: int) -> Milliseconds:
    """What a checkpoint may say of the index: the end of the last whole file, before the current one.

    Clause: store.checkpoint.index-time
    """
    return Milliseconds(min(previous_end_ms, current_begin_ms - 1))


def derive_index_start(
    kept: Sequence[IndexHeader], log_min: int, walk_start: int, *, start: IndexStart = IndexStart.LAST_KEPT
) -> CommitLogPosition:
    """The log position from which messages are indexed again.

    Clause: recovery.index.rebuilt-from-last-kept
    """
    match start:
        case IndexStart.LAST_KEPT:
            return CommitLogPosition(max([log_min, *(header.end_position for header in kept)]))
        case IndexStart.LOG_START:
            return CommitLogPosition(walk_start)


def derive_indexed_keys(records: Iterable[RecordHead]) -> tuple[IndexedKey, ...]:
    """The keys of these messages, in the order in which they enter the index.

    Clause: store.index.keys-of-a-message
    """
    return tuple(
        IndexedKey(hash_key(record.topic, key), record.position, record.stored_at_ms)
        for record in records
        for key in derive_keys(record.properties(), record.system_flag)
    )
