"""Reading the log again, record by record, to find its end.

The end of the log is written nowhere. It is where the first thing stands that is not a record:
zeros, or bytes that a crash left half written. A blank record leads to the next file. Everything
behind the end is cut off, and has to be made zero before the store takes new messages: a record
that was cut off is still a good record, and a new one that happens to end just before it would
bring it back at the next recovery.

The reference looks closer than Apache: a record must state the position at which it stands, and
a blank record must cover exactly the rest of its file. And since the CRC covers the body alone, a
sector that was lost behind the body leaves a record of the right size whose topic or properties
are zeros. Sectors that were not synced are lost in any order, so whole records may follow it. The
log ends before the first such record that the checkpoint does not vouch for: it, and all behind
it, was not yet on disk.
"""

from collections.abc import Iterator, Sequence
from enum import Enum
from typing import Final, NamedTuple

from spec.layout.record_head import RecordHead, decode_record_head
from spec.layout.record_text import has_zero
from spec.layout.record_walk import Stop, StopKind, read_next_head
from spec.layout.stored_message import BLANK_SIZE
from spec.recovery.store_file import LoadedFile
from spec.rejection import Rejection
from spec.values.units import ByteCount, CommitLogPosition

WINDOW_SIZE: Final = 1024 * 1024
"""How much of a file is read at once; a record that is larger is read whole."""


class TornText(Enum):
    """Which record is taken for half written when its topic or properties hold the character U+0000."""

    UNSYNCED = "any that the checkpoint does not vouch for"
    NO_RECORD = "none: Apache, and after a clean stop"


class Scrutiny(NamedTuple):
    """How closely a record is looked at."""

    check_crc: bool = True
    check_position: bool = True
    check_blank_size: bool = True
    accept_v2: bool = False
    torn_text: TornText = TornText.UNSYNCED


REFERENCE: Final = Scrutiny()
APACHE: Final = Scrutiny(check_position=False, check_blank_size=False, torn_text=TornText.NO_RECORD)
"""As Apache 4.9.x with checkCRCOnRecover, its default."""


class LogEnd(NamedTuple):
    """Where the log ends, and what was found there."""

    position: CommitLogPosition
    kind: StopKind
    refusal: Rejection | None


def _needs_more(stop: Stop, have: int) -> bool:
    """Whether a stop may only mean that the window ends here, with `have` bytes behind the place."""
    is_cut = stop.refusal is not None and stop.refusal.clause == "store.record.whole"
    return have < BLANK_SIZE or is_cut


def _check_place(record: RecordHead, at: int, position: int) -> RecordHead | Stop:
    if record.position == position and record.queue_id >= 0 and record.queue_offset >= 0:
        return record
    if record.position != position:
        reason = f"the record states position {record.position} and stands at {position}"
    else:
        reason = f"the record states queue {record.queue_id} and offset {record.queue_offset}"
    return Stop(at, StopKind.DAMAGED, Rejection("recovery.log.record-states-its-place", at, reason))


class _Window:
    """The part of a file that is in memory: from `base` on."""

    def __init__(self, file: LoadedFile) -> None:
        self.file = file
        self.base = 0
        self.data = memoryview(b"")

    def widen(self, at: int) -> bool:
        """Whether more bytes from `at` on are now there than before."""
        have = len(self.data) - (at - self.base)
        stated = int.from_bytes(self.data[at - self.base :][:4], "big")
        wanted = min(self.file.size - at, max(WINDOW_SIZE, stated))
        if wanted <= have:
            return False
        self.base, self.data = at, memoryview(self.file.read(at, wanted))
        return len(self.data) > have

    def read_next(self, at: int, scrutiny: Scrutiny) -> RecordHead | Stop:
        """What stands at `at`, by the bytes that are there."""
        check_crc, accept_v2, inside = scrutiny.check_crc, scrutiny.accept_v2, at - self.base
        try:
            record = decode_record_head(self.data, inside, check_crc=check_crc, accept_v2=accept_v2)
        except Rejection:
            return self._stop(at, scrutiny)
        return _check_place(record, at, self.file.start + at) if scrutiny.check_position else record

    def _stop(self, at: int, scrutiny: Scrutiny) -> RecordHead | Stop:
        """Why there is no record at `at`, once all bytes that could belong to one are there."""
        item = read_next_head(
            self.data,
            at - self.base,
            remaining=self.file.size - at if scrutiny.check_blank_size else None,
            check_crc=scrutiny.check_crc,
            accept_v2=scrutiny.accept_v2,
        )
        if not isinstance(item, Stop):
            return item
        if _needs_more(item, len(self.data) - (at - self.base)) and self.widen(at):
            return self.read_next(at, scrutiny)
        return Stop(at, item.kind, item.refusal.shifted(self.base) if item.refusal else None)


def walk_file(file: LoadedFile, scrutiny: Scrutiny = REFERENCE) -> Iterator[RecordHead | Stop]:
    """The records of one file, then exactly one Stop; `at` counts from the file's start.

    Clauses: recovery.log.ends-at-first-non-record, recovery.log.record-states-its-place
    """
    window = _Window(file)
    at = 0
    while True:
        item = window.read_next(at, scrutiny)
        yield item
        if isinstance(item, Stop):
            return
        at += item.size


def has_torn_text(record: RecordHead, synced_ms: int) -> bool:
    """Whether zeros stand in the texts of a record that was stored later than everything synced.

    Clause: recovery.log.torn-text
    """
    return record.stored_at_ms > synced_ms and has_zero(record.topic, record.property_text)


def derive_stale_tail(end: int, file_size: int) -> ByteCount:
    """How many bytes behind the end of the log have to be made zero: the rest of its file.

    Clause: recovery.log.tail-is-zeroed
    """
    return ByteCount(-end % file_size)


def _end_before(position: int) -> LogEnd:
    refusal = Rejection("recovery.log.torn-text", position, "zeros stand in the topic or the properties")
    return LogEnd(CommitLogPosition(position), StopKind.DAMAGED, refusal)


def walk_log(
    files: Sequence[LoadedFile], first: int, scrutiny: Scrutiny = REFERENCE, synced_ms: int = 0
) -> Iterator[RecordHead | LogEnd]:
    """The records from file number `first` on, then exactly one LogEnd.

    Up to the store time `synced_ms` everything was on disk, by the checkpoint.

    Clauses: recovery.log.ends-at-first-non-record, recovery.log.blank-leads-on, recovery.log.torn-text
    """
    looks_for_torn = scrutiny.torn_text is TornText.UNSYNCED
    end = LogEnd(CommitLogPosition(0), StopKind.END, None)
    for file in files[first:]:
        at = file.start
        for item in walk_file(file, scrutiny):
            if isinstance(item, Stop):
                end = LogEnd(at, item.kind, item.refusal)
            elif looks_for_torn and has_torn_text(item, synced_ms):
                yield _end_before(at)
                return
            else:
                yield item
                at = CommitLogPosition(at + item.size)
        if end.kind is not StopKind.BLANK:
            break
    yield end
