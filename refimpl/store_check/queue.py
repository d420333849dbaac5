"""One consume queue held against the log, both ways.

Records come in the order of the log, so those of one queue come in the order of their offsets.
Each has to find its unit at its offset. Units that no record asked for stand before the first
record of the queue (fillers, or messages whose log file is gone), behind the last one (the log
was cut, or the unit is wrong), or where offsets jump (which is wrong already).

A unit that is missing is healed by recovery if the log is read again from before its record. A
unit that is there and wrong is not what a crash leaves, so it is always an error.
"""

import struct
from typing import Final

from refimpl.store_check.finding import Severity
from refimpl.store_check.queue_units import QueueUnits
from refimpl.store_check.situation import Situation
from spec.layout.consume_queue import (
    UNIT_SIZE,
    Unit,
    decode_unit,
    is_extension_address,
    is_written,
)
from spec.layout.record_head import RecordHead
from spec.recovery.queue import is_filler
from spec.values.name import SCHEDULE_TOPIC
from spec.values.units import ByteCount, CommitLogPosition, TagCode

_UNIT: Final = struct.Struct(">qiq")
_ONE: Final = "guarantee.sto.one-message-per-offset"


class Run:
    """Offsets of which only the first and the number are told."""

    def __init__(self) -> None:
        """None yet."""
        self.first = -1
        self.count = 0

    def add(self, offset: int) -> None:
        """One more."""
        if not self.count:
            self.first = offset
        self.count += 1


