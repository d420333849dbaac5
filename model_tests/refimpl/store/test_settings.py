"""Sizes with which no store can work are refused before anything is written."""

import pytest

from refimpl.store.settings import StoreSettings


@pytest.mark.parametrize(
    "sizes", [{"log_file_size": 0}, {"units_per_file": 0}, {"index_slots": 0}, {"index_entries": 1}], ids=str
)
def test_a_size_that_holds_nothing_is_refused(sizes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="need a size"):
        StoreSettings(**sizes)  # type: ignore[arg-type]  # by name
    assert StoreSettings(log_file_size=1, units_per_file=1, index_slots=1, index_entries=2).index_entries == 2
