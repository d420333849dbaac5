"""A whole pull, rule by rule as a broker will run it, against one straight loop over bytes."""

from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.page_cache import is_on_disk
from spec.broker.pull_outcome import Bounds, OffsetCheck, Overflow, PullStatus, decide_without_scan
from spec.broker.pull_scan import Scan, Unit, conclude_scan, derive_scan_limit, scan_unit
from spec.layout.consume_queue import derive_readable_units

LOG_FILE = 1000
"""Bytes of a log file in this test."""


@dataclass(frozen=True)
class Stored:
    """One message: where it is, how large, and what a pull finds of it."""

    position: int
    size: int
    is_match: bool
    is_readable: bool


@dataclass(frozen=True)
class Case:
    """A queue, a machine, a request."""

    minimum: int
    messages: tuple[Stored, ...]
    offset: int
    max_messages: int
    memory_bytes: int
    log_end: int
    units_per_file: int
    has_units: bool
    is_lenient_slave: bool
    is_old: bool

    @property
    def maximum(self) -> int:
        return self.minimum + len(self.messages)


def pull_by_rules(case: Case) -> tuple[str, int, list[int]]:
    """The status, the next offset and the offsets returned, by the rules of the specification."""
    outcome = decide_without_scan(
        case.offset,
        Bounds(case.minimum, case.maximum),
        has_units=case.has_units,
        check=OffsetCheck.LEFT_ALONE if case.is_lenient_slave else OffsetCheck.CORRECTED,
        overflow=Overflow.TO_ZERO if case.is_old else Overflow.TO_MAXIMUM,
        units_per_file=case.units_per_file,
    )
    if outcome is not None:
        return outcome.status.name, outcome.next_offset, []
    readable = derive_readable_units(case.offset, case.maximum, case.units_per_file)
    scan, returned = Scan(), []
    for at in range(case.offset, case.offset + min(readable, derive_scan_limit(case.max_messages))):
        stored = case.messages[at - case.minimum]
        unit = Unit(
            stored.position,
            stored.size,
            stored.is_match,
            stored.is_readable,
            is_on_disk(case.log_end, stored.position, case.memory_bytes),
        )
        before = scan
        scan = scan_unit(scan, unit, case.max_messages, stored.position // LOG_FILE * LOG_FILE + LOG_FILE)
        if scan.found > before.found:
            returned.append(at)
    end = conclude_scan(case.offset, scan)
    return end.status.name, end.next_offset, returned


def corrected(case: Case, offset: int) -> int:
    return case.offset if case.is_lenient_slave else offset


def pull_by_loop(case: Case) -> tuple[str, int, list[int]]:  # noqa: C901, PLR0912 - one loop on purpose
    """The same, written down once more as one loop with local variables."""
    if case.maximum == 0:
        return "NO_MESSAGE_IN_QUEUE", corrected(case, 0), []
    if case.offset < case.minimum:
        return "OFFSET_TOO_SMALL", corrected(case, case.minimum), []
    if case.offset == case.maximum:
        return "OFFSET_OVERFLOW_ONE", case.offset, []
    if case.offset > case.maximum:
        to = 0 if case.is_old and case.minimum == 0 else case.maximum
        return "OFFSET_OVERFLOW_BADLY", corrected(case, to), []
    if not case.has_units:
        rounded = (case.offset // case.units_per_file + 1) * case.units_per_file
        return "OFFSET_FOUND_NULL", corrected(case, rounded), []
    status, next_file, total, at_byte = "NO_MATCHED_MESSAGE", None, 0, 0
    returned: list[int] = []
    file_end = (case.offset // case.units_per_file + 1) * case.units_per_file
    buffer = 20 * (min(file_end, case.maximum) - case.offset)
    while at_byte < buffer and at_byte < max(16_000, case.max_messages * 20):
        at = case.offset + at_byte // 20
        stored = case.messages[at - case.minimum]
        if next_file is not None and stored.position < next_file:
            at_byte += 20
            continue
        if returned:
            count_limit, byte_limit = 31, 262_144
            if (case.log_end - stored.position) * 100 > case.memory_bytes * 40:
                count_limit, byte_limit = 7, 65_536
            if len(returned) >= case.max_messages or len(returned) > count_limit:
                break
            if total + stored.size > byte_limit:
                break
        at_byte += 20
        if not stored.is_match:
            status = status if returned else "NO_MATCHED_MESSAGE"
            continue
        if not stored.is_readable:
            status = status if returned else "MESSAGE_WAS_REMOVING"
            next_file = (stored.position // LOG_FILE + 1) * LOG_FILE
            continue
        status, next_file = "FOUND", None
        total += stored.size
        returned.append(at)
    return status, case.offset + at_byte // 20, returned


@st.composite
def cases(draw: st.DrawFn) -> Case:
    minimum = draw(st.sampled_from([0, 0, 3, 7]))
    sizes = draw(
        st.sampled_from([[100], [8_192, 16_384], [65_536], [65_536, 131_071, 131_072], [1, 300_000]])
    )
    count = draw(st.integers(0, 45))
    position, messages = draw(st.integers(0, 3_000)), []
    for _ in range(count):
        size = draw(st.sampled_from(sizes))
        is_match = draw(st.integers(0, 4)) > 0
        is_readable = draw(st.integers(0, 7)) > 0
        messages.append(Stored(position, size, is_match, is_readable))
        position += size
    top = minimum + count
    memory_bytes = draw(st.sampled_from([0, 1_000, 100_000, 10**9]))
    border = draw(st.sampled_from(messages)).position if messages else 0
    log_end = border + memory_bytes * 40 // 100 + draw(st.integers(0, 1))
    return Case(
        minimum,
        tuple(messages),
        draw(st.integers(0, top + 3) | st.integers(max(0, minimum - 1), minimum + 2)),
        draw(st.sampled_from([1, 2, 8, 31, 32, 33, 1_000])),
        memory_bytes,
        max(position, log_end),
        draw(st.sampled_from([5, 16, 300_000])),
        draw(st.integers(0, 9)) > 0,
        draw(st.booleans()),
        draw(st.booleans()),
    )


@pytest.mark.clause(
    "broker.pull.one-status",
    "broker.pull.batch-limits",
    "broker.pull.first-message-always",
    "broker.pull.next-passes-nothing-unseen",
    "broker.pull.removed-file-skipped",
    "broker.pull.scan-limit",
    "broker.pull.on-disk-estimate",
)
@given(cases())
def test_pull_by_the_rules_answers_what_one_loop_over_the_queue_answers(case: Case) -> None:
    assert pull_by_rules(case) == pull_by_loop(case)


@pytest.mark.clause("broker.pull.scan-limit", "broker.pull.next-passes-nothing-unseen")
@pytest.mark.parametrize(("max_messages", "passed"), [(32, 800), (800, 800), (801, 801), (2_000, 2_000)])
def test_pull_without_a_match_passes_eight_hundred_units_or_as_many_as_were_asked_for(
    max_messages: int, passed: int
) -> None:
    messages = tuple(Stored(100 * at, 100, is_match=False, is_readable=True) for at in range(2_500))
    case = Case(
        0,
        messages,
        100,
        max_messages,
        10**9,
        250_000,
        300_000,
        has_units=True,
        is_lenient_slave=False,
        is_old=False,
    )
    assert pull_by_rules(case) == (PullStatus.NO_MATCHED_MESSAGE.name, 100 + passed, [])
    assert pull_by_loop(case) == pull_by_rules(case)


@pytest.mark.clause("broker.pull.on-disk-estimate")
def test_message_is_on_disk_when_more_than_forty_percent_of_memory_was_written_after_it() -> None:
    assert [is_on_disk(1_000 + written, 1_000, 1_000) for written in (0, 399, 400, 401)] == [
        False,
        False,
        False,
        True,
    ]
    assert [is_on_disk(written, 0, 1_001) for written in (400, 401)] == [False, True]
