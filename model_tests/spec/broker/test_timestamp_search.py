import pytest
from hypothesis import given
from hypothesis import strategies as st

from spec.broker.timestamp_search import (
    UNREADABLE,
    choose_file,
    derive_found_offset,
    search_lower_bound,
    search_nearest,
)

TIMES = st.lists(st.integers(0, 50), min_size=1, max_size=20).map(sorted)


@pytest.mark.clause("broker.search.file-by-modification")
def test_file_is_the_first_one_modified_late_enough_or_the_last() -> None:
    assert [choose_file((100, 200), time) for time in (99, 100, 101, 201)] == [0, 0, 1, 1]
    assert choose_file((), 5) is None


@pytest.mark.clause("broker.search.nearest", "broker.search.tie-is-left")
@pytest.mark.parametrize(
    ("timestamp", "index"), [(0, 0), (10, 0), (14, 0), (15, 0), (16, 1), (20, 1), (30, 2), (999, 2)]
)
def test_nearest_message_is_answered_and_the_earlier_of_two(timestamp: int, index: int) -> None:
    assert search_nearest((10, 20, 30), timestamp) == index


@pytest.mark.clause("broker.search.removed-is-left")
def test_removed_messages_are_not_answered() -> None:
    assert search_nearest((10, 20, 30), 10, removed_count=2) == 2
    assert search_nearest((10, 20), 10, removed_count=2) == 0
    assert search_nearest((), 10) == 0


@pytest.mark.clause("broker.search.unreadable-is-zero")
def test_unreadable_store_time_answers_offset_zero_in_whichever_file() -> None:
    assert search_nearest((10, UNREADABLE, 30), 30) is None
    assert search_nearest((10, -2, 30), 10) is None
    assert [derive_found_offset(600, unit) for unit in (None, 0, 2)] == [0, 600, 602]


@pytest.mark.clause("broker.search.nearest", "broker.search.tie-is-left")
@given(times=TIMES, timestamp=st.integers(0, 60))
def test_nearest_agrees_with_looking_at_every_message(times: list[int], timestamp: int) -> None:
    found = search_nearest(times, timestamp)
    assert found is not None
    answer = times[found]
    assert answer == min(times, key=lambda time: (abs(time - timestamp), time))


@pytest.mark.clause("broker.search.lower-bound")
@given(times=TIMES, timestamp=st.integers(0, 60))
def test_lower_bound_agrees_with_counting_older_messages(times: list[int], timestamp: int) -> None:
    assert search_lower_bound(times, timestamp) == sum(time < timestamp for time in times)
