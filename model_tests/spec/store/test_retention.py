import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.rejection import Rejection
from spec.store import retention
from spec.store.retention import (
    DELETE_HOURS,
    FILES_PER_RUN,
    RESERVED_MS,
    DiskPressure,
    count_expired,
    count_expired_index_files,
    count_expired_queue_files,
    derive_pressure,
    is_cleaning_due,
    is_log_file_expired,
    is_queue_file_expired,
    is_writable,
    parse_delete_hours,
)

NORMAL, CLEAN, FORCE, REFUSE = DiskPressure
HOUR_MS = 60 * 60 * 1_000
NOW_MS = 1_000 * HOUR_MS


def test_defaults_are_those_of_apache() -> None:
    assert (RESERVED_MS, DELETE_HOURS, FILES_PER_RUN) == (72 * HOUR_MS, (4,), 10)
    assert (retention.INTERVAL_MS, retention.FIRST_MS, retention.MANUAL_ROUNDS) == (10_000, 60_000, 20)
    assert (retention.CLEAN_RATIO, retention.FORCE_RATIO, retention.REFUSE_RATIO) == (0.75, 0.85, 0.90)


@pytest.mark.clause("store.retention.hours")
@pytest.mark.parametrize(
    ("text", "hours"), [("04", (4,)), ("04;16", (4, 16)), ("0;23;", (0, 23)), ("4;4", (4, 4))]
)
def test_hours_are_read_from_the_setting(text: str, hours: tuple[int, ...]) -> None:
    assert parse_delete_hours(text) == hours


@pytest.mark.clause("store.retention.hours")
@pytest.mark.parametrize(
    ("text", "piece"),
    [("", ""), (";", ""), ("04,16", "04,16"), ("04;;16", ""), ("24", "24"), ("-1", "-1"), ("4; 16", " 16")],
)
def test_text_that_is_no_list_of_hours_is_refused(text: str, piece: str) -> None:
    with pytest.raises(Rejection) as refusal:
        parse_delete_hours(text)
    reason = f"{piece!r} in {text!r} is not an hour, 0 to 23"
    assert refusal.value == Rejection("store.retention.hours", 0, reason)


@pytest.mark.clause("store.retention.pressure", "store.retention.full-disk-refuses")
@pytest.mark.parametrize(
    ("ratio", "pressure", "writable"),
    [
        (0.0, NORMAL, True),
        (0.75, NORMAL, True),
        (0.7501, CLEAN, True),
        (0.85, CLEAN, True),
        (0.8501, FORCE, True),
        (0.90, FORCE, True),
        (0.9001, REFUSE, False),
        (1.0, REFUSE, False),
    ],
)
def test_pressure_begins_above_its_limit(
    ratio: float,
    pressure: DiskPressure,
    writable: bool,  # noqa: FBT001 - a column
) -> None:
    assert (derive_pressure(ratio), is_writable(pressure)) == (pressure, writable)


@pytest.mark.clause("store.retention.when")
def test_files_are_removed_in_their_hours_for_want_of_space_or_on_request() -> None:
    assert [is_cleaning_due(hour, (4, 16), NORMAL, 0) for hour in (3, 4, 5, 16)] == [False, True, False, True]
    assert [is_cleaning_due(5, (4,), pressure, 0) for pressure in DiskPressure] == [False, True, True, True]
    assert [is_cleaning_due(5, (4,), NORMAL, rounds) for rounds in (0, 1, 20)] == [False, True, True]


@pytest.mark.clause("store.retention.age")
@pytest.mark.parametrize("pressure", DiskPressure)
def test_log_file_expires_by_its_last_write_or_by_force(pressure: DiskPressure) -> None:
    oldest_kept = NOW_MS - RESERVED_MS + 1
    is_forced = pressure in (FORCE, REFUSE)
    assert is_log_file_expired(oldest_kept - 1, NOW_MS, RESERVED_MS, pressure)
    assert is_log_file_expired(oldest_kept, NOW_MS, RESERVED_MS, pressure) is is_forced
    assert not is_log_file_expired(oldest_kept, NOW_MS, RESERVED_MS, pressure, is_forced_allowed=False)


@pytest.mark.clause("store.retention.oldest-first")
@pytest.mark.parametrize(
    ("ages", "pressure", "count"),
    [
        ([], REFUSE, 0),
        ([100], REFUSE, 0),
        ([100, 100], NORMAL, 1),
        ([100, 100, 71, 100, 0], CLEAN, 2),
        ([71, 100, 0], NORMAL, 0),
        ([1, 1, 1], FORCE, 2),
        ([100] * 11, NORMAL, 10),
        ([100] * 30, REFUSE, 10),
    ],
)
def test_oldest_files_go_up_to_the_first_that_stays_and_never_the_last(
    ages: list[int], pressure: DiskPressure, count: int
) -> None:
    modified_ms = [NOW_MS - age * HOUR_MS for age in ages]
    assert count_expired(modified_ms, NOW_MS, reserved_ms=RESERVED_MS, pressure=pressure) == count


@pytest.mark.clause("store.retention.oldest-first", "store.retention.age")
def test_without_force_a_full_disk_removes_expired_files_only_and_the_limit_is_the_callers() -> None:
    modified_ms = [NOW_MS - age * HOUR_MS for age in (100, 100, 100, 1, 1)]

    def count(limit: int) -> int:
        return count_expired(
            modified_ms,
            NOW_MS,
            reserved_ms=RESERVED_MS,
            pressure=REFUSE,
            is_forced_allowed=False,
            limit=limit,
        )

    assert [count(limit) for limit in (0, 1, 2, 10)] == [0, 1, 2, 3]


@pytest.mark.clause("store.retention.derived-files-follow")
@pytest.mark.parametrize(
    ("positions", "log_min", "count"),
    [
        ([], 100, 0),
        ([10], 100, 0),
        ([10, 20], 100, 1),
        ([10, 100, 200], 100, 1),
        ([10, 99, 200], 100, 2),
        ([100, 10, 200], 100, 0),
        ([10, 20, 30], 0, 0),
    ],
)
def test_queue_and_index_files_go_when_their_last_message_is_gone(
    positions: list[int], log_min: int, count: int
) -> None:
    assert count_expired_queue_files(positions, log_min) == count
    assert count_expired_index_files(positions, log_min) == count


@pytest.mark.clause("store.retention.derived-files-follow")
@given(st.lists(st.integers(0, 1_000)), st.integers(0, 1_000))
def test_queue_keeps_every_file_that_leads_into_the_log(positions: list[int], log_min: int) -> None:
    positions.sort()
    kept = positions[count_expired_queue_files(positions, log_min) :]
    assert [at for at in positions if not is_queue_file_expired(at, log_min)] == [
        at for at in kept if at >= log_min
    ]
    assert bool(kept) == bool(positions)
