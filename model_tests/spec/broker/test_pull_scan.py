import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.pull_outcome import Outcome, PullStatus
from spec.broker.pull_scan import Scan, Unit, conclude_scan, derive_scan_limit, is_full, scan_unit
from spec.values.units import QueueOffset


def scan_all(units: list[Unit], max_messages: int, next_log_file: int = 0) -> Scan:
    scan = Scan()
    for unit in units:
        scan = scan_unit(scan, unit, max_messages, next_log_file)
    return scan


@pytest.mark.clause("broker.pull.batch-limits", "broker.pull.first-message-always")
@pytest.mark.parametrize(
    ("count", "byte_count", "size", "max_messages", "is_next_on_disk", "full"),
    [
        (0, 0, 10**9, 1, True, False),
        (1, 100, 100, 1, False, True),
        (31, 100, 100, 64, False, False),
        (32, 100, 100, 64, False, True),
        (7, 100, 100, 64, True, False),
        (8, 100, 100, 64, True, True),
        (1, 262_144 - 100, 100, 64, False, False),
        (1, 262_144 - 100, 101, 64, False, True),
        (1, 65_536 - 100, 100, 64, True, False),
        (1, 65_536 - 100, 101, 64, True, True),
    ],
)
def test_answer_is_full_at_its_limits(
    count: int, byte_count: int, size: int, max_messages: int, *, is_next_on_disk: bool, full: bool
) -> None:
    assert is_full(count, byte_count, size, max_messages, is_next_on_disk=is_next_on_disk) is full


@pytest.mark.clause("broker.pull.scan-limit")
def test_scan_looks_at_eight_hundred_units_or_more_when_more_was_asked_for() -> None:
    assert [derive_scan_limit(asked) for asked in (1, 800, 801)] == [800, 800, 801]


@pytest.mark.clause("broker.pull.one-status")
def test_scan_without_a_match_passes_everything() -> None:
    scan = scan_all([Unit(position, 10, is_match=False) for position in range(3)], 32)
    assert conclude_scan(5, scan) == Outcome(PullStatus.NO_MATCHED_MESSAGE, QueueOffset(8))


@pytest.mark.clause("broker.pull.removed-file-skipped")
def test_units_before_the_next_log_file_are_passed_after_a_removed_one() -> None:
    units = [Unit(0, 100, is_readable=False), Unit(100, 100), Unit(1_000, 100)]
    scan = scan_all(units[:2], 32, next_log_file=1_000)
    assert conclude_scan(0, scan) == Outcome(PullStatus.MESSAGE_WAS_REMOVING, QueueOffset(2))
    found = scan_all(units, 32, next_log_file=1_000)
    assert found == Scan(consumed=3, found=1, byte_count=100, status=PullStatus.FOUND)


@pytest.mark.clause("broker.pull.removed-file-skipped")
def test_no_unit_is_passed_unseen_after_a_removed_one_when_no_next_log_file_is_known() -> None:
    scan = scan_unit(Scan(), Unit(0, 100, is_readable=False), 32)
    assert scan == Scan(consumed=1, status=PullStatus.MESSAGE_WAS_REMOVING, resume_position=0)


@pytest.mark.clause("broker.pull.one-status")
def test_status_is_that_of_the_last_unit_looked_at_while_nothing_is_found() -> None:
    units = [Unit(0, 100, is_readable=False), Unit(1_000, 100, is_match=False)]
    scan = scan_all(units, 32, next_log_file=1_000)
    assert scan == Scan(consumed=2, status=PullStatus.NO_MATCHED_MESSAGE, resume_position=1_000)


@pytest.mark.clause("broker.pull.one-status")
def test_status_stays_found_when_later_units_do_not_match_or_are_gone() -> None:
    scan = scan_all([Unit(0, 10), Unit(10, 10, is_match=False), Unit(20, 10, is_readable=False)], 32)
    assert conclude_scan(0, scan) == Outcome(PullStatus.FOUND, QueueOffset(3))


UNITS = st.lists(
    st.builds(
        Unit,
        position=st.just(0),
        size=st.integers(100, 200_000),
        is_match=st.booleans(),
        is_readable=st.booleans(),
        is_on_disk=st.booleans(),
    ),
    max_size=50,
)


@pytest.mark.clause(
    "broker.pull.next-passes-nothing-unseen", "broker.pull.batch-limits", "broker.pull.first-message-always"
)
@given(units=UNITS, max_messages=st.integers(1, 40))
def test_pulling_again_and_again_returns_every_readable_match_once(
    units: list[Unit], max_messages: int
) -> None:
    offset, returned = 0, 0
    while offset < len(units):
        scan = scan_all(units[offset:], max_messages)
        outcome = conclude_scan(offset, scan)
        assert offset < outcome.next_offset <= len(units)
        assert scan.found <= min(max_messages, 32)
        assert scan.found <= 1 or scan.byte_count <= 262_144
        assert (outcome.status is PullStatus.FOUND) == (scan.found > 0)
        returned += scan.found
        offset = outcome.next_offset
    assert returned == sum(unit.is_match and unit.is_readable for unit in units)