class QueueCheck:
    """A queue while the log is read."""

    def __init__(self, situation: Situation, topic: str, units: QueueUnits) -> None:
        """No record of the queue was seen yet."""
        self._situation = situation
        self._topic = topic
        self._units = units
        self._window = b""
        self._window_at = 0
        self.first_offset: int | None = None
        """Of the first record in the log."""
        self.next_offset = -1
        """What the next record of the queue has to state."""
        self._resume_offset = -1
        """What it may state instead, if the last record stated a wrong one."""
        self._seen_end = 0
        self._missing = Run()
        self._missing_position = 0

    def see(self, look: RecordHead, tag_code: int, path: str) -> None:
        """The record was held against its unit."""
        offset = look.queue_offset
        is_expected = offset == self.next_offset or self._explain_jump(look, path)
        self.next_offset = offset + 1
        self._seen_end = look.position + look.size
        at = offset * UNIT_SIZE - self._window_at
        if at < 0 or self._window[at : at + UNIT_SIZE] != _UNIT.pack(look.position, look.size, tag_code):
            expected = Unit(CommitLogPosition(look.position), ByteCount(look.size), TagCode(tag_code))
            self._compare_closely(expected, offset, is_expected=is_expected)
        elif self._missing.count:
            self._report_missing(is_tail=False)

    def _explain_jump(self, look: RecordHead, path: str) -> bool:
        """Whether the offset may follow what came before; otherwise it is known that it does not."""
        offset, due = look.queue_offset, self.next_offset
        if self.first_offset is None:
            return self._begin(look, path)
        may_resume, self._resume_offset = offset == self._resume_offset, due + 1
        if may_resume or self._situation.has_lost_between(self._seen_end, look.position):
            return True
        queue = f"queue {look.queue_id} of {self._topic}"
        reason = f"the record states offset {offset} of {queue}, the one before it {due - 1}"
        clause = _ONE if offset > due else "guarantee.sto.offset-assigned-once"
        self._situation.add(Severity.ERROR, path, look.position - _file_start(path), clause, reason)
        self._check_skipped(due, offset, look.position)
        return False

    def _compare_closely(self, expected: Unit, offset: int, *, is_expected: bool) -> None:
        """The unit is read again, because a live broker may have written it meanwhile, and judged."""
        self._window = self._units.read_window(offset)
        self._window_at = offset * UNIT_SIZE
        unit = decode_unit(self._window) if self._window else None
        if unit is None or not is_written(unit.position, unit.size):
            # An offset that is wrong has no unit, and that was said already.
            if is_expected:
                self._miss(offset, expected.position)
            return
        if self._missing.count:
            self._report_missing(is_tail=False)
        if unit != expected and is_expected:
            self._judge_unit(unit, expected, offset)

    def _judge_unit(self, unit: Unit, expected: Unit, offset: int) -> None:
        severity, clause = Severity.ERROR, _ONE
        reason = f"the unit of offset {offset} says {_say(unit)}, its record says {_say(expected)}"
        if unit[:2] == expected[:2]:
            if self._situation.has_extension and is_extension_address(unit.tag_code):
                return
            clause = "store.queue.tag-code"
            if self._topic == SCHEDULE_TOPIC:
                # Other delay levels may be configured, and no file says so.
                severity, clause = Severity.WARNING, "store.queue.schedule-tag-is-due-time"
        path, at = self._units.place(offset)
        self._situation.add(severity, path, at, clause, reason)

    def _miss(self, offset: int, position: int) -> None:
        if not self._missing.count:
            self._missing_position = position
        self._missing.add(offset)

    def _report_missing(self, *, is_tail: bool) -> None:
        """Units that records asked for in vain: one finding for the whole run."""
        situation = self._situation
        path, at = self._units.place(self._missing.first)
        is_read_again = not situation.is_clean_stop and self._missing_position >= situation.walk_start
        severity = Severity.NOTE if is_read_again else Severity.ERROR
        if severity is Severity.ERROR and is_tail and not situation.is_clean_stop:
            # The reference notices the gap and begins at the first file; Apache does not.
            severity = Severity.WARNING
        reason = f"units are missing from offset {self._missing.first} on: {self._missing.count}"
        situation.add(severity, path, at, "recovery.state.follows-from-log", reason)
        self._missing = Run()

    def _begin(self, look: RecordHead, path: str) -> bool:
        """Whether the queue's first record stands where its unit is; what is before it is known."""
        self.first_offset = offset = look.queue_offset
        own = self._check_before(offset, look.position)
        if own is None:
            return True
        reason = f"the record states offset {offset}, its unit stands at offset {own}"
        self._situation.add(Severity.ERROR, path, look.position - _file_start(path), _ONE, reason)
        self.first_offset, self._resume_offset = own, own + 1
        return False

    def _check_before(self, first: int, position: int) -> int | None:
        """Units before the queue's first record lead to messages that are gone, or to nothing.

        If one leads to the record itself the record's offset is wrong: then that unit's is given.
        """
        situation = self._situation
        unwritten = Run()
        for offset, unit in self._units.iter_units(0, first):
            if not is_written(unit.position, unit.size):
                unwritten.add(offset)
            elif unit.position == position and not is_filler(unit):
                return offset
            elif not (is_filler(unit) or self._is_excused(unit)):
                self._report_elsewhere(offset, unit)
        if unwritten.count:
            path, at = self._units.place(unwritten.first)
            reason = f"units before offset {first} are not written: {unwritten.count}"
            clause = "recovery.queue.ends-at-first-unwritten"
            situation.add(situation.healed, path, at, clause, reason)
        return None

    def _check_skipped(self, start: int, end: int, position: int) -> None:
        """Units of offsets that no record states lead nowhere, up to those of later records."""
        for offset, unit in self._units.iter_units(start, end):
            if not is_written(unit.position, unit.size) or unit.position >= position:
                return
            if not (is_filler(unit) or self._is_excused(unit)):
                self._report_elsewhere(offset, unit)

    def _is_excused(self, unit: Unit) -> bool:
        return unit.position < self._situation.log_min or self._situation.is_lost(unit.position)

    def _report_elsewhere(self, offset: int, unit: Unit) -> None:
        path, at = self._units.place(offset)
        reason = f"the unit of offset {offset} says {_say(unit)}, where no record of this offset is"
        self._situation.add(Severity.ERROR, path, at, _ONE, reason)

    def finish(self, log_end: int) -> tuple[int, int]:
        """The queue's minimum and maximum; what stands behind the last record's unit is known."""
        if self._missing.count:
            self._report_missing(is_tail=True)
        start = self._units.first_offset if self.first_offset is None else self.next_offset
        end = self._units.find_end(start)
        beyond = Run()
        for offset, unit in self._units.iter_units(start, end):
            if unit.position >= log_end and not is_filler(unit):
                beyond.add(offset)
            elif not (is_filler(unit) or self._is_excused(unit)):
                self._report_elsewhere(offset, unit)
        if beyond.count:
            path, at = self._units.place(beyond.first)
            reason = f"units lead behind the end of the log from offset {beyond.first} on: {beyond.count}"
            clause = "recovery.queue.cut-with-the-log"
            self._situation.add(self._situation.healed, path, at, clause, reason)
        self._check_behind(end)
        return self._derive_min_offset(end), end

    def _derive_min_offset(self, end: int) -> int:
        """The first offset whose message may still be in the log; the queue's end if there is none.

        Clause: recovery.queue.min-offset
        """
        for offset, unit in self._units.iter_units(
            0, end if self.first_offset is None else self.first_offset
        ):
            if unit.position >= self._situation.log_min and not is_filler(unit):
                return offset
        return end if self.first_offset is None else self.first_offset

    def _check_behind(self, end: int) -> None:
        """Nothing is written behind the first unit that is not."""
        if self._units.first_offset <= end < self._units.end_offset:
            stale = self._units.find_stale(end)
            if stale is not None:
                severity = Severity.WARNING if self._situation.is_clean_stop else Severity.NOTE
                reason = f"the queue ends at offset {end}, and the bytes behind it are not all zero"
                clause = "recovery.queue.ends-at-first-unwritten"
                self._situation.add(severity, *stale, clause, reason)


def _file_start(path: str) -> int:
    return int(path.rpartition("/")[2])


def _say(unit: Unit) -> str:
    return f"position {unit.position}, size {unit.size}, tag code {unit.tag_code}"
